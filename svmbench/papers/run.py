"""Makes the runs of the papers' items: on real data where they are here, within a time budget.

**Data.** A set whose files are on this machine is used as it is; the stand-in of any other
is made at a scale from `SCALES`, the largest at which its rows hold no more entries, and take
no longer to make, than the budget allows (`ENTRIES_A_SECOND`, `MAKING_SHARE`). The scale
depends on nothing else, so that the same budget finds its runs again.

**Time.** Every sweep may begin runs until its share of what is left of the budget has passed:
a fraction in proportion to the square root of the number of runs it has to make. What a sweep
leaves over goes to those after it, and to those cut short in a further pass. No run is begun
after what tables and figures need has been set aside (`reserve`), and one still under way then
is given up. Where there is a budget, each cell of all sweeps gets its first repeat, in two passes
if need be, before any gets its second. Runs that were not made are made by a later call.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from svmbench.config import Sweep, dump_sweep
from svmbench.config.sweep import DatasetSpec
from svmbench.data.cache import open_cached
from svmbench.data.catalogue import Entry, Shape, resolve
from svmbench.data.fetch import find
from svmbench.data.load import cached_paths, load
from svmbench.data.transforms import Derived
from svmbench.errors import ConfigError, DataError, nearest
from svmbench.harness.environment import fingerprint
from svmbench.harness.plan import for_each_horizon
from svmbench.harness.run import Options, Outcome, Reporter, run_sweep
from svmbench.harness.trace import UNFINISHED
from svmbench.memory import available_memory
from svmbench.papers.measured import sweep_folder
from svmbench.papers.model import Paper, SweepSource
from svmbench.solvers.registry import find_solver

_log = logging.getLogger(__name__)

#: Scales of stand-ins.
SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)

#: Entries of a stand-in's rows, training and test, per second of the budget.
ENTRIES_A_SECOND = 5000

#: Share of the budget that making one stand-in may take.
MAKING_SHARE = 1 / 60

#: Share of the memory that is free which a stand-in's rows may take when there is no budget.
MEMORY_SHARE = 0.25

#: Bytes of an entry while rows are made.
ENTRY_BYTES = 16

#: Seconds that making an entry takes: dense, and sparse with few columns or so many.
_DENSE, _SPARSE, _MANY = 5e-8, 8e-7, 2.5e6

#: Rows the generator makes beside those asked for.
_PILOT_ROWS = 1 << 14

#: Seconds that writing takes, a table and a figure, and the share of the budget it gets at most.
_TABLE, _FIGURE = 0.3, 1.5
WRITING_SHARE = 0.4

#: Times that all sweeps are gone through, for what is left of them; the first of them, where there
#: is a budget, for the first repeats alone.
PASSES, FIRST_REPEATS = 4, 2

#: Seconds below which going on is not worth loading the data again.
LEAST_SHARE = 2.0


@dataclass(frozen=True)
class Source:
    """Where the rows of one data set of a sweep come from.

    Parameters
    ----------
    dataset : DatasetSpec
    scale : float, optional
        Of its stand-in; None for the set itself.
    unavailable : str
        Why there are no rows; empty when there are.
    """

    dataset: DatasetSpec
    scale: float | None = None
    unavailable: str = ""

    @property
    def words(self) -> str:
        """The source as the plan prints it; empty for the set itself."""
        if self.unavailable:
            return f"{self.dataset.label}: left out, {self.unavailable}"
        return "" if self.scale is None else f"{self.dataset.label}: stand-in, SCALE {self.scale:g}"


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
        return table[~table["state"].isin(UNFINISHED)] if same else None

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


def choose(papers: Mapping[str, Paper], wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The items meant by ``KEY`` and ``KEY/ITEM``, in the order of the papers; all for none.

    Raises
    ------
    ConfigError
        When there is no such paper or item.
    """
    items = [(key, name) for key, paper in papers.items() for name in paper.items]
    chosen = set()
    for text in wanted:
        key, _, name = text.partition("/")
        if key not in papers:
            raise ConfigError(f"unknown paper {key!r}; {nearest(key, list(papers))}")
        if name and name not in papers[key].items:
            raise ConfigError(
                f"{key} has no item {name!r}; {nearest(name, list(papers[key].items))}"
            )
        chosen |= {item for item in items if item == (key, name) or (item[0] == key and not name)}
    return [item for item in items if item in chosen or not wanted]


