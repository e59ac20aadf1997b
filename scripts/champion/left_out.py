"""What the constants of `auto` owe to the data sets they were chosen with: leave-one-set-out.

Each constant takes a few values, the others being as they are, and every run goes on until its own
stopping rule certifies the gap `--tolerance`. For each data set, constants are then chosen on all
*other* sets: those whose best value saves the most come first, and each is changed as long as the
geometric mean of the times falls by more than `--margin`, a smaller difference being noise. The
table compares `auto` with these constants, on the set that was left out, with `auto` as it is.
Times are CPU seconds of one thread, with both in turns; runs that do the same work, entry by entry,
count as equal.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from unseen import TUNED, named

from svmbench.data.dataset import Dataset
from svmbench.durable import write_text
from svmbench.errors import SvmbenchError
from svmbench.problem import Problem
from svmbench.solvers import cholesky, samples
from svmbench.solvers.champion import (
    auto,
    choice,
    dual_phase,
    multiplier_steps,
    newton_phase,
)
from svmbench.solvers.dual import accelerator, subspace


class Constant(NamedTuple):
    """A number in a module, and other values of it."""

    module: ModuleType
    name: str
    others: tuple[float, ...]

    @property
    def present(self) -> float:
        """Its value in the module."""
        value: float = getattr(self.module, self.name)
        return value

    @property
    def values(self) -> tuple[float, ...]:
        """The present value, and then the others."""
        return (self.present, *self.others)


CONSTANTS = (
    Constant(choice, "STEPS", (16.0, 64.0)),
    Constant(choice, "STEPS_BY_SHAPE", (0.2, 0.4)),
    Constant(choice, "STEPS_BY_DUAL", (0.05, 0.15)),
    Constant(choice, "SLOWING", (1.0, 4.0)),
    Constant(choice, "BEGINNING", (0.25, 1.0)),
    Constant(choice, "SAVED", (0.25, 0.75)),
    Constant(choice, "NEAR", (4.0, 16.0)),
    Constant(choice, "VISIT_COST", (7.0, 28.0)),
    Constant(choice, "TOUCH_COST", (0.225, 0.9)),
    Constant(choice, "ROW_COST", (12.5, 50.0)),
    Constant(cholesky, "MULTIPLY_ADD_COST", (0.0125, 0.05)),
    Constant(cholesky, "ENTRY_COST", (1.0, 4.0)),
    Constant(choice, "SPARSE_OUTER_COST", (0.5, 2.0)),
    Constant(choice, "BLAS_OUTER_COST", (0.025, 0.1)),
    Constant(auto, "HANDOVER_PENALTY", (0.025, 0.1)),
    Constant(samples, "SAMPLE_SHARE", (0.1, 0.25)),
    Constant(multiplier_steps, "INNER_SHARE", (0.15, 0.6)),
    Constant(newton_phase, "WORSE", (1.0, 1.5)),
    Constant(dual_phase, "MANY_MOVED", (0.1, 0.4)),
    Constant(dual_phase, "RESTORE_SHARE", (0.01, 0.1)),
    Constant(dual_phase, "RESTORE_PASSES", (4.0, 16.0)),
    Constant(dual_phase, "TYPICAL", (1.0, 4.0)),
    Constant(dual_phase, "LEAST_GAIN", (0.05, 0.2)),
    Constant(dual_phase, "HIGH_GAIN", (1.5, 6.0)),
    Constant(dual_phase, "THRESHOLD_MARGIN", (1.0, 4.0)),
    Constant(dual_phase, "SCALE_SHARE", (0.025, 0.1)),
    Constant(dual_phase, "LEAST_SAVED", (0.15, 0.5)),
    Constant(accelerator, "LINGERING", (0.15, 0.6)),
    Constant(accelerator, "PASSES_A_STEP", (1.5, 6.0)),
    Constant(subspace, "SHARE", (0.125, 0.5)),
    Constant(subspace, "SAME_ROWS_SHARE", (0.5, 2.0)),
)

#: Values of constants by name; those that are not named have their present value.
Values = Mapping[str, float]
#: The same, to look results up by.
Change = frozenset[tuple[str, float]]
#: A data set and a lambda.
Where = tuple[str, float]


def only(constant: Constant | None = None, value: float = 0.0) -> Change:
    """One changed constant, or none."""
    return frozenset([(constant.name, value)] if constant else [])


class Run(NamedTuple):
    """CPU seconds of a run, those it was allowed where it did not end, and all the work it did."""

    seconds: float
    work: tuple[int, ...]


@contextlib.contextmanager
def with_values(values: Values) -> Iterator[None]:
    """Constants of these values."""
    before = {constant.name: constant.present for constant in CONSTANTS}
    try:
        for constant in CONSTANTS:
            setattr(constant.module, constant.name, values.get(constant.name, constant.present))
        yield
    finally:
        for constant in CONSTANTS:
            setattr(constant.module, constant.name, before[constant.name])


def run(problem: Problem, values: Values, tolerance: float, seed: int, most: float) -> Run:
    """Train until the stopping rule holds, or for ``most`` CPU seconds."""
    with with_values(values):
        begun = time.process_time()
        solver = auto.Auto(auto.AutoParameters(tolerance=tolerance))
        solver.halts = True
        solver.start(problem, seed)
        steps = 0
        while not (solver.stopped or solver.exhausted) and time.process_time() < begun + most:
            solver.advance(1)
            steps += 1
        seconds = time.process_time() - begun
    counts = solver.counters
    return Run(seconds, (steps, counts.presentations, counts.updates, counts.nonzeros))


def ratio(problem: Problem, values: Values, given: argparse.Namespace, most: float) -> float:
    """Median over seeds of the time with these values over the present time, run in turns."""
    ratios = []
    for seed in range(given.repeats):
        present = run(problem, {}, given.tolerance, seed, most)
        # A slower run counts as so many times as slow at most.
        limit = min(most, given.patience * present.seconds)
        other = run(problem, values, given.tolerance, seed, limit)
        same = other.work == present.work
        ratios.append(1.0 if same else other.seconds / present.seconds)
    return statistics.median(ratios)


def mean(ratios: Sequence[float]) -> float:
    """Geometric mean; 1 of nothing."""
    return math.exp(statistics.fmean(math.log(each) for each in ratios)) if ratios else 1.0


class Sets:
    """The problems, and times of changed constants over present ones, measured when asked for."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self.problems = dict(problems(given.sets, given.lam))
        self._ratios: dict[tuple[Where, Change], float] = {}

    def ratio(self, where: Where, change: Change) -> float:
        """Time with these changes over that of auto as it is."""
        if not change:
            return 1.0
        if (where, change) not in self._ratios:
            given = self._given
            found = ratio(self.problems[where], dict(change), given, given.most)
            self._ratios[where, change] = found
        return self._ratios[where, change]

    def ratios(self, change: Change, without: str = "") -> list[float]:
        """These ratios on all problems but those of one set."""
        return [self.ratio(where, change) for where in self.problems if where[0] != without]

    def chosen(self, without: str) -> Change:
        """The changes that save most on all sets but one, each added as long as it saves."""
        margin = self._given.margin
        best = []
        for constant in CONSTANTS:
            means = {
                value: mean(self.ratios(only(constant, value), without))
                for value in constant.others
            }
            value = min(means, key=means.__getitem__)
            if means[value] < 1.0 - margin:
                best.append((means[value], constant, value))
        change, least = only(), 1.0
        for _, constant, value in sorted(best, key=lambda each: each[0]):
            more = change | only(constant, value)
            now = mean(self.ratios(more, without))
            if now < (1.0 - margin) * least:
                change, least = more, now
        return change


