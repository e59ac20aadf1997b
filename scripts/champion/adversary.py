"""Generated problems that try to make `auto` choose badly: its cost over that of its best method.

Each seed draws one problem of every kind: its size, its noise, its lambda and its rows. What a rule
was written with is thus never what it is judged by: take other seeds. `auto` and its own methods
run in turns, in one thread, until their own stopping rule certifies the gap `--tolerance`. The
table has CPU milliseconds (start and certificate included; the least of the repeats, which all do
the same) and the ratios of CPU time and of work (entries read or written; factorisations and outer
products are not in it). A method ends at `--patience` times the best so far. Problems that no
method solves in `--most` CPU seconds are named and left out of the summary.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from unseen import METHODS, Cost, Method, dense_set, run, shown, sparse_set

from svmbench.data.dataset import Array, Dataset
from svmbench.durable import write_text
from svmbench.problem import Problem
from svmbench.solvers.cholesky import load

#: Rows, entries of a matrix before zeros are dropped, and lambda.
ROWS, MOST_ENTRIES, LAMBDAS = (500.0, 50_000.0), 8e6, (1e-7, 1e-3)

#: CPU seconds from which a run is hardly disturbed by others.
LONG = 2e-3


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number whose logarithm is uniform."""
    return float(low * (high / low) ** rng.random())


def shape(
    rng: np.random.Generator, low: float, high: float, most: float = 2000.0
) -> tuple[int, int]:
    """Rows, and columns that are this share of the rows, 5 to ``most``."""
    m = between(rng, *ROWS)
    d = min(max(5.0, m * between(rng, low, high)), most, MOST_ENTRIES / m)
    return int(m), int(d)


def signs(rng: np.random.Generator, X: Array, noise: float) -> Array:
    """Signed distances to a random plane, with noise that is so many times the signal."""
    scores: Array = X @ rng.normal(size=X.shape[1])
    scores += noise * scores.std() * rng.normal(size=len(X)) - np.median(scores)
    return scores


def short_rows(rng: np.random.Generator) -> Dataset:
    """Ones, some columns far more often than others."""
    m, d = shape(rng, 0.003, 0.3)
    often = (np.arange(d) + between(rng, 1.0, 20.0)) ** -between(rng, 0.5, 1.5)
    often *= between(rng, 3.0, 25.0) / often.sum()
    X = (rng.random((m, d)) < often).astype(float)
    return sparse_set("short rows", X, signs(rng, X, between(rng, 0.1, 3.0)))


def categories(rng: np.random.Generator) -> Dataset:
    """Some columns of categories, a feature for each category."""
    m = int(between(rng, *ROWS))
    sizes = np.floor(10.0 ** rng.uniform(0.3, between(rng, 1.0, 2.5), rng.integers(5, 30)))
    sizes = sizes.astype(int)
    codes = np.floor(sizes * rng.random((m, len(sizes))) ** between(rng, 1.0, 4.0)).astype(int)
    X = np.zeros((m, sizes.sum()))
    np.put_along_axis(X, codes + np.cumsum(sizes) - sizes, 1.0, axis=1)
    return sparse_set("categories", X, signs(rng, X, between(rng, 0.1, 3.0)))


def dense(rng: np.random.Generator) -> Dataset:
    """Normal rows and some noise."""
    m, d = shape(rng, 0.001, 0.3, 600.0)
    X = rng.normal(size=(m, d))
    return dense_set("dense", X, signs(rng, X, between(rng, 0.05, 2.0)))


def few_informative(rng: np.random.Generator) -> Dataset:
    """Few of the columns matter."""
    m, d = shape(rng, 0.01, 0.5, 600.0)
    X = rng.normal(size=(m, d))
    X[rng.random((m, d)) < rng.choice([0.0, 0.5, 0.9])] = 0.0
    y = signs(rng, X[:, : rng.integers(2, 6)], between(rng, 0.05, 2.0))
    return sparse_set("few informative", X, y)


def heavy_noise(rng: np.random.Generator) -> Dataset:
    """Up to half of the labels are wrong."""
    m, d = shape(rng, 0.001, 0.3, 300.0)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < between(rng, 0.05, 1.0))
    y = signs(rng, X, 0.0)
    return sparse_set("heavy noise", X, np.where(rng.random(m) < rng.uniform(0.1, 0.5), -y, y))


def separable(rng: np.random.Generator) -> Dataset:
    """Two classes with a margin between them."""
    m, d = shape(rng, 0.001, 0.3, 300.0)
    X = rng.normal(size=(m, d)) / np.sqrt(d)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    y = np.sign(X @ direction)
    X += between(rng, 0.003, 0.3) / np.sqrt(d) * y[:, None] * direction
    return dense_set("separable", X, y)


