"""sgd-m's schedules of multiple-update passes against sgd-s: passes, and the own gap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from measure import catalogued, lower_bound, markdown, wants_real

from svmbench.data.dataset import Dataset
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.stochastic.perceptron import PassParameters
from svmbench.solvers.stochastic.sgd_m import SgdM, SgdMParameters
from svmbench.solvers.stochastic.sgd_s import SgdS

SEEDS = (1, 2, 3)
ACCURACY = 0.01


SCHEDULES: dict[str, Callable[[], SgdS | SgdM]] = {
    "sgd-s": SgdS,
    "4/9": SgdM,
    "blocks": lambda: SgdM(SgdMParameters(schedule="blocks")),
}

#: Data set, C, and (epsilon, T) of sgd-s and of sgd-m in Tables 2, 4 and 6 of ECML-PKDD 2013.
PUBLISHED = (
    ("adult", 0.05, (0.07, 10), (0.15, 6)),
    ("adult", 1.0, (0.105, 111), (0.33, 50)),
    ("adult", 10.0, (0.098, 1172), (0.35, 455)),
    ("w8a", 0.05, (0.06, 2), (0.06, 2)),
    ("w8a", 1.0, (0.054, 26), (0.1, 14)),
    ("w8a", 10.0, (0.049, 220), (0.105, 99)),
)


def after_each(
    solver: SgdS | SgdM, problem: Problem, most: int, seed: int
) -> Iterator[tuple[float, float]]:
    """P and the own gap P/D - 1 after each pass."""
    m = problem.data.n_samples
    solver.start(problem, seed)
    for number in range(1, most + 1):
        solver.advance(solver.multiplicity(number) * m)
        primal = problem.primal(solver.w)
        yield primal, relative_gap(primal, solver.dual())


def passes_to(
    make: Callable[[], SgdS | SgdM], problem: Problem, best: float, most: int, seeds: Sequence[int]
) -> str:
    """Medians over the seeds: passes to the accuracy and, in brackets, the own gap then."""
    runs = []
    for seed in seeds:
        course = enumerate(after_each(make(), problem, most, seed), 1)
        there = ((n, gap) for n, (primal, gap) in course if primal <= (1.0 + ACCURACY) * best)
        runs.append(next(there, (math.inf, math.inf)))
    passes, gap = np.median(runs, axis=0)
    return f"{passes:.0f} ({gap:.2g})" if math.isfinite(passes) else f"> {most}"


@cache
def rows_of(name: str) -> Dataset:
    """The rows of a data set, which is opened once."""
    return catalogued(name, 1.0).data


def problem_of(name: str, c: float) -> Problem:
    """The problem with C = 1/(lam m)."""
    data = rows_of(name)
    return Problem(data, 1.0 / (c * data.n_samples))


def passes_table(cases: Sequence[tuple[str, float]], most: int, seeds: Sequence[int]) -> str:
    """One row per data set and C."""
    rows = []
    for name, c in cases:
        problem = problem_of(name, c)
        best = lower_bound(problem, 1e-5)
        cells = [passes_to(SCHEDULES[one], problem, best, most, seeds) for one in SCHEDULES]
        rows.append((name, f"{c:g}", *cells))
    return markdown(("data", "C", *SCHEDULES), rows)


def passes_of_rule(solver: SgdS | SgdM, problem: Problem, seed: int) -> float:
    """Passes over the data until its own rule holds."""
    solver.start(problem, seed)
    solver.halts = True
    solver.advance(10**4 * problem.data.n_samples)
    return solver.visits() / problem.data.n_samples


def published_table() -> str:
    """Passes until the own rule holds with the published epsilon, next to the published ones."""
    rows = []
    for name, c, of_s, of_m in PUBLISHED:
        problem = problem_of(name, c)
        cells = []
        for (epsilon, T), make in (
            (of_s, lambda epsilon: SgdS(PassParameters(epsilon=epsilon))),
            (of_m, lambda epsilon: SgdM(SgdMParameters(epsilon=epsilon))),
        ):
            ours = np.median([passes_of_rule(make(epsilon), problem, seed) for seed in SEEDS])
            cells += [f"{epsilon:g}", str(T), f"{ours:.0f}"]
        rows.append((name, f"{c:g}", *cells))
    methods = [
        f"{one}: {what}" for one in ("sgd-s", "sgd-m") for what in ("ε", "published", "ours")
    ]
    return markdown(("data", "C", *methods), rows)


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        print(published_table())
        cases = [("adult", 0.05), ("adult", 1.0), ("adult", 10.0)]
        cases += [("w8a", 0.05), ("w8a", 1.0), ("w8a", 10.0)]
        print(passes_table(cases, 2000, SEEDS[:1]), end="")
    else:
        cases = [("tiny-sparse", 0.1), ("tiny-sparse", 1.0), ("tiny-sparse", 10.0)]
        cases += [("tiny-dense", 0.1), ("tiny-dense", 1.0), ("tiny-dense", 10.0)]
        print(passes_table(cases, 2000, SEEDS), end="")


if __name__ == "__main__":
    main()
