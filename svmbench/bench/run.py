"""Carries out a benchmark's plan within its budget.

The measurements beside the sweeps come first, and none of them is started once nearly half of
the budget has passed. `svmbench.harness.series` makes the sweeps in the remaining time, in the
profile's order, except for a share that is kept for writing. A later call makes what is missing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from svmbench.bench.plan import Plan
from svmbench.bench.tasks import Task, run_task
from svmbench.errors import DataError
from svmbench.harness.doubts import Doubt
from svmbench.harness.run import Options, Reporter
from svmbench.harness.series import Result, run_series

#: Shares of the budget for the measurements beside the sweeps and for writing, and the seconds
#: that are kept for writing at most.
BESIDE_SHARE, WRITING_SHARE, WRITING = 0.45, 0.1, 45.0


@dataclass
class Progress:
    """How much of a plan was carried out.

    Parameters
    ----------
    sweeps : Result
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
) -> Progress:
    """Carry out the missing parts of a plan within the budget.

    Parameters
    ----------
    planned : Plan
    reporter : Reporter
    wanted : Options, optional
        How the runs are made; ``fresh`` applies to the measurements beside the sweeps, too.
    doubts : callable, optional
        Returns the open bounds, which get the remaining time once every cell has its repeats.
    """
    # A ratio is taken within pairs of runs, which must be made side by side.
    wanted = replace(wanted or Options(), whole_blocks=True)
    progress = Progress()
    begun, budget = time.monotonic(), planned.budget
    end = math.inf if budget is None else begun + budget - min(WRITING, WRITING_SHARE * budget)
    early = math.inf if budget is None else begun + BESIDE_SHARE * budget
    try:
        _make(planned.tasks, planned.parts, reporter, progress, early, end, wanted.fresh)
        left = None if budget is None else max(1.0, end - time.monotonic())
        progress.sweeps = run_series(planned.jobs, reporter, wanted, budget=left, doubts=doubts)
    except KeyboardInterrupt:
        progress.sweeps.interrupted = True
    return progress


def _make(
    tasks: list[Task],
    folder: Path,
    reporter: Reporter,
    progress: Progress,
    latest: float,
    end: float,
    fresh: bool,
) -> None:
    """Make tasks; none is started after ``latest``, and none continues beyond ``end``."""
    for task in tasks:
        if time.monotonic() >= latest:
            progress.tasks[task.name] = "left"
            continue
        reporter.stage(task.name)
        try:
            progress.tasks[task.name] = run_task(task, folder, end, fresh)
        except DataError as error:
            progress.faults.append(f"{task.name}: {error}")
