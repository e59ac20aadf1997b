"""What a second thread saves `auto`: seconds by the clock on the wall to a certified gap.

Numbers of threads take turns, each in a process of its own: what the memory of a process keeps of
one run helps or hinders the next. A process computes the gap of a first run, and has the median of
the runs after it. A cell has the median of the processes, and how many times as long the first
number of threads takes, as the median of the turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.load import load
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion.auto import Auto, AutoParameters

#: Timed runs of a process.
RUNS = 3


def run(problem: Problem, tolerance: float, threads: int) -> tuple[float, Auto]:
    """Seconds until auto's own gap is within the tolerance, start and choice included."""
    solver = Auto(AutoParameters(tolerance=tolerance))
    solver.threads = threads
    begun = time.perf_counter()
    solver.start(problem, 0)
    while not (solver.stopped or solver.exhausted):
        solver.advance(1)
    return time.perf_counter() - begun, solver


def timed(
    name: str, stand_in: float | None, lam: float, tolerance: float, threads: int
) -> tuple[int, float, float]:
    """Rows of a set, the gap that a run ended with as `Problem` has it, and a run's seconds."""
    with threadpool_limits(1):
        data = load(name, offline=True, stand_in=stand_in).train
        problem = Problem(data, lam)
        solver = run(problem, tolerance, threads)[1]
        dual = problem.dual(problem.repaired(solver.alpha))
        gap = relative_gap(problem.primal(solver.w), dual)
        # A problem remembers its last certificate, which would save the next run one.
        seconds = [run(Problem(data, lam), tolerance, threads)[0] for _ in range(RUNS)]
    return data.n_samples, gap, statistics.median(seconds)


def row(name: str, lam: float, given: argparse.Namespace) -> str:
    """The row of one problem: its largest gap, then seconds and gain by threads."""
    times: dict[int, list[float]] = {threads: [] for threads in given.threads}
    gaps, m = [], 0
    for _ in range(given.repeats):
        for threads, found in times.items():
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                task = pool.submit(timed, name, given.stand_in, lam, given.tolerance, threads)
                m, gap, seconds = task.result()
            found.append(seconds)
            gaps.append(gap)
    cells = [cell(times[given.threads[0]], found) for found in times.values()]
    return f"| {name}, {m:,} | {lam:g} | {max(gaps):.2g} | {' | '.join(cells)} |"


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
    parser.add_argument("--repeats", type=int, default=7, help="processes for each number")
    parser.add_argument("--stand-in", type=float, help="use stand-ins, of this share of the rows")
    return parser.parse_args()


def main() -> None:
    """Measure each set at each lambda, and print the table."""
    given = arguments()
    heads = ["rows", "λ", "gap", *(f"threads: {threads}" for threads in given.threads)]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)
    for name in given.sets:
        for lam in given.lam:
            print(row(name, lam, given), flush=True)


if __name__ == "__main__":
    main()
