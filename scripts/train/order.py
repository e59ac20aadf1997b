"""How well the order of methods is chosen: a fit's CPU time over that of its better single method.

    python scripts/train/order.py SEED ... [--loss logistic] [--bias free] [--weight 10]
        [--kinds text] [--tol 1e-4] [-C 1] [--repeats 3] [--keep FILE]

Each seed draws a problem of every kind of scripts/champion/adversary.py, with its own lambda. It is
trained in turns by Newton steps alone, by dual descent alone, and as usual, where the rules of
svmbench/engine/methods.py say which of them comes first and for how long. The least CPU time of the
repeats counts. One table has a line for each problem, another for each loss, bias and weight: how
many times as long as the better single method the usual fit took. `auto` trains the hinge without
weights and with no or a regularised bias, and is left to scripts/champion/adversary.py.

A single method ends at `--patience` times the least time so far, and any fit at `--most` CPU
seconds. Its time then counts as it is, so that a large ratio is shown too small, and a small one
too large. Problems with rows of one class, problems that none of the three solves within `--most`,
and those of which both single methods fall short by themselves are named and left out.

With `--keep`, each problem is added to a file once it is measured, and the same command goes on
from there; what another build has measured does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import svmbench.kernels
from svmbench.data.derived import with_constant
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Problem
from svmbench.solvers.cholesky import load
from svmbench.train.objective import Objective

sys.path.append(str(Path(__file__).resolve().parents[1] / "champion"))
from adversary import KINDS, drawn

#: The only method of a fit, as it is called there; None for the usual fit.
WAYS = ("newton", "dcd", None)

#: Ratios from which a problem counts as badly decided.
BAD = 1.25


class Case(NamedTuple):
    """What is minimised; the weight is that of rows with the larger label."""

    loss: str
    bias: str
    weight: float

    @property
    def has_choice(self) -> bool:
        """Whether Newton steps and dual descent take turns."""
        return self.loss != "hinge" or self.bias == "free" or self.weight != 1.0

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
    """A problem, and the costs of Newton steps, of dual descent and of the usual fit."""

    case: Case
    name: str
    m: int
    d: int
    costs: tuple[Cost, Cost, Cost]

    @property
    def ratio(self) -> float:
        """The usual time over that of the better single method; nan where there is none."""
        newton, descent, usual = self.costs
        best = min(newton.seconds, descent.seconds)
        known = best < math.inf and any(cost.solved for cost in self.costs)
        return usual.seconds / best if known else math.nan

    def line(self) -> str:
        """Its line of the table."""
        cells = (*_words(self.case), self.name, self.m, self.d, *self.costs)
        return "| " + " | ".join(map(str, (*cells, shown(self.ratio), self.costs[2].method))) + " |"


def _words(case: Case) -> tuple[str, str, str]:
    weight = "none" if case.weight == 1.0 else f"{case.weight:g} for one class"
    return case.loss.replace("-", " "), case.bias, weight


def shown(ratio: float) -> str:
    """A ratio, or a dash where there is none."""
    return "-" if math.isnan(ratio) else f"{ratio:.2f}"


def once(problem: Problem, tolerance: float, only: str | None, most: float) -> Cost:
    """Train for at most so many CPU seconds."""
    # Without what an earlier fit of the same rows has kept.
    fresh = replace(problem, data=replace(problem.data))
    begun = time.process_time()
    effort = Effort(given_up=lambda: time.process_time() - begun > most)
    try:
        found = fit(fresh, tolerance, effort, only=only)
    except InterruptedError:
        return Cost(time.process_time() - begun, cut=True)
    seconds = time.process_time() - begun
    return Cost(seconds if found.gap <= tolerance else math.inf, method=found.method)


def measured(problem: Problem, given: argparse.Namespace) -> tuple[Cost, Cost, Cost]:
    """Train in all ways in turns; what did not arrive, or took too long, does not run again."""
    costs: dict[str | None, Cost] = {}
    for _ in range(given.repeats):
        for only in WAYS:
            least = min((cost.seconds for cost in costs.values()), default=math.inf)
            most = given.most if only is None else min(given.most, given.patience * least)
            before = costs.get(only)
            if before is not None and (not before.solved or before.seconds > most):
                continue
            cost = once(problem, given.tol, only, most)
            if before is None or (cost.solved and cost.seconds < before.seconds):
                costs[only] = cost
    newton, descent, usual = (costs[only] for only in WAYS)
    return newton, descent, usual


def build() -> str:
    """A hash of the program that is measured."""
    kernels = [file for place in svmbench.kernels.__path__ for file in Path(place).glob("*.so")]
    sources = Path(svmbench.__file__).parent.rglob("*.py")
    digest = hashlib.sha256()
    for file in sorted([*sources, *kernels]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class Kept:
    """Rows in a file of JSON lines, each with what it depends on; without a file, none."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._rows = file, dict[str, Any]()
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                key, row = json.loads(line)
                self._rows[json.dumps(key)] = row

    def find(self, key: Sequence[object]) -> Row | None:
        """What was measured before."""
        found = self._rows.get(json.dumps(key))
        if found is None:
            return None
        case, name, m, d, costs = found
        newton, descent, usual = (Cost(*cost) for cost in costs)
        return Row(Case(*case), name, m, d, (newton, descent, usual))

    def add(self, key: Sequence[object], row: Row) -> None:
        """Append a row to the file."""
        if self._file is not None:
            line = json.dumps([key, row], default=lambda cost: list(vars(cost).values()))
            with self._file.open("a", encoding="utf-8") as out:
                out.write(line + "\n")