def problems(names: Sequence[str], lambdas: Sequence[float]) -> Iterator[tuple[Where, Problem]]:
    """All problems; sets that are missing are named."""
    for name in names:
        try:
            data: Dataset = named(name)
        except SvmbenchError as error:
            print(f"{name}: left out: {error}")
            continue
        for lam in lambdas:
            yield (name, lam), Problem(data, lam)


def table_of_values(sets: Sets) -> Iterator[str]:
    """For each constant, the times with its other values over the present time, on all sets."""
    yield "| constant | another value: mean, least and largest time over the present one |"
    yield "|---|---|"
    for constant in CONSTANTS:
        cells = []
        for value in constant.others:
            ratios = sets.ratios(only(constant, value))
            cells.append(f"{value:g}: {mean(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")
        yield f"| `{constant.name}` = {constant.present:.3g} | {'; '.join(cells)} |"


def table_of_sets(sets: Sets) -> Iterator[str]:
    """For each set, the constants chosen without it, and the time with them over the present."""
    yield "| set | constants chosen without it | λ: time over that of auto as it is |"
    yield "|---|---|---|"
    everywhere = []
    for name in dict.fromkeys(name for name, _ in sets.problems):
        change = sets.chosen(name)
        words = ", ".join(f"`{each}` = {value:g}" for each, value in sorted(change))
        cells = []
        for where in sets.problems:
            if where[0] == name:
                everywhere.append(sets.ratio(where, change))
                cells.append(f"{where[1]:g}: {everywhere[-1]:.2f}")
        yield f"| {name} | {words or 'as they are'} | {', '.join(cells)} |"
    yield ""
    yield (
        "auto with constants chosen without the set, over auto as it is: geometric mean "
        f"{mean(everywhere):.2f}, from {min(everywhere):.2f} to {max(everywhere):.2f}"
    )


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "sets", nargs="*", default=list(TUNED), help="names of data sets, or of those in unseen.py"
    )
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-4, 1e-5, 1e-6])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=20.0, help="CPU seconds of one run")
    parser.add_argument("--patience", type=float, default=3.0)
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--out", type=Path, help="Markdown file for the tables")
    return parser.parse_args()


def main() -> None:
    """Measure each value on each problem, choose without each set, and print the tables."""
    given = arguments()
    sets = Sets(given)
    lines = []
    for table in (table_of_values(sets), table_of_sets(sets)) if sets.problems else ():
        for line in chain(table, [""]):
            lines.append(line)
            print(line, flush=True)
    if given.out:
        write_text(given.out, "\n".join(lines))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
