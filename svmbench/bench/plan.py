"""Plans a benchmark's sweeps and carries them out within its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from svmbench.bench.profile import Profile
from svmbench.harness.doubts import Doubt
from svmbench.harness.series import PlannedSweep, Result, run_series
from svmbench.harness.sources import Source, source_of
from svmbench.harness.sweeps import Options, Reporter

#: The share of the budget for writing, and the seconds that are kept for it at most.
WRITING_SHARE, WRITING = 0.1, 45.0


@dataclass(frozen=True)
class Plan:
    profile: Profile
    root: Path  # folder of the results
    budget: float | None  # seconds for everything
    sources: dict[str, Source]  # the source of each set's rows, by label
    sweeps: list[PlannedSweep]  # the sweeps, one for each part and set

    @property
    def longest(self) -> float:
        """Seconds that everything takes if every limit is reached."""
        return sum(each.longest for each in self.sweeps)


def plan(profile: Profile, root: Path, budget: float | None, machine: str = "") -> Plan:
    # Stand-ins are scaled to the profile's own budget, so that a shorter call reuses the rows.
    sources = {
        each.label: source_of(
            each.data, profile.budget, scale=each.scale, pace=profile.entries_a_second
        )
        for each in profile.sets
    }
    sweeps = [
        PlannedSweep(
            "bench",
            each.label,
            name,
            profile.sweep(name, each),
            root / "sweeps" / name / each.file_name,
            (sources[each.label],),
            machine=machine,
        )
        for name, part in profile.sweeps.items()
        for each in profile.chosen(part.sets)
    ]
    return Plan(profile, root, budget, sources, sweeps)


def carry_out(
    planned: Plan,
    reporter: Reporter,
    wanted: Options | None = None,
    doubts: Callable[[], Sequence[Doubt]] | None = None,
) -> Result:
    """Carry out the missing parts of a plan within the budget."""
    # A ratio is taken within pairs of runs, which must be made side by side. Most of the time goes
    # to the peers' ladders, whose lowest rungs show nothing that the first repeat has not shown.
    wanted = replace(wanted or Options(), whole_blocks=True, short_ladders=True)
    budget = planned.budget
    if budget is not None:
        budget -= min(WRITING, WRITING_SHARE * budget)
    return run_series(planned.sweeps, reporter, wanted, budget=budget, doubts=doubts)
