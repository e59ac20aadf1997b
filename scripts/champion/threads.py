"""What a second thread saves `auto`: seconds by the clock on the wall to a certified gap.

Both take turns on the same rows with the same seed. A cell has medians, and the median of the
ratios of the pairs. Before anything is timed, the gap that a run ended with is computed anew.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset
from svmbench.data.load import load
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion.auto import Auto, AutoParameters


def run(problem: Problem, tolerance: float, threads: int) -> tuple[float, Auto]:
    """Seconds until auto's own gap is within the tolerance, start and choice included."""
    solver = Auto(AutoParameters(tolerance=tolerance))
    solver.threads = threads
    begun = time.perf_counter()
    solver.start(problem, 0)
    while not (solver.stopped or solver.exhausted):
        solver.advance(1)
    return time.perf_counter() - begun, solver


def gap(problem: Problem, solver: Auto) -> float:
    """(P - D)/D as `Problem` has it."""
    dual = problem.dual(problem.repaired(solver.alpha))
    return relative_gap(problem.primal(solver.w), dual)


def measured(data: Dataset, lam: float, given: argparse.Namespace) -> list[str]:
    """The cells of one problem: the largest gap, then seconds and gain by threads."""
    problem = Problem(data, lam)
    gaps = [gap(problem, run(problem, given.tolerance, each)[1]) for each in given.threads]
    times: dict[int, list[float]] = {threads: [] for threads in given.threads}
    for _ in range(given.repeats):
        for threads, found in times.items():
            # A problem remembers its last certificate, which the next run would save.
            found.append(run(Problem(data, lam), given.tolerance, threads)[0])
    first = times[given.threads[0]]
    return [f"{max(gaps):.2g}", *(cell(first, found) for found in times.values())]


def cell(first: Sequence[float], found: Sequence[float]) -> str:
    """Median seconds, and how many times as long the first takes."""
    gain = statistics.median(a / b for a, b in zip(first, found, strict=True))
    return f"{statistics.median(found):.3f} s ({gain:.2f}x)"


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="+", help="names of data sets")
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-4, 1e-5, 1e-6])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--stand-in", type=float, help="use stand-ins, of this share of the rows")
    return parser.parse_args()


def main() -> None:
    """Measure each set at each lambda, and print the table."""
    given = arguments()
    heads = ["rows", "λ", "gap", *(f"threads: {threads}" for threads in given.threads)]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    for name in given.sets:
        data = load(name, offline=True, stand_in=given.stand_in).train
        for lam in given.lam:
            cells = measured(data, lam, given)
            print(f"| {name}, {data.n_samples:,} | {lam:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
