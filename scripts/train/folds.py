"""What cross-validation saves by training its folds at once: CPU time of both ways, in turns.

    python scripts/train/folds.py FILE ... [--seeds 700 701] [--loss logistic] [--bias free]
        [--folds 5] [--repeats 3]

Each file of LIBSVM text, and each problem that scripts/champion/adversary.py draws from a seed, is
cross-validated at the values of C that `svmbench train --cv` takes. The least CPU time of the
repeats counts. The table has a line for each problem whose folds are trained at once at all; a
summary has the ratios of each loss and bias. The errors are the least of all values of C.
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
        return "| " + " | ".join(cells) + " |"


def measured(examples: Examples, objective: Objective, folds: int, repeats: int) -> Row | None:
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
    name = examples.rows.name
    return Row(objective, name, (least[0], least[1]), (found[0], found[1]))


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
    given = parser.parse_args()
    titles = ["loss", "bias", "rows", "one by one, s", "at once, s", "ratio"]
    titles += ["C", "error", "C at once", "error"]
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    found = []
    for examples in sources(given.files, given.seeds):
        for loss in given.loss or TRAINED_LOSSES:
            for bias in given.bias or TRAINED_BIASES:
                try:
                    row = measured(examples, Objective(loss, bias=bias), given.folds, given.repeats)
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
