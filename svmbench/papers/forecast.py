"""How long the papers' sweeps are expected to take at full size, from runs measured before.

The seconds of a repeat of a cell come from the first of these that there is:

1. *full*: runs of that cell in the folder of the sweep itself;
2. *quick*: runs of that cell in the quick form, times the ratio of the rows, which have as many
   stored entries each. At another number of rows the passes are the paper's, if it prints them;
   otherwise, and where the passes are the same by design, those of the quick form;
3. *passes*: the passes that the paper prints, times the stored entries, times the seconds per entry
   of that solver in all runs of the quick form;
4. *limit*: the time limit, because nothing is known, or because the quick form met its own limit.

A limit that is a multiple of the best time of any solver on the problem applies only to the
solvers that run after the fastest. Solvers run in a random order, so that the expected time of a
cell is the mean over these orders.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any, Literal

import pandas as pd

from svmbench.claims.kinds import KINDS
from svmbench.claims.places import same
from svmbench.config import SolverSpec, Stop
from svmbench.data.transforms import rows_after
from svmbench.durable import is_own_file
from svmbench.harness.crew import LEAST_LIMIT, START
from svmbench.harness.planned_sweep import PlannedSweep
from svmbench.harness.sources import Source
from svmbench.papers.folders import sweep_folder
from svmbench.papers.model import Item, Paper
from svmbench.records.states import RERUN

Basis = Literal["full", "quick", "passes", "limit"]

#: Repeats that a clear claim takes, on a page with hundreds of questions, if pairs decide it.
PAIRS = 12

#: Columns of runs.csv that are read, and their types.
_READ: dict[str, Any] = dict.fromkeys(("dataset", "solver", "label", "state"), str) | dict.fromkeys(
    ("lambda", "C", "repeat", "m", "nnz", "elapsed_seconds", "train_seconds", "data_passes",
     "max_epochs"),
    float,
)  # fmt: skip

#: A data set's label, the key of its constant (lambda or C), the constant, and a solver's label.
_Place = tuple[str, str, float, str]


@dataclass(frozen=True)
class Forecast:
    """The expected time of a sweep's runs.

    Parameters
    ----------
    first : float
        Seconds of the missing first repeats.
    total : float
        Seconds of all missing repeats until the claims are expected to be decided.
    bases : Counter of str
        How many cells rest on what.
    """

    first: float = 0.0
    total: float = 0.0
    bases: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Forecast) -> Forecast:
        return Forecast(
            self.first + other.first, self.total + other.total, self.bases + other.bases
        )


def forecasts(
    planned: Sequence[PlannedSweep], papers: Mapping[str, Paper], quick_root: Path
) -> list[Forecast]:
    """The expected time of each sweep."""
    sweeps = [
        _Sweep(
            each,
            papers[each.paper].items[each.item],
            _Runs.read(each.folder),
            _Runs.read(sweep_folder(quick_root, papers[each.paper], each.item, each.name)),
        )
        for each in planned
    ]
    pace = _pace([each.quick for each in sweeps])
    return [each.forecast(pace) for each in sweeps]


@dataclass(frozen=True)
class _Runs:
    """The runs of a sweep's folder that were made, and the repeats that were skipped."""

    cells: Mapping[tuple[str, str], pd.DataFrame]

    @classmethod
    def read(cls, folder: Path) -> _Runs:
        path = folder / "runs.csv"
        if not is_own_file(path):
            return cls({})
        try:
            table = pd.read_csv(path, usecols=list(_READ), dtype=_READ)
        except (OSError, ValueError, TypeError, OverflowError):
            return cls({})  # reading the results says what is wrong with them
        table = table.replace([math.inf, -math.inf], math.nan)
        made = table[~table["state"].isin((*RERUN, "skipped")) & (table["m"] > 0)]
        return cls({(str(d), str(s)): runs for (d, s), runs in made.groupby(["dataset", "label"])})

    def of(self, place: _Place) -> pd.DataFrame | None:
        dataset, key, constant, label = place
        runs = self.cells.get((dataset, label))
        if runs is None:
            return None
        found = runs[[same(float(value), constant) for value in runs[key]]]
        return None if found.empty else found


@dataclass(frozen=True)
class _Cell:
    """What a repeat of a cell takes without limits, and on what that rests."""

    seconds: float
    training: float
    basis: Basis


