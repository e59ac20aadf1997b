"""What cross-validation saves by training its folds at once: CPU time of both ways, in turns.

    python scripts/train/folds.py FILE ... [--seeds 700 701] [--loss logistic] [--bias free]
        [--folds 5] [--repeats 3] [--check 1e-4]

Each file of LIBSVM text, and each problem that scripts/champion/adversary.py draws from a seed, is
cross-validated at the values of C that `svmbench train --cv` takes. The least CPU time of the
repeats counts. The table has a line for each problem whose folds are trained at once at all; a
summary has the ratios of each loss and bias. The errors are the least of all values of C.

With `--check`, cross-validation to this tolerance instead of 1e-2 shows how good the choice is: the
C that it chooses, by how much the errors exceed the least at the C chosen to 1e-2, and by how much
the errors of a C differ at most. Both differences are in units of half of its 95 % interval.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.errors import DataError
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.train.examples import Examples, read_examples
from svmbench.train.folds import FoldFits
from svmbench.train.objective import Objective
from svmbench.train.path import grid
from svmbench.train.validation import SELECTION, Validation, cross_validate

sys.path.append(str(Path(__file__).resolve().parents[1] / "champion"))
from adversary import KINDS, drawn


class Row(NamedTuple):
    """A problem: CPU seconds and results of its folds trained one by one, and at once."""

    objective: Objective
    name: str
    seconds: tuple[float, float]
    found: tuple[Validation, Validation]
    exact: Validation | None

    @property
    def ratio(self) -> float:
        """How many times as long it takes to train the folds one by one."""
        return self.seconds[0] / self.seconds[1]

    def line(self) -> str:
        """Its line of the table."""
        cells = [self.objective.loss, self.objective.bias, self.name]
        cells += [f"{seconds:.3f}" for seconds in self.seconds] + [f"{self.ratio:.2f}"]
        for each in self.found:
            cells += [f"{each.best:g}", f"{min(share for share, _, _ in each.shares()):.4f}"]
        if self.exact is not None:
            missed, off = compared(self.found[1], self.exact)
            cells += [f"{self.exact.best:g}", f"{missed:.2f}", f"{off:.2f}"]
        return "| " + " | ".join(cells) + " |"


def compared(found: Validation, exact: Validation) -> tuple[float, float]:
    """How much worse the C found is than the best, and how much the errors of a C differ at most.

    Both are in units of half an interval.
    """
    shares = exact.shares()
    halves = [0.5 * (high - low) for _, low, high in shares]
    at = min(found.values.index(found.best), len(shares) - 1)  # the last errors are repeated
    missed = shares[at][0] - min(share for share, _, _ in shares)
    pairs = zip(found.shares(), shares, halves, strict=False)
    return missed / halves[at], max(abs(one[0] - other[0]) / half for one, other, half in pairs)


def measured(
    examples: Examples, objective: Objective, folds: int, repeats: int, check: float | None
) -> Row | None:
    """Cross-validate in both ways; None if the folds are not trained at once."""
    if not FoldFits.suit(examples, objective, folds):
        return None
    values, least, found = grid(examples, objective), [math.inf, math.inf], {}
    for _ in range(repeats):
        for way, one_by_one in enumerate((True, False)):
            fresh = replace(examples, rows=replace(examples.rows))
            begun = time.process_time()
            found[way] = cross_validate(
                fresh, objective, folds, values, SELECTION, one_by_one=one_by_one
            )
            least[way] = min(least[way], time.process_time() - begun)
    exact = cross_validate(examples, objective, folds, values, check) if check else None
    name = examples.rows.name
    return Row(objective, name, (least[0], least[1]), (found[0], found[1]), exact)


def sources(files: Sequence[Path], seeds: Sequence[int]) -> Iterator[Examples]:
    """The files' examples, and those drawn."""
    for file in files:
        yield read_examples(file)
    for seed in seeds:
        for kind in range(len(KINDS)):
            rows = drawn(kind, seed).data
            if len(np.unique(rows.labels)) == 2:
                yield Examples(replace(rows, name=f"{rows.name}, {seed}"), rows.labels)


def summary(found: Sequence[Row]) -> Iterator[str]:
    """A line for each loss and bias."""
    yield "| loss | bias | problems | geometric mean | least | largest | least for |"
    yield "|" + "---|" * 7
    for objective in dict.fromkeys(row.objective for row in found):
        rows = [row for row in found if row.objective == objective]
        ratios = [row.ratio for row in rows]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        worst = min(rows, key=lambda row: row.ratio)
        cells = [objective.loss, objective.bias, str(len(rows)), f"{mean:.2f}"]
        cells += [f"{worst.ratio:.2f}", f"{max(ratios):.2f}", worst.name]
        yield "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[])
    parser.add_argument("--loss", choices=TRAINED_LOSSES, action="append", help="may be repeated")
    parser.add_argument("--bias", choices=TRAINED_BIASES, action="append", help="may be repeated")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--check", type=float, metavar="TOL", help="compare with this tolerance")
    given = parser.parse_args()
    titles = ["loss", "bias", "rows", "one by one, s", "at once, s", "ratio"]
    titles += ["C", "error", "C at once", "error"]
    titles += [f"C to {given.check:g}", "missed", "differ"] if given.check else []
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    found = []
    for examples in sources(given.files, given.seeds):
        for loss in given.loss or TRAINED_LOSSES:
            for bias in given.bias or TRAINED_BIASES:
                try:
                    objective = Objective(loss, bias=bias)
                    row = measured(examples, objective, given.folds, given.repeats, given.check)
                except DataError as error:
                    print(f"left out: {error}", file=sys.stderr)
                    continue
                if row is not None:
                    found.append(row)
                    print(row.line(), flush=True)
    print("", *summary(found), sep="\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
