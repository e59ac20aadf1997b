"""How a run can end, and what its repeat then counts as, in one table.

The same table is in docs/measuring.md, "What a repeat counts as"; a test compares the two.
`svmbench.records.samples` applies it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

#: What a repeat counts as: the measured number; the measure's worst value (+inf, a
#: share of 1 for errors, of 0 for correct answers); nothing; or, for a repeat that was skipped,
#: the worst value if no measured repeat reached the accuracy, and nothing otherwise.
CountsAs = Literal["value", "worst", "none", "worst if none reached it"]


@dataclass(frozen=True)
class State:
    name: str  # its name in runs.csv
    meaning: str
    # what the repeat counts as at an accuracy that it did not reach. A repeat that reached it
    # always counts with its value.
    unreached: CountsAs
    at_end: CountsAs  # what it counts as for a number of the last checkpoint: objective, error, gap
    spent: CountsAs  # what it counts as for what the whole run took
    rerun: bool = False  # whether the next call reruns it, because nothing is known about it
    fault: bool = False  # whether the solver or the machine failed


#: State of a repeat that has a run for each horizon, if all reached their horizon and none reached
#: the tightest accuracy. No single run has it.
HORIZON = "horizon"

#: All ends by name.
STATES = {
    state.name: state
    for state in (
        State("converged", "all targets met, or the horizon", "worst", "value", "value"),
        State("max_steps", "the limit of epochs, updates or steps met", "worst", "value", "value"),
        State(HORIZON, "no horizon was enough", "worst", "value", "value"),
        State("time_limit", "the limit of seconds met", "worst", "value", "worst"),
        State("diverged", "w or P not finite", "worst", "worst", "worst"),
        State("failed", "crashed or raised an error", "worst", "worst", "worst", fault=True),
        State("out_of_memory", "no memory left", "worst", "worst", "worst", fault=True),
        State(
            "skipped",
            "not run, because a repeat before met the time limit",
            "worst if none reached it",
            "none",
            "none",
        ),
        State("interrupted", "stopped from outside", "none", "none", "none", rerun=True),
        State("not_installed", "the program is missing", "none", "none", "none", rerun=True),
    )
}

#: How the trace of a run can end; 'skipped' runs have no trace.
ENDS = tuple(name for name in STATES if name not in (HORIZON, "skipped"))

#: Ends that are faults of a solver or of the machine.
FAULTS = tuple(state.name for state in STATES.values() if state.fault)

#: Ends after which nothing is known, so that the run is repeated.
RERUN = tuple(state.name for state in STATES.values() if state.rerun)

#: Ends caused by the time limit.
LIMITED = ("time_limit", "skipped")

#: Ends after which a run might have reached an accuracy if it had gone on.
ENDED_BY_LIMIT = (*LIMITED, "max_steps", HORIZON)

#: Ends that a report warns about: the run went wrong, or was stopped from outside.
ENDED_BADLY = (*(s.name for s in STATES.values() if s.at_end == "worst"), "interrupted")

#: States that are not printed as they are called: the limit may be one of epochs or updates, and
#: the other counts among the states of a call although no run has it (`svmbench.harness.crew`).
_WORDS = {"max_steps": "step limit", "spared": "not run after a cheaper setting"}


def in_words(state: str) -> str:
    """The name of a state as tables and messages print it."""
    return _WORDS.get(state, state.replace("_", " "))


def counted_states(states: Iterable[str]) -> str:
    """How many runs have each state, the most frequent first: ``3 converged, 1 time limit``."""
    return ", ".join(f"{n} {in_words(state)}" for state, n in Counter(states).most_common())
