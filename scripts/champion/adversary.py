"""Generated problems that try to make a fit choose badly among its methods.

Each seed draws one problem of every kind: its size, its noise, its lambda and its rows. The scripts
of scripts/train/ measure fits on them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from unseen import dense_set, sparse_set

from svmbench.data.dataset import Array, Dataset
from svmbench.problem import Problem

#: Rows, entries of a matrix before zeros are dropped, and lambda.
ROWS, MOST_ENTRIES, LAMBDAS = (500.0, 50_000.0), 8e6, (1e-7, 1e-3)


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