@dataclass(frozen=True)
class _Sweep:
    planned: PlannedSweep
    item: Item
    full: _Runs
    quick: _Runs

    def forecast(self, pace: Mapping[str, float]) -> Forecast:
        sweep, total = self.planned.sweep, Forecast()
        constants = [("lambda", each) for each in sweep.lambdas or ()]
        constants += [("C", each) for each in sweep.C or ()]
        paired = {
            label
            for claim in self.item.claims
            if KINDS[claim.kind].paired
            for label in claim.labels
        }
        for source in self.planned.sources:
            if source.unavailable:
                continue
            for key, constant in constants:
                cells = {
                    spec.label: self._cell(source, key, constant, spec, pace)
                    for spec in sweep.solvers
                }
                for label in cells:
                    place = (source.dataset.label, key, constant, label)
                    seconds = _within_limits(sweep.stop, label, cells) + START
                    there, wanted = self._repeats(place, label in paired)
                    total += Forecast(
                        seconds * max(0, 1 - there),
                        seconds * max(0, wanted - there),
                        Counter({cells[label].basis: 1}),
                    )
        return total

    def _repeats(self, place: _Place, paired: bool) -> tuple[int, int]:
        """Repeats that a cell has, and how many it is expected to need."""
        full, quick = self.full.of(place), self.quick.of(self._in_quick(place))
        there = 0 if full is None else full["repeat"].nunique()
        known = full if full is not None else quick
        if known is not None and (known["state"] == "time_limit").all():
            return there, 1
        had = 1 if quick is None else quick["repeat"].nunique()
        needed = max(had, PAIRS) if paired else had
        return there, max(min(needed, self.planned.sweep.at_most), self.planned.sweep.at_least)

    def _in_quick(self, place: _Place) -> _Place:
        """The place of a cell in the quick form."""
        return (self._quick_labels.get(place[0], place[0]), *place[1:])

    @cached_property
    def _quick_labels(self) -> dict[str, str]:
        """The quick form's labels of the data sets, which may differ, by their own labels."""
        own = [each.label for each in self.planned.sweep.datasets]
        quick = [each.label for each in self.item.sweep_at(self.planned.name, False).datasets]
        return dict(zip(own, quick, strict=True)) if len(own) == len(quick) else {}

    def _cell(
        self, source: Source, key: str, constant: float, spec: SolverSpec, pace: Mapping[str, float]
    ) -> _Cell:
        place = (source.dataset.label, key, constant, spec.label)
        full = self.full.of(place)
        if full is not None:
            if _met_limit(full):
                return _Cell(math.inf, math.inf, "full")
            return _Cell(_a_repeat(full), _training(full), "full")
        passes = self._published_passes(place)
        quick = self.quick.of(self._in_quick(place))
        if quick is not None:
            factor = _rows_ratio(source, quick)
            counted = float(quick["data_passes"].median())
            if passes is not None and counted > 0.0 and not same(factor, 1.0):
                factor *= passes / counted
            elif _met_limit(quick):
                return _Cell(math.inf, math.inf, "limit")
            else:
                factor *= _epochs_ratio(quick, self.planned.sweep.stop)
            return _Cell(_a_repeat(quick) * factor, _training(quick) * factor, "quick")
        entries = _entries(source)
        if passes is not None and entries is not None and spec.name in pace:
            seconds = passes * entries * pace[spec.name]
            return _Cell(seconds, seconds, "passes")
        return _Cell(math.inf, math.inf, "limit")

    def _published_passes(self, place: _Place) -> float | None:
        """The passes over the data that the paper prints for a cell."""
        dataset, key, constant, label = place
        for value in (value for each in self.item.published for value in each.values):
            printed = value.lambda_ if key == "lambda" else value.C
            if (
                (value.dataset, value.solver) == (dataset, label)
                and value.sweep in (None, self.planned.name)
                and (printed is None or same(printed, constant))
                and value.measure.name == "data_passes"
                and not isinstance(value.value, str)
            ):
                return value.value
        return None


def _within_limits(stop: Stop, label: str, cells: Mapping[str, _Cell]) -> float:
    """Seconds of a repeat of a cell within its limits."""
    cell = cells[label]

    def within(limit: float) -> float:
        return cell.seconds if cell.training <= limit else limit

    others = sorted(each.training for name, each in cells.items() if name != label)
    if stop.relative_limit is None:
        return within(stop.time_limit)
    # Of several solvers in random order, the k-th fastest of the others is the fastest of those
    # that ran before with probability 1/k - 1/(k + 1).
    seconds, alone = 0.0, 1.0
    for k, fastest in enumerate(others, start=1):
        limit = min(stop.time_limit, max(LEAST_LIMIT, stop.relative_limit * fastest))
        seconds += (1 / k - 1 / (k + 1)) * within(limit)
        alone -= 1 / k - 1 / (k + 1)
    return seconds + alone * within(stop.time_limit)


def _a_repeat(runs: pd.DataFrame) -> float:
    """Seconds of a repeat with all its horizons, evaluation included."""
    return float(runs.groupby("repeat")["elapsed_seconds"].sum().median())


def _training(runs: pd.DataFrame) -> float:
    """Seconds that a run trains; +inf if none has come to a checkpoint."""
    middle = float(runs["train_seconds"].median())
    return math.inf if math.isnan(middle) else middle


def _met_limit(runs: pd.DataFrame) -> bool:
    return bool((runs["state"] == "time_limit").any() and not (runs["state"] == "converged").any())


def _epochs_ratio(quick: pd.DataFrame, stop: Stop) -> float:
    """How many times as many epochs a run takes if its limit of epochs ends it."""
    if stop.max_epochs is None or not (quick["state"] == "max_steps").all():
        return 1.0
    had = float(quick["max_epochs"].median())
    return stop.max_epochs / had if had > 0.0 else 1.0


def _rows_ratio(source: Source, quick: pd.DataFrame) -> float:
    rows = _rows(source)
    return 1.0 if rows is None else rows / float(quick["m"].iloc[0])


def _rows(source: Source) -> float | None:
    """Training rows at full size; None if they are as many at any size, or not known."""
    shape = source.shape
    if shape is None:
        return None
    scale = 1.0 if source.scale is None else source.scale
    rows, named = rows_after(source.dataset.chain, shape.m, shape.m_test, scale)
    return None if named else rows


def _entries(source: Source) -> float | None:
    shape, rows = source.shape, _rows(source)
    return None if shape is None or rows is None else rows * shape.fraction * shape.d


def _pace(sweeps: Collection[_Runs]) -> dict[str, float]:
    """Seconds that each solver takes for a stored entry, the median over its cells."""
    found: dict[str, list[float]] = defaultdict(list)
    for runs in (cell for each in sweeps for cell in each.cells.values()):
        taken = (runs["train_seconds"] / (runs["nnz"] * runs["data_passes"])).median()
        if 0.0 < taken < math.inf:
            found[str(runs["solver"].iloc[0])].append(float(taken))
    return {solver: median(values) for solver, values in found.items()}