def nearly_separating(rng: np.random.Generator) -> Dataset:
    """A plane separates nearly all rows, because there are many columns."""
    m, d = shape(rng, 0.1, 0.5, 800.0)
    m = min(m, 10 * d)
    X = rng.normal(size=(m, d))
    return dense_set("nearly separating", X, signs(rng, X, between(rng, 0.05, 1.0)))


def wide(rng: np.random.Generator) -> Dataset:
    """As many columns as rows, or so."""
    m = int(between(rng, 500.0, 3000.0))
    d = min(int(m * between(rng, 0.5, 2.0)), 3000)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < between(rng, 0.02, 0.5))
    return sparse_set("wide", X, signs(rng, X, between(rng, 0.1, 2.0)))


def near_duplicates(rng: np.random.Generator) -> Dataset:
    """Sparse rows, and slightly changed copies of each."""
    m, d = shape(rng, 0.003, 0.1, 500.0)
    copies = int(between(rng, 2.0, 30.0))
    X = rng.exponential(size=(m // copies + 1, d)) * (
        rng.random((m // copies + 1, d)) < between(rng, 0.03, 0.5)
    )
    y = np.repeat(signs(rng, X, between(rng, 0.1, 2.0)), copies)
    X = np.repeat(X, copies, axis=0)
    X *= 1.0 + between(rng, 1e-3, 0.1) * rng.normal(size=X.shape)
    return sparse_set("near duplicates", X, y)


def blocks(rng: np.random.Generator) -> Dataset:
    """Each row has entries in one block of the columns, and in a few common ones."""
    m, d = shape(rng, 0.005, 0.2, 1000.0)
    many = int(rng.integers(2, 20))
    X = rng.normal(size=(m, d)) + rng.normal(size=d)
    block = rng.integers(0, many, m)
    X[(block[:, None] != np.arange(d) * many // d) & (np.arange(d) >= 3)] = 0.0
    return sparse_set("blocks", X, signs(rng, X, between(rng, 0.1, 2.0)))


def skewed_scales(rng: np.random.Generator) -> Dataset:
    """Columns whose scales differ by orders of magnitude."""
    m, d = shape(rng, 0.001, 0.05, 100.0)
    X = rng.normal(size=(m, d))
    y = signs(rng, X, between(rng, 0.1, 2.0))
    width = rng.uniform(0.3, 2.0)
    return dense_set("skewed scales", X * 10.0 ** rng.uniform(-width, width, size=d), y)


def text(rng: np.random.Generator) -> Dataset:
    """Rare and common words, weighted, in rows of length 1."""
    m, d = shape(rng, 0.1, 1.0, 4000.0)
    often = (1.0 + np.arange(d)) ** -between(rng, 0.7, 1.2)
    X = (rng.random((m, d)) < np.minimum(1.0, between(rng, 20.0, 100.0) * often / often.sum())) * (
        1.0 + np.log(1.0 / often)
    )
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    return sparse_set("text", X, signs(rng, X, between(rng, 0.1, 1.0)))


def low_rank(rng: np.random.Generator) -> Dataset:
    """Cosines of few numbers."""
    m, d = shape(rng, 0.005, 0.1, 500.0)
    rank = int(rng.integers(2, 12))
    Z = rng.normal(size=(m, rank))
    X = np.cos(Z @ rng.normal(size=(rank, d)) + rng.uniform(0.0, 2.0 * np.pi, d)) / np.sqrt(d)
    y = np.sin(2.0 * Z[:, 0]) + Z[:, 0] * Z[:, 1] + between(rng, 0.05, 1.0) * rng.normal(size=m)
    return dense_set("low rank", X, y)


def heavy_tails(rng: np.random.Generator) -> Dataset:
    """A few large entries, and correlated columns."""
    m, d = shape(rng, 0.001, 0.05, 200.0)
    X = rng.standard_t(between(rng, 1.5, 6.0), size=(m, d)) + rng.normal(size=(m, 1))
    return dense_set("heavy tails", X, signs(rng, X, between(rng, 0.1, 2.0)))


def rare_class(rng: np.random.Generator) -> Dataset:
    """One class has few of the rows."""
    m, d = shape(rng, 0.001, 0.2, 500.0)
    X = rng.exponential(size=(m, d)) * (rng.random((m, d)) < between(rng, 0.03, 0.5))
    y = signs(rng, X, between(rng, 0.1, 2.0))
    return sparse_set("rare class", X, y - np.quantile(y, 1.0 - between(rng, 0.01, 0.3)))


KINDS: tuple[Callable[[np.random.Generator], Dataset], ...] = (
    short_rows,
    categories,
    dense,
    few_informative,
    heavy_noise,
    separable,
    nearly_separating,
    wide,
    near_duplicates,
    blocks,
    skewed_scales,
    text,
    low_rank,
    heavy_tails,
    rare_class,
)


def drawn(kind: int, seed: int) -> Problem:
    """The problem that this seed has of a kind."""
    rng = np.random.default_rng((seed, kind))
    lam = between(rng, *LAMBDAS)
    return Problem(KINDS[kind](rng), lam)


class Row(NamedTuple):
    """The least costs of one problem."""

    seed: int
    problem: Problem
    costs: dict[Method, Cost]

    def ratio(self, of: str) -> float:
        """Cost of auto over that of its best own method; nan where none ended."""
        best = min(getattr(self.costs[method], of) for method in METHODS[1:])
        return getattr(self.costs["choose"], of) / best if best < math.inf else math.nan

    def line(self) -> str:
        """A line of the table."""
        data, lam = self.problem.data, self.problem.lam
        numbers = [data.n_samples, data.n_features, f"{data.nnz / data.n_samples:.0f}"]
        cells = [f"{data.name}, {self.seed}", *numbers, f"{lam:.0e}"]
        cells += [shown(1e3 * self.costs[method].seconds, 1) for method in METHODS]
        cells += [shown(self.ratio("seconds")), shown(self.ratio("work"))]
        return "| " + " | ".join(map(str, [*cells, self.costs["choose"].remark])) + " |"


def measured(kind: int, seed: int, given: argparse.Namespace) -> Row:
    """Run all methods in turn, several times."""
    problem = drawn(kind, seed)
    costs = dict.fromkeys(METHODS, Cost(math.inf, math.inf, ""))
    least = given.most / given.patience
    for _ in range(given.repeats):
        for method in METHODS:
            cost = run(problem, method, given.tolerance, seed, given.patience * least)
            costs[method] = min(costs[method], cost)
            least = min(least, cost.seconds)
    return Row(seed, problem, costs)


def summary(rows: Sequence[Row]) -> str:
    """Median, ninth decile and worst of the ratios, of all problems and of those that take long."""
    lines = []
    long = [row for row in rows if min(cost.seconds for cost in row.costs.values()) > LONG]
    kinds: tuple[tuple[str, Sequence[Row]], ...]
    kinds = (("seconds", rows), ("seconds", long), ("work", rows))
    for of, some in kinds:
        known = sorted(row.ratio(of) for row in some if not math.isnan(row.ratio(of)))
        if known:
            tenth = known[int(0.9 * (len(known) - 1))]
            mean = math.exp(statistics.fmean(map(math.log, known)))
            above = f", on those that take {1e3 * LONG:g} ms" if some is long else ""
            lines.append(
                f"auto over its best own, {of}{above}: median {statistics.median(known):.2f}, "
                f"mean {mean:.3f}, nine in ten up to {tenth:.2f}, worst {known[-1]:.2f}, "
                f"{sum(each > 1.25 for each in known)} of {len(known)} above 1.25\n"
            )
    unsolved = [f"{row.problem.data.name}, {row.seed}" for row in rows
                if math.isnan(row.ratio("seconds"))]  # fmt: skip
    if unsolved:
        lines.append(f"no method ended: {'; '.join(unsolved)}\n")
    return "".join(lines)


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--kinds", nargs="+", help="first words of the names of kinds; all kinds")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=3.0, help="CPU seconds of one run")
    parser.add_argument("--patience", type=float, default=3.0)
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    return parser.parse_args()


def main() -> None:
    """Measure each kind with each seed, and print the table."""
    given = arguments()
    load()
    titles = ["kind, seed", "m", "d", "entries per row", "λ"]
    titles += [f"{method}, ms" for method in METHODS] + ["time", "work", "auto chose"]
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    print("\n".join(lines), flush=True)
    rows = []
    for seed in given.seeds:
        for kind, make in enumerate(KINDS):
            name = make.__name__.replace("_", " ")
            if not given.kinds or any(name.startswith(word) for word in given.kinds):
                rows.append(measured(kind, seed, given))
                lines.append(rows[-1].line())
                print(lines[-1], flush=True)
    text = summary(rows)
    print(text, end="")
    if given.out:
        write_text(given.out, "\n".join([*lines, "", text]))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
