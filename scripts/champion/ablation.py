"""What each trick of `auto` saves: CPU time and iterations until P is close to its optimum.

A first run of each variant finds the iterations at which P is within each accuracy of a certified
lower bound. As a seed gives the same run again, timed runs then go straight to them; the variants
take turns, in one thread. A cell has CPU milliseconds (start and choice included; the least of the
repeats, which all do the same) and, in brackets, iterations. With `--counts` it has the entries
touched over the entries stored, which do not depend on the machine.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.load import load
from svmbench.durable import write_text
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.champion.auto import Auto, AutoParameters

#: Parameters of auto in each variant.
VARIANTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "plain": {
        "acceleration": False,
        "subspace": False,
        "scaling": False,
        "early_shrinking": False,
        "greedy": False,
    },
    "late shrinking": {"early_shrinking": False},
    "not greedy": {"greedy": False},
    "neither": {"early_shrinking": False, "greedy": False},
    "no acceleration": {"acceleration": False},
    "no subspace": {"subspace": False},
    "no scaling": {"scaling": False},
    "dual": {"method": "dual"},
    "newton": {"method": "newton"},
    "dual-newton": {"method": "dual-newton"},
}

#: Share of the smallest accuracy to which the optimum is certified, and seconds for it.
REFERENCE_SHARE, REFERENCE_SECONDS = 0.01, 30.0

#: Most times as long as the fastest variant that a first run takes, but for these seconds.
PATIENCE, LEAST_SECONDS = 4.0, 1.0


class Course(NamedTuple):
    """Iterations and work at which a run came within each accuracy; inf where it did not."""

    iterations: list[float]
    work: list[float]
    seconds: float


def begun(problem: Problem, parameters: dict[str, Any], seed: int) -> Auto:
    """A solver that has started."""
    solver = Auto(AutoParameters(**parameters))
    solver.start(problem, seed)
    return solver


def course(
    problem: Problem,
    parameters: dict[str, Any],
    seed: int,
    enough: Sequence[float],
    most: float,
) -> Course:
    """Iterations until P is at most each of the values, within ``most`` CPU seconds."""
    iterations, work, count = [math.inf] * len(enough), [math.inf] * len(enough), 0
    spent = -time.process_time()
    solver = begun(problem, parameters, seed)
    spent += time.process_time()
    reached = 0
    while reached < len(enough) and spent < most and not solver.exhausted:
        spent -= time.process_time()
        solver.advance(1)
        spent += time.process_time()
        count += 1
        primal = problem.primal(solver.w)
        while reached < len(enough) and primal <= enough[reached]:
            iterations[reached] = count
            work[reached] = solver.counters.nonzeros / max(1, problem.data.nnz)
            reached += 1
    return Course(iterations, work, spent)


def timed(
    problem: Problem, parameters: dict[str, Any], seed: int, iterations: Sequence[float]
) -> list[float]:
    """CPU milliseconds at each of the iterations; inf for those that are."""
    milliseconds, count = [math.inf] * len(iterations), 0
    since = time.process_time()
    solver = begun(problem, parameters, seed)
    for k, target in enumerate(iterations):
        if target == math.inf:
            break
        solver.advance(int(target) - count)
        count = int(target)
        milliseconds[k] = 1e3 * (time.process_time() - since)
    return milliseconds


def cell(values: Sequence[float], iterations: Sequence[float]) -> str:
    """The costs and iterations of one variant, for each accuracy."""
    return ", ".join(
        "-" if count == math.inf else f"{value:{'.0f' if value >= 100.0 else '.3g'}} ({count:.0f})"
        for value, count in zip(values, iterations, strict=True)
    )


def measured(problem: Problem, given: argparse.Namespace) -> list[str]:
    """The cells of one problem."""
    wanted = REFERENCE_SHARE * given.accuracies[-1]
    bound = certified_optimum(problem, wanted, REFERENCE_SECONDS).dual
    enough = [bound * (1.0 + accuracy) for accuracy in given.accuracies]
    courses: dict[str, Course] = {}
    most = given.most
    for name in given.variants:
        courses[name] = course(problem, VARIANTS[name], given.seed, enough, most)
        if courses[name].iterations[-1] < math.inf:
            most = min(most, max(PATIENCE * courses[name].seconds, LEAST_SECONDS))
    if given.counts:
        return [cell(each.work, each.iterations) for each in courses.values()]
    times: dict[str, list[list[float]]] = {name: [] for name in courses}
    for _ in range(given.repeats):
        for name, each in courses.items():
            times[name].append(timed(problem, VARIANTS[name], given.seed, each.iterations))
    return [
        cell([min(found) for found in zip(*times[name], strict=True)],
             courses[name].iterations)
        for name in courses
    ]  # fmt: skip


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="+", help="names of data sets")
    parser.add_argument("--lam", type=float, nargs="+", default=[1e-4, 1e-5, 1e-6])
    parser.add_argument("--accuracies", type=float, nargs="+", default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=20.0, help="CPU seconds of a first run")
    parser.add_argument("--counts", action="store_true", help="work instead of time")
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    given = parser.parse_args()
    given.accuracies.sort(reverse=True)
    return given


def main() -> None:
    """Measure each set at each lambda, and print the table."""
    given = arguments()
    lines = ["| set | λ | " + " | ".join(given.variants) + " |"]
    lines.append("|" + "---|" * (len(given.variants) + 2))
    print("\n".join(lines), flush=True)
    for name in given.sets:
        data = load(name, offline=True).train
        for lam in given.lam:
            cells = measured(Problem(data, lam), given)
            lines.append(f"| {name} | {lam:g} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    if given.out:
        write_text(given.out, "\n".join(lines) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
