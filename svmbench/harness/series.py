"""Runs many sweeps within one time budget.

Every sweep may begin runs until its share of what is left of the budget has passed: a fraction
in proportion to the square root of the number of runs it has to make. What a sweep leaves over
goes to those after it, and to those cut short in a further pass. A run still under way at the end
of the budget is given up. Where there is a budget, each cell of all sweeps gets its first repeat,
in two passes if need be, before any gets its second. Runs that were not made are made by a later
call.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from svmbench.config import Sweep, dump_sweep
from svmbench.errors import ConfigError, DataError
from svmbench.harness.environment import fingerprint
from svmbench.harness.plan import for_each_horizon
from svmbench.harness.run import Options, Outcome, Reporter, run_sweep
from svmbench.harness.sources import Source
from svmbench.records.states import RERUN
from svmbench.solvers.registry import find_solver

#: Times that all sweeps are gone through, for what is left of them; the first of them, where there
#: is a budget, for the first repeats alone.
PASSES, FIRST_REPEATS = 4, 2

#: Seconds below which going on is not worth loading the data again.
LEAST_SHARE = 2.0


@dataclass(frozen=True)
class Job:
    """One sweep of one item.

    Parameters
    ----------
    paper, item, name : str
        Keys of the paper and of its item, and the sweep's in the item.
    sweep : Sweep
        As the item describes it, at the size wanted.
    folder : Path
        Of its results.
    sources : tuple of Source
        One a data set.
    """

    paper: str
    item: str
    name: str
    sweep: Sweep
    folder: Path
    sources: tuple[Source, ...]

    @cached_property
    def runnable(self) -> Sweep | None:
        """The sweep on the data sets that can be had; None when none can."""
        here = tuple(source.dataset for source in self.sources if not source.unavailable)
        return self.sweep.model_copy(update={"datasets": here}) if here else None

    @property
    def stand_ins(self) -> dict[str, float]:
        """Scales by the labels of those data sets that are stand-ins."""
        return {
            source.dataset.label: source.scale
            for source in self.sources
            if source.scale is not None and not source.unavailable
        }

    @property
    def problems(self) -> int:
        """Problems it poses: data sets that can be had times regularisation constants."""
        constants = len(self.sweep.lambdas or self.sweep.C or ())
        return constants * sum(not source.unavailable for source in self.sources)

    @property
    def cells(self) -> int:
        """Solvers on problems."""
        return self.problems * len(self.sweep.solvers)

    @cached_property
    def runs(self) -> int:
        """All its runs, made or not."""
        sweep = self.sweep
        each = sum(len(for_each_horizon(solver, sweep.stop)) for solver in sweep.solvers)
        return self.problems * each * sweep.repeats

    @cached_property
    def found(self) -> int:
        """Runs that lie finished in its folder, as far as its files tell without the data."""
        counted = self._listed()
        if counted is None:
            return 0
        of_scale = {
            source: _scale_in(source) if stand_in else None
            for source, stand_in in set(
                zip(counted["data_source"], counted["stand_in"], strict=True)
            )
        }
        return sum(
            of_scale[source] == self.stand_ins.get(dataset)
            and (state == "skipped" or _is_current(self.folder / "runs" / f"{run}.jsonl"))
            for run, dataset, source, state in zip(
                counted["id"],
                counted["dataset"],
                counted["data_source"],
                counted["state"],
                strict=True,
            )
        )

    @property
    def outdated(self) -> bool:
        """Whether runs lie in its folder that it would not find.

        They were made for another sweep, at another scale, by solvers of other versions or on
        another machine; or have gone.
        """
        counted = self._listed()
        if counted is None:
            return (self.folder / "runs.csv").exists()
        return len(counted) != self.found

    def _listed(self) -> pd.DataFrame | None:
        if self.runnable is None:
            return None
        try:
            same = (self.folder / "config.yaml").read_text() == dump_sweep(self.runnable)
            table = pd.read_csv(
                self.folder / "runs.csv",
                usecols=["id", "dataset", "data_source", "stand_in", "state"],
            )
        except (OSError, ValueError):
            return None
        return table[~table["state"].isin(RERUN)] if same else None

    @property
    def bound(self) -> float:
        """Seconds its missing runs and references take if every limit is hit."""
        missing = max(0, self.runs - self.found)
        references = self.problems * self.sweep.reference.time_limit if missing else 0.0
        return missing * self.sweep.stop.time_limit + references


def _is_current(path: Path) -> bool:
    """Whether a run is there, and of its solver as it is built now, on this machine."""
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        built = find_solver(header["solver"]).build()
        return bool(header["build"] == built and header["machine"] == fingerprint())
    except (OSError, ValueError, TypeError, KeyError, ConfigError):
        return False


def _scale_in(source: str) -> float:
    """Scale of a stand-in, from what its provenance says of its source."""
    try:
        return float(json.loads(source.removeprefix("stand-in "))["scale"])
    except (ValueError, KeyError):
        return math.nan


@dataclass
class Result:
    """What came of the jobs.

    Attributes
    ----------
    outcomes : dict
        By the job's place in the sequence; the last one of each.
    faults : list of str
        What kept a sweep from being run, a line each.
    unreached : dict
        Runs of the jobs for which no time was left, by the job's place.
    made, damaged, missing : int
        Over all passes.
    interrupted : bool
    """

    outcomes: dict[int, Outcome] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    unreached: dict[int, int] = field(default_factory=dict)
    made: int = 0
    damaged: int = 0
    missing: int = 0
    interrupted: bool = False

    @property
    def reused(self) -> int:
        """Runs that were there before."""
        ended = sum(outcome.made + outcome.reused for outcome in self.outcomes.values())
        return ended - self.made

    @property
    def left(self) -> int:
        """Runs not made for lack of time."""
        left = sum(outcome.left for outcome in self.outcomes.values())
        return left + sum(self.unreached.values())

    @property
    def faulty(self) -> bool:
        """Whether a run failed, ran out of memory or was ended from outside."""
        return any(outcome.faulty for outcome in self.outcomes.values())


def run_jobs(
    planned: Sequence[Job],
    reporter: Reporter,
    wanted: Options | None = None,
    *,
    budget: float | None = None,
    in_order: bool = False,
) -> Result:
    """Make the runs that are missing, one sweep after another.

    Parameters
    ----------
    planned : sequence of Job
    reporter : Reporter
    wanted : Options, optional
        How the runs are made; where data come from and when it ends is seen to here.
    budget : float, optional
        Seconds for the runs.
    in_order : bool
        Give the first repeats of a sweep all the time they take before the next sweep has any,
        instead of a share each: the last ones are those that are left if there is not enough.
    """
    wanted = wanted or Options()
    anew = wanted.fresh or wanted.retry_faults
    end = None if budget is None else time.monotonic() + budget
    result = Result()
    todo = [at for at, job in enumerate(planned) if job.runnable is not None]
    for number in range(PASSES):
        breadth_first = end is not None and number < FIRST_REPEATS and not anew
        repeats = 1 if breadth_first else None
        if number:
            todo = [at for at, outcome in result.outcomes.items() if _lacks(outcome, repeats)]
            if end is None or end - time.monotonic() < LEAST_SHARE * len(todo):
                break
        for turn, at in enumerate(todo):
            if end is not None and time.monotonic() >= end:
                if at not in result.outcomes:
                    result.unreached[at] = planned[at].runs - planned[at].found
                continue
            waiting = todo[turn : turn + 1] if in_order and breadth_first else todo[turn:]
            weights = [_weight(planned[k], result.outcomes.get(k), repeats) for k in waiting]
            options = replace(
                wanted,
                offline=True,
                fresh=wanted.fresh and number == 0,
                retry_faults=wanted.retry_faults and number == 0,
                stand_in=planned[at].stand_ins,
                deadline=_deadline(end, weights),
                end=end,
                repeats=repeats,
            )
            if not _run(planned[at], at, reporter, options, result):
                return result
    return result


def _lacks(outcome: Outcome, repeats: int | None) -> bool:
    """Whether a sweep has runs left, or of its first repeats only, where those are asked for."""
    return outcome.left > (0 if repeats is None else outcome.postponed)


def _run(job: Job, at: int, reporter: Reporter, options: Options, result: Result) -> bool:
    """Make the runs of one job; False when the user has ended it all."""
    reporter.stage(f"{job.paper}/{job.item}: {job.name}")
    assert job.runnable is not None
    try:
        outcome = run_sweep(job.runnable, job.folder, reporter, options)
    except DataError as error:
        # One set that cannot be read must not keep the other items from their numbers.
        result.faults.append(f"{job.paper}/{job.item}, {job.name}: {error}")
        return True
    except KeyboardInterrupt:
        result.interrupted = True
        return False
    result.outcomes[at] = outcome
    result.made += outcome.made
    result.damaged += outcome.damaged
    result.missing += outcome.missing
    result.interrupted = outcome.interrupted
    return not outcome.interrupted


def _weight(job: Job, known: Outcome | None, repeats: int | None) -> float:
    if known is not None:
        missing = known.left - (known.postponed if repeats is not None else 0)
    else:
        missing = (job.runs - job.found) // (job.sweep.repeats if repeats is not None else 1)
    return math.sqrt(max(0, missing))


def _deadline(end: float | None, weights: Sequence[float]) -> float | None:
    """When the first of these sweeps has had its share of the time to the end."""
    if end is None:
        return None
    now, total = time.monotonic(), sum(weights)
    # A sweep believed to be finished still gets something, should a file turn out damaged.
    share = max(weights[0], 0.1) / max(total, 0.1)
    return now + min(1.0, share) * (end - now)