def problems(cases: Sequence[Case], given: argparse.Namespace) -> Iterator[Row]:
    """Measure every problem that is not kept."""
    kept = Kept(given.keep)
    settings = [build(), given.tol, given.C, given.repeats, given.most, given.patience]
    for seed, kind in product(given.seeds, given.kinds):
        problem: Problem | None = None
        for case in cases:
            key = [*settings, seed, kind, *case]
            row = kept.find(key)
            if row is None:
                problem = problem or drawn(kind, seed)
                data = problem.data
                if len(np.unique(data.labels)) < 2:
                    print(f"left out: {data.name}, {seed}: rows of one class", file=sys.stderr)
                    break
                costs = measured(case.of(problem, given.C), given)
                name = f"{data.name}, {seed}"
                row = Row(case, name, data.n_samples, data.n_features, costs)
                kept.add(key, row)
            yield row


def summary(found: Sequence[Row], cases: Sequence[Case]) -> Iterator[str]:
    """Lines of the table of ratios, and those that name what is not in it."""
    titles = ["loss", "bias", "weight", "problems", "dual descent faster", "geometric mean"]
    titles += ["median", "worst", f"above {BAD}", "worst problem"]
    yield "| " + " | ".join(titles) + " |"
    yield "|" + "---|" * len(titles)
    for case in cases:
        known = [row for row in found if row.case == case and not math.isnan(row.ratio)]
        if known:
            ratios = [row.ratio for row in known]
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            middle, worst = statistics.median(ratios), max(known, key=lambda row: row.ratio)
            bad = sum(ratio > BAD for ratio in ratios)
            faster = sum(row.costs[1].seconds < row.costs[0].seconds for row in known)
            cells = (len(known), faster, shown(mean), shown(middle), shown(worst.ratio))
            yield "| " + " | ".join(map(str, (*_words(case), *cells, bad, worst.name))) + " |"
    for row in found:
        if math.isnan(row.ratio):
            usual = "only the usual fit" if row.costs[2].solved else "nothing"
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
    parser.add_argument("--keep", type=Path, metavar="FILE", help="go on from what it has")
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured")
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
    asked = product(
        given.loss or TRAINED_LOSSES, given.bias or TRAINED_BIASES, given.weight or [1.0]
    )
    cases = [case for case in map(Case._make, asked) if case.has_choice]
    if not cases:
        sys.exit("order.py: the hinge has a choice only with weights or a free bias")
    for case in cases:
        print(f"{', '.join(_words(case))}: problems: {len(given.seeds) * len(given.kinds)}")
    if given.dry_run:
        return
    load()
    titles = ["loss", "bias", "weight", "problem", "m", "d", "Newton steps, ms"]
    titles += ["dual descent, ms", "usual fit, ms", "ratio", "found by"]
    print("\n| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    found = []
    for row in problems(cases, given):
        found.append(row)
        print(row.line(), flush=True)
    print("", *summary(found, cases), sep="\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