def jobs(
    papers: Mapping[str, Paper],
    chosen: Sequence[tuple[str, str]],
    root: Path,
    *,
    full: bool = False,
    budget: float | None = None,
    fetch: bool = False,
) -> list[Job]:
    """The sweeps of items, with the source of each data set; one that items share only once.

    Parameters
    ----------
    papers : mapping of str to Paper
    chosen : sequence of (str, str)
        Keys of papers and items.
    root : Path
        Folder of all results.
    full : bool
        At full published size.
    budget : float, optional
        Seconds for everything, by which stand-ins are scaled.
    fetch : bool
        Download what is not here.
    """
    sources: dict[DatasetSpec, Source] = {}

    def known(dataset: DatasetSpec) -> Source:
        if dataset not in sources:
            sources[dataset] = source_of(dataset, budget, fetch)
        return sources[dataset]

    return [
        Job(
            key,
            item,
            name,
            sweep,
            sweep_folder(root, papers[key], item, name),
            tuple(known(dataset) for dataset in sweep.datasets),
        )
        for key, item, name in _own_sweeps(papers, chosen)
        for sweep in [papers[key].items[item].sweep_at(name, full)]
    ]


def _own_sweeps(
    papers: Mapping[str, Paper], chosen: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, str]]:
    """Paper, item and name of every sweep the items need, where it is described."""
    seen = set()
    for key, item in chosen:
        for name, sweep in papers[key].items[item].sweeps.items():
            place = (key, item, name)
            if isinstance(sweep, SweepSource):
                other, _, name = sweep.same_as.partition("/")
                place = (key, other, name)
            if place not in seen:
                seen.add(place)
                yield place


def source_of(
    dataset: DatasetSpec,
    budget: float | None,
    fetch: bool = False,
    *,
    scale: float | None = None,
    pace: float = ENTRIES_A_SECOND,
) -> Source:
    """Where the rows of a data set come from: itself if it is here, else its stand-in.

    Parameters
    ----------
    dataset : DatasetSpec
    budget : float, optional
        Seconds for everything, by which a stand-in is scaled.
    fetch : bool
        Download what is not here.
    scale : float, optional
        Of the stand-in, whatever the budget.
    pace : float
        As for `scale_for`.
    """
    try:
        origin = dataset.source
        entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    except DataError as error:
        return Source(dataset, unavailable=str(error))
    if is_here(entry) or (fetch and _fetched(entry)):
        return Source(dataset)
    if entry.stand_in is None:
        return Source(dataset, unavailable="not on this machine, and it has no stand-in")
    scale = scale or scale_for(entry.stand_in, budget, pace)
    if scale is None:
        return Source(
            dataset,
            unavailable="not on this machine, and making a stand-in takes more than the budget",
        )
    return Source(dataset, scale)


def is_here(entry: Entry) -> bool:
    """Whether a data set can be opened without the network."""
    if all(find(part) is not None for file in entry.files.values() for part in file.parts):
        return True
    try:
        paths = cached_paths(entry)
    except DataError:
        return False
    return bool(paths) and all(open_cached(path) is not None for path in paths.values())


def _fetched(entry: Entry) -> bool:
    try:
        load(entry)
    except DataError as error:
        _log.warning("%s", error)
        return False
    return True


def scale_for(shape: Shape, budget: float | None, pace: float = ENTRIES_A_SECOND) -> float | None:
    """The largest of `SCALES` that a stand-in of that shape can have; None if it has none.

    Parameters
    ----------
    shape : Shape
    budget : float, optional
        Seconds for everything; without one only the memory counts.
    pace : float
        Entries of its rows per second of the budget.
    """
    if budget is None:
        memory = available_memory()
        entries = math.inf if memory is None else MEMORY_SHARE * memory / ENTRY_BYTES
        seconds = math.inf
    else:
        entries, seconds = pace * budget, MAKING_SHARE * budget
    length = shape.fraction * shape.d
    each = _DENSE if shape.columns.law == "dense" else _SPARSE * (1 + shape.d / _MANY)
    for scale in SCALES:
        made = scale * (shape.m + shape.m_test) * length
        if made <= entries and each * (made + _PILOT_ROWS * length) <= seconds:
            return scale
    return None


def reserve(papers: Mapping[str, Paper], chosen: Sequence[tuple[str, str]], budget: float) -> float:
    """Seconds of the budget that are kept for tables and figures."""
    items = [papers[key].items[name] for key, name in chosen]
    needed = sum(_TABLE * len(item.tables) + _FIGURE * len(item.figures) for item in items)
    return min(WRITING_SHARE * budget, needed + _FIGURE)


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
