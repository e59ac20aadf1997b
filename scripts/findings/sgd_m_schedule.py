"""sgd-m's schedules of multiple-update passes and single passes: passes to reach a gap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from measure import catalogued, markdown, wants_real

from svmbench.problem import Problem, relative_gap
from svmbench.solvers.stochastic.sgd_m import SgdM, SgdMParameters
from svmbench.solvers.stochastic.sgd_s import SgdS

SEEDS = (1, 2, 3)


class Late(SgdM):
    """Multiplicities that grow with the passes to the end: a bad schedule."""

    name = "sgd-m-late"
    summary = "every ninth pass has a multiplicity of a quarter of the epochs so far"

    def multiplicity(self, number: int) -> int:
        """A quarter of the earlier epochs, in every ninth pass."""
        before = self.counters.presentations // self._problem.data.n_samples
        return max(1, before // 4) if number % 9 == 0 else 1


SCHEDULES: dict[str, Callable[[], SgdS | SgdM]] = {
    "sgd-s": SgdS,
    "5/9": lambda: SgdM(SgdMParameters(schedule="5/9")),
    "blocks": lambda: SgdM(SgdMParameters(schedule="blocks")),
    "late": Late,
}
COMPARED = ("sgd-s", "5/9", "blocks")


def gap_after_each(
    solver: SgdS | SgdM, problem: Problem, most: int, seed: int
) -> Iterator[tuple[float, float]]:
    """Relative gap P/D - 1 and epochs (a multiple pass counts as several) after each pass."""
    m = problem.data.n_samples
    solver.start(problem, seed)
    for number in range(1, most + 1):
        solver.advance(solver.multiplicity(number) * m)
        gap = relative_gap(problem.primal(solver.w), solver.dual())
        yield gap, solver.counters.presentations / m


def passes_to(
    make: Callable[[], SgdS | SgdM],
    problem: Problem,
    target: float,
    most: int,
    seeds: Sequence[int],
) -> str:
    """Medians over the seeds of the passes and, after a slash, the epochs to the gap."""
    runs = []
    for seed in seeds:
        course = enumerate(gap_after_each(make(), problem, most, seed), 1)
        there = ((passes, epochs) for passes, (gap, epochs) in course if gap <= target)
        runs.append(next(there, (math.inf, math.inf)))
    passes, epochs = np.median(runs, axis=0)
    return f"{passes:.0f} / {epochs:.0f}" if math.isfinite(passes) else f"> {most}"


def problem_of(name: str, c: float) -> Problem:
    """The problem with C = 1/(lam m)."""
    m = catalogued(name, 1.0).data.n_samples
    return catalogued(name, 1.0 / (c * m))


def passes_table(cases: Sequence[tuple[str, float, float]], most: int, seeds: Sequence[int]) -> str:
    """One row per data set, C and gap."""
    rows = []
    for name, c, target in cases:
        problem = problem_of(name, c)
        cells = [passes_to(SCHEDULES[one], problem, target, most, seeds) for one in COMPARED]
        rows.append((name, f"{c:g}", f"{target:g}", *cells))
    return markdown(("data", "C", "gap", *COMPARED), rows)


def stall_table(name: str, c: float, passes: Sequence[int]) -> str:
    """Median gap over the seeds after some passes, by schedule."""
    rows = []
    for one, make in SCHEDULES.items():
        runs = []
        for seed in SEEDS:
            course = list(gap_after_each(make(), problem_of(name, c), passes[-1], seed))
            runs.append([course[number - 1][0] for number in passes])
        rows.append((one, *(f"{gap:.4f}" for gap in np.median(runs, axis=0))))
    header = f"{name}, C = {c:g}"
    return markdown((header, *(f"gap, pass {number}" for number in passes)), rows)


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        cases = [("adult", 0.1, 0.01), ("adult", 1.0, 0.1), ("adult", 10.0, 1.0)]
        cases += [("reuters21578", 0.1, 0.01), ("reuters21578", 1.0, 0.01)]
        cases += [("reuters21578", 10.0, 0.1), ("reuters21578", 10.0, 0.03)]
        print(passes_table(cases, 600, SEEDS[:1]), end="")
    else:
        cases = [("tiny-sparse", 0.1, 0.01), ("tiny-sparse", 1.0, 0.01), ("tiny-sparse", 10.0, 0.1)]
        cases += [("tiny-dense", 0.1, 0.01), ("tiny-dense", 1.0, 0.1), ("tiny-dense", 10.0, 0.1)]
        print(passes_table(cases, 2000, SEEDS))
        print(stall_table("tiny-sparse", 1.0, (31, 63, 127, 255, 511)), end="")


if __name__ == "__main__":
    main()
