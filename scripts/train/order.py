"""How well the order of methods is chosen: a fit's CPU time over that of its best single method.

    python scripts/train/order.py SEED ... [--loss logistic] [--bias free] [--weight 10]
        [--kinds text] [--tol 1e-4] [-C 1] [--repeats 3]

Each seed draws a problem of every kind of scripts/champion/adversary.py, with its own lambda. What
a rule was written with is thus never what it is judged by: take other seeds. Each problem is
trained in turns by Newton steps alone, by dual descent alone, and as usual, where the rules of
svmbench/engine/methods.py say which of them comes first and for how long. `auto` trains the hinge
without weights and with no or a regularised bias; there it runs beside its own methods, each until
its own stopping rule holds. The least CPU time of the repeats counts, start and certificate
included. One table has a line for each problem, another for each loss, bias and weight: how many
times as long as the best single method the usual fit took.

A single method ends at `--patience` times the least time so far, and any fit at `--most` CPU
seconds. Its time then counts as it is, so that a large ratio is shown too small, and a small one
too large. Problems with rows of one class, problems that nothing solves within `--most`, and those
of which all single methods fall short by themselves are named and left out.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.derived import with_constant
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Problem
from svmbench.solvers.cholesky import load
from svmbench.train.objective import Objective

sys.path.append(str(Path(__file__).resolve().parents[1] / "champion"))
from adversary import KINDS, drawn
from unseen import METHODS, run

#: Ratios from which a problem counts as badly decided.
BAD = 1.25

#: The usual fit, among the ways to train.
USUAL = "usual"


class Case(NamedTuple):
    """What is minimised; the weight is that of rows with the larger label."""

    loss: str
    bias: str
    weight: float

    @property
    def by_auto(self) -> bool:
        """Whether `auto` trains it."""
        return self.loss == "hinge" and self.bias != "free" and self.weight == 1.0

    @property
    def ways(self) -> tuple[str, ...]:
        """The single methods, and the usual fit."""
        return (*(METHODS[1:] if self.by_auto else ("newton", "dcd")), USUAL)

    def of(self, given: Problem, C: float | None) -> Problem:
        """The problem with the rows given, and with their lambda or this C.

        The weights have a mean of 1, and a regularised bias is the weight of a last feature.
        """
        rows, lam = given.data, given.lam
        weights = np.where(rows.labels > 0, self.weight, 1.0)
        mean = float(weights.mean())
        objective = Objective(self.loss, 1.0 if C is None else C * mean, self.bias)
        return Problem(
            with_constant(rows, 1.0) if self.bias == "regularised" else rows,
            lam if C is None else objective.regularisation(rows.n_samples),
            objective.as_loss(),
            "free" if self.bias == "free" else "none",
            row_weights=None if self.weight == 1.0 else weights / mean,
        )


@dataclass
class Cost:
    """The least CPU seconds of a way to train."""

    seconds: float  # inf where the fit ended short of the tolerance
    cut: bool = False  # whether it was cut short at so many seconds
    method: str = ""  # the method that found the weights

    @property
    def solved(self) -> bool:
        """Whether it met the tolerance."""
        return self.seconds < math.inf and not self.cut

    def __str__(self) -> str:
        if self.seconds == math.inf:
            return "-"
        return f"{'> ' if self.cut else ''}{1e3 * self.seconds:.1f}"


class Row(NamedTuple):
    """A problem, and the cost of each way to train it."""

    case: Case
    name: str
    m: int
    d: int
    costs: dict[str, Cost]

    @property
    def ratio(self) -> float:
        """The usual time over that of the best single method; nan where there is none."""
        best = min(cost.seconds for way, cost in self.costs.items() if way != USUAL)
        known = best < math.inf and any(cost.solved for cost in self.costs.values())
        return self.costs[USUAL].seconds / best if known else math.nan

    def line(self) -> str:
        """Its line of the table."""
        alone = ", ".join(f"{way} {cost}" for way, cost in self.costs.items() if way != USUAL)
        usual = self.costs[USUAL]
        cells = (*_words(self.case), self.name, self.m, self.d, alone, usual, shown(self.ratio))
        return "| " + " | ".join(map(str, (*cells, usual.method))) + " |"


def _words(case: Case) -> tuple[str, str, str]:
    weight = "none" if case.weight == 1.0 else f"{case.weight:g} for one class"
    return case.loss.replace("-", " "), case.bias, weight


def shown(ratio: float) -> str:
    """A ratio, or a dash where there is none."""
    return "-" if math.isnan(ratio) else f"{ratio:.2f}"


def once(problem: Problem, case: Case, way: str, tolerance: float, most: float) -> Cost:
    """Train for at most so many CPU seconds."""
    # Without what an earlier fit of the same rows has kept.
    fresh = replace(problem, data=replace(problem.data))
    begun = time.process_time()
    if case.by_auto:
        found = run(
            fresh,
            next(m for m in METHODS if m == (METHODS[0] if way == USUAL else way)),
            tolerance,
            0,
            most,
        )
        seconds = time.process_time() - begun
        return Cost(min(found.seconds, seconds), math.isinf(found.seconds), found.remark)
    effort = Effort(given_up=lambda: time.process_time() - begun > most)
    try:
        ended = fit(fresh, tolerance, effort, only=None if way == USUAL else way)
    except InterruptedError:
        return Cost(time.process_time() - begun, cut=True)
    seconds = time.process_time() - begun
    return Cost(seconds if ended.gap <= tolerance else math.inf, method=ended.method)


def measured(problem: Problem, case: Case, given: argparse.Namespace) -> dict[str, Cost]:
    """Train in all ways in turns; what did not arrive, or took too long, does not run again."""
    costs: dict[str, Cost] = {}
    for _ in range(given.repeats):
        for way in case.ways:
            least = min((cost.seconds for cost in costs.values()), default=math.inf)
            most = given.most if way == USUAL else min(given.most, given.patience * least)
            before = costs.get(way)
            if before is not None and (not before.solved or before.seconds > most):
                continue
            cost = once(problem, case, way, given.tol, most)
            if before is None or (cost.solved and cost.seconds < before.seconds):
                costs[way] = cost
    return costs


def problems(cases: Sequence[Case], given: argparse.Namespace) -> Iterator[Row]:
    """Measure every problem."""
    for seed, kind in product(given.seeds, given.kinds):
        problem = drawn(kind, seed)
        data = problem.data
        name = f"{data.name}, {seed}"
        if len(np.unique(data.labels)) < 2:
            print(f"left out: {name}: rows of one class", file=sys.stderr)
            continue
        for case in cases:
            costs = measured(case.of(problem, given.C), case, given)
            yield Row(case, name, data.n_samples, data.n_features, costs)


def summary(found: Sequence[Row], cases: Sequence[Case]) -> Iterator[str]:
    """Lines of the table of ratios, and those that name what is not in it."""
    titles = ["loss", "bias", "weight", "problems", "geometric mean", "median", "nine in ten"]
    titles += ["worst", f"above {BAD}", "worst problem"]
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "---|" * len(titles)
    for case in cases:
        known = [row for row in found if row.case == case and not math.isnan(row.ratio)]
        if known:
            ratios = sorted(row.ratio for row in known)
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            tenth, worst = ratios[int(0.9 * (len(ratios) - 1))], max(known, key=lambda r: r.ratio)
            bad = sum(ratio > BAD for ratio in ratios)
            cells = map(shown, (mean, statistics.median(ratios), tenth, worst.ratio))
            line = (*_words(case), len(known), *cells, bad, worst.name)
            yield "| " + " | ".join(map(str, line)) + " |"
    for row in found:
        if math.isnan(row.ratio):
            usual = "only the usual fit" if row.costs[USUAL].solved else "nothing"
            words = ", ".join(_words(row.case))
            yield f"left out: {row.name} ({words}): {usual} reached the tolerance"


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("seeds", nargs="+", type=int, metavar="SEED")
    parser.add_argument("--kinds", nargs="+", help="first words of the names of kinds; all kinds")
    parser.add_argument("--loss", choices=TRAINED_LOSSES, action="append", help="may be repeated")
    parser.add_argument("--bias", choices=TRAINED_BIASES, action="append", help="may be repeated")
    parser.add_argument(
        "--weight", type=float, action="append", help="of the larger label; may be repeated"
    )
    parser.add_argument("-C", type=float, help="instead of the lambda that is drawn")
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=3.0, help="CPU seconds of a fit")
    parser.add_argument("--patience", type=float, default=3.0)
    return parser.parse_args()


def main() -> None:
    """Measure each problem, and print both tables."""
    given = arguments()
    names = [make.__name__.replace("_", " ") for make in KINDS]
    given.kinds = [
        kind
        for kind, name in enumerate(names)
        if not given.kinds or any(name.startswith(word) for word in given.kinds)
    ]
    cases = [
        Case(*each)
        for each in product(
            given.loss or TRAINED_LOSSES, given.bias or TRAINED_BIASES, given.weight or [1.0]
        )
    ]
    load()
    titles = ["loss", "bias", "weight", "problem", "m", "d", "alone, ms", "usual fit, ms"]
    titles += ["ratio", "found by"]
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    found = []
    for row in problems(cases, given):
        found.append(row)
        print(row.line(), flush=True)
    print("", *summary(found, cases), sep="\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
