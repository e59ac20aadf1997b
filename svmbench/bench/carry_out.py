"""Carries out a benchmark's plan within its budget.

The measurements outside the sweeps come first, and none of them is started once 45 % of the budget
has passed; those with open bounds then get further repeats, until 15 % of it has passed.
`svmbench.harness.series` makes the sweeps in the remaining time, in the profile's order, except for
a share that is kept for writing. If it leaves time over, open bounds outside the sweeps get it. A
later call makes what is missing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from svmbench.bench.plan import Plan
from svmbench.bench.tasks import Task, repeats_of, run_task
from svmbench.errors import DataError
from svmbench.harness.doubts import BATCH, Doubt
from svmbench.harness.series import Result, run_series
from svmbench.harness.sweeps import Options, Reporter

#: Shares of the budget for the measurements outside the sweeps, for the first and for the further
#: repeats; the share for writing, and the seconds that are kept for writing at most.
BESIDE_SHARE, FURTHER_SHARE, WRITING_SHARE, WRITING = 0.45, 0.15, 0.1, 45.0

#: Most repeats of a measurement outside the sweeps.
AT_MOST = 60


@dataclass
class Progress:
    """How much of a plan was carried out.

    Parameters
    ----------
    tasks : dict
        made, reused or left, by name of the task.
    faults : list of str
        Why tasks could not be made, one line each.
    """

    sweeps: Result = field(default_factory=Result)
    tasks: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Number of runs and tasks that the budget left out."""
        return self.sweeps.left + list(self.tasks.values()).count("left")


def carry_out(
    planned: Plan,
    reporter: Reporter,
    wanted: Options | None = None,
    doubts: Callable[[], Sequence[Doubt]] | None = None,
    beside: Callable[[], Mapping[str, int]] | None = None,
) -> Progress:
    """Carry out the missing parts of a plan within the budget."""
    # A ratio is taken within pairs of runs, which must be made side by side. Most of the time goes
    # to the peers' ladders, whose lowest rungs show nothing that the first repeat has not shown.
    wanted = replace(wanted or Options(), whole_blocks=True, short_ladders=True)
    begun, budget = time.monotonic(), planned.budget
    end = math.inf if budget is None else begun + budget - min(WRITING, WRITING_SHARE * budget)
    first_by, further_by = (
        math.inf if budget is None else begun + share * budget
        for share in (BESIDE_SHARE, FURTHER_SHARE)
    )
    tasks = _Beside(planned, reporter, end)
    progress = tasks.progress
    try:
        tasks.make(first_by, wanted.fresh)
        if beside is not None:
            tasks.decide(further_by, beside)
        left = None if budget is None else max(1.0, end - time.monotonic())
        progress.sweeps = run_series(planned.sweeps, reporter, wanted, budget=left, doubts=doubts)
        if beside is not None and not progress.sweeps.interrupted:
            tasks.decide(end, beside)
    except KeyboardInterrupt:
        progress.sweeps.interrupted = True
    return progress


class _Beside:
    """The measurements outside the sweeps."""

    def __init__(self, planned: Plan, reporter: Reporter, end: float) -> None:
        self.progress = Progress()
        self._plan, self._reporter, self._end = planned, reporter, end
        self._in_vain: set[str] = set()

    def make(self, latest: float, fresh: bool) -> None:
        """Make the repeats that every measurement has; none is started after ``latest``."""
        for task in self._plan.tasks:
            outcome = "left"
            if time.monotonic() < latest:
                outcome = self._run(task, fresh=fresh)
            if outcome != "fault":
                self.progress.tasks[task.name] = outcome

    def decide(self, latest: float, ask: Callable[[], Mapping[str, int]]) -> None:
        """Make further repeats for open bounds, those first that take the least time."""
        while time.monotonic() < latest:
            asked = {name: more for name, more in ask().items() if name not in self._in_vain}
            lacking = {
                task: min(asked[task.name], AT_MOST - repeats_of(self._plan.parts, task.name))
                for task in self._plan.tasks
                if task.name in asked
            }
            cheapest = sorted(
                (task for task, more in lacking.items() if more > 0),
                key=lambda task: lacking[task] * task.longest / task.repeats,
            )
            if not cheapest:
                return
            for task in cheapest:
                if time.monotonic() >= latest:
                    return
                further = min(math.ceil(BATCH * lacking[task]), task.repeats)
                if self._run(task, further=further) == "made":
                    self.progress.tasks[task.name] = "made"
                else:
                    self._in_vain.add(task.name)

    def _run(self, task: Task, *, fresh: bool = False, further: int = 0) -> str:
        """Run a task; returns what became of it."""
        self._reporter.stage(task.name)
        try:
            return run_task(task, self._plan.parts, self._end, fresh, further)
        except DataError as error:
            self.progress.faults.append(f"{task.name}: {error}")
            return "fault"
