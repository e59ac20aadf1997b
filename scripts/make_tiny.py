"""Generate the tiny data sets of datasets/tiny/.

The bytes are the same on every machine and with every Python. The random numbers are those of
``random.Random.random``, which Python guarantees. The arithmetic uses only operations whose
rounding IEEE 754 defines (+ - * /, square root, ``math.fsum``), and not exp, log or sin, whose
last digits differ between C libraries.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from svmbench.durable import replacing

Row = tuple[int, list[tuple[int, str]]]
"""A label and the pairs of index (from 1) and value, as written."""


def normal(rng: random.Random) -> float:
    """Draw a nearly normal number: the sum of twelve uniform numbers, minus six."""
    return math.fsum(rng.random() for _ in range(12)) - 6.0


def below(rng: random.Random, n: int) -> int:
    """Draw an integer from 0 to n - 1."""
    return int(rng.random() * n)


def sparse(rng: random.Random, sizes: tuple[int, ...]) -> Iterator[list[Row]]:
    """Rows like those of text: 300 columns drawn by Zipf's law, unit norm, 8 % label noise.

    Every fiftieth row is empty, like a document without a known word.
    """
    width = 300
    steps = list(itertools.accumulate(1.0 / (rank + 2) for rank in range(width)))
    hidden = [normal(rng) for _ in range(width)]
    for size in sizes:
        rows = []
        for number in range(size):
            columns: set[int] = set()
            length = 0 if number % 50 == 49 else 4 + below(rng, 20)
            while len(columns) < length:
                columns.add(bisect.bisect(steps, rng.random() * steps[-1]))
            weights = {j: (1 + below(rng, 3)) * (1.0 + rng.random()) for j in sorted(columns)}
            norm = math.sqrt(math.fsum(x * x for x in weights.values()))
            score = math.fsum(hidden[j] * x for j, x in weights.items())
            label = 1 if (score > 0.0) != (rng.random() < 0.08) else -1
            rows.append((label, [(j + 1, f"{x / norm:.4g}") for j, x in weights.items()]))
        yield rows


def dense(rng: random.Random, sizes: tuple[int, ...]) -> Iterator[list[Row]]:
    """Two overlapping clouds in 8 dimensions of different scales; two columns are correlated."""
    scales = [1.0, 1.0, 2.0, 0.5, 1.0, 4.0, 0.25, 1.0]
    centre = [0.6, -0.4, 0.5, 0.1, 0.0, 0.8, -0.1, 0.0]
    for size in sizes:
        rows = []
        for _ in range(size):
            label = 1 if rng.random() < 0.4 else -1
            x = [label * c + s * normal(rng) for c, s in zip(centre, scales, strict=True)]
            x[7] = 0.5 * x[7] + 0.5 * x[0]
            rows.append((label, [(j + 1, f"{v:.3f}") for j, v in enumerate(x)]))
        yield rows


def separable(rng: random.Random, sizes: tuple[int, ...]) -> Iterator[list[Row]]:
    """Rows on both sides of a hyperplane through 0, none near it.

    Values are multiples of 1/16, about half of them zero: sums of their products are
    exact in any order.
    """
    width = 20
    hidden = [below(rng, 9) - 4 for _ in range(width)]
    for size in sizes:
        rows: list[Row] = []
        while len(rows) < size:
            x = [below(rng, 33) - 16 if rng.random() < 0.5 else 0 for _ in range(width)]
            score = sum(h * v for h, v in zip(hidden, x, strict=True))
            if abs(score) >= 16:
                pairs = [(j + 1, f"{v / 16:g}") for j, v in enumerate(x) if v]
                rows.append((1 if score > 0 else -1, pairs))
        yield rows


def plane(
    centre: tuple[float, float], gap: float
) -> Callable[[random.Random, tuple[int, ...]], Iterator[list[Row]]]:
    """Two clouds of equal size in the plane, about ``centre`` and its mirror image in (1, 0).

    Points beyond the line half-way between the centres, or closer to it than ``gap``, are drawn
    again. A positive gap separates the classes by twice its value.
    """
    norm = math.sqrt(centre[0] * centre[0] + centre[1] * centre[1])

    def make(rng: random.Random, sizes: tuple[int, ...]) -> Iterator[list[Row]]:
        for size in sizes:
            rows: list[Row] = []
            while len(rows) < size:
                label = 1 if len(rows) % 2 == 0 else -1
                offset = [c + 0.8 * normal(rng) for c in centre]
                if (offset[0] * centre[0] + offset[1] * centre[1]) / norm >= gap:
                    x = (1.0 + label * offset[0], label * offset[1])
                    rows.append((label, [(j + 1, f"{v:.3f}") for j, v in enumerate(x)]))
            yield rows

    return make


def gaussians(
    centre: tuple[float, float],
) -> Callable[[random.Random, tuple[int, ...]], Iterator[list[Row]]]:
    """Two Gaussians in the plane, a point of each in turn.

    Class +1 has mean 0, variances 1 and covariance -0.9; class -1 has the mean ``centre`` and the
    identity.
    """
    across = math.sqrt(1.0 - 0.9 * 0.9)

    def make(rng: random.Random, sizes: tuple[int, ...]) -> Iterator[list[Row]]:
        for size in sizes:
            rows: list[Row] = []
            while len(rows) < size:
                label = 1 if len(rows) % 2 == 0 else -1
                first, second = normal(rng), normal(rng)
                if label == 1:
                    x = (first, -0.9 * first + across * second)
                else:
                    x = (centre[0] + first, centre[1] + second)
                rows.append((label, [(j + 1, f"{v:.3f}") for j, v in enumerate(x)]))
            yield rows

    return make


SETS: dict[str, tuple[int, tuple[int, ...], Callable[..., Iterator[list[Row]]]]] = {
    "tiny-sparse": (1, (400, 200), sparse),
    "tiny-dense": (2, (300, 150), dense),
    "tiny-separable": (3, (200,), separable),
    "plane-separable": (4, (200,), plane((1.2, 1.6), 0.3)),
    "plane-overlapping": (5, (200,), plane((0.6, 0.8), -math.inf)),
    "gaussians-separable": (6, (200,), gaussians((3.0, 6.0))),
    "gaussians-overlapping": (7, (200,), gaussians((1.0, 2.0))),
}
"""Seed, rows of train and test file, and generator of each set."""


def text(rows: list[Row]) -> str:
    """LIBSVM text of rows."""
    lines = (
        " ".join([f"{label:+d}", *(f"{index}:{value}" for index, value in pairs)])
        for label, pairs in rows
    )
    return "".join(f"{line}\n" for line in lines)


def contents() -> dict[str, bytes]:
    """The bytes of all files, by name."""
    files = {}
    for name, (seed, sizes, make) in SETS.items():
        for suffix, rows in zip(("", ".t"), make(random.Random(seed), sizes), strict=False):
            files[f"{name}{suffix}.libsvm"] = text(rows).encode("ascii")
    return files


def main() -> None:
    """Write the files into the folder named on the command line."""
    default = Path(__file__).resolve().parent.parent / "datasets" / "tiny"
    parser = argparse.ArgumentParser(description="Generate the tiny data sets, the same each time.")
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="%(default)s")
    folder = parser.parse_args().folder
    for name, content in contents().items():
        with replacing(folder / name, "wb") as stream:
            stream.write(content)


if __name__ == "__main__":
    main()
