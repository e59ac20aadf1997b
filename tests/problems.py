"""Small problems for tests, and runs on them: the eight storages, dyadic data, edge cases.

Dyadic data are multiples of 1/16: every product and sum the tests make of them is
exact in both precisions, so that the order of a summation cannot matter and a tie
cannot flip.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from svmbench.data import libsvm
from svmbench.data.dataset import Dataset, Provenance
from svmbench.names import HINGES, LOSSES
from svmbench.problem import Loss, Problem

STORAGES = (
    "uint16+ones",
    "uint16+float32",
    "uint16+float64",
    "int32+ones",
    "int32+float32",
    "int32+float64",
    "dense float32",
    "dense float64",
)
PRECISIONS = ("float64", "float32")

every_storage = pytest.mark.parametrize("storage", STORAGES)
every_precision = pytest.mark.parametrize("precision", PRECISIONS)


def at_start(solver, problem, seed=1, **parameters):
    """A run of the solver at its start."""
    run = solver(solver.schema(**parameters))
    run.start(problem, seed)
    return run


def dataset(X, y, storage="uint16+float64", name="made"):
    """A data set of the dense rows ``X``, stored in the form that ``storage`` names.

    A storage of ones holds the pattern of X and drops its values.
    """
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y, dtype=np.int8)
    m, d = X.shape
    if storage.startswith("dense"):
        values = np.ascontiguousarray(X, dtype=storage.split()[1])
        return Dataset(name, d, None, None, values, y, Provenance("test", ""))
    index_type, value_type = storage.split("+")
    rows, columns = np.nonzero(X)
    indptr = np.zeros(m + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=m), out=indptr[1:])
    values = None if value_type == "ones" else X[rows, columns].astype(value_type)
    return Dataset(name, d, indptr, columns.astype(index_type), values, y, Provenance("test", ""))


def scaled(m, scale, seed=0, d=3):
    """Noisy rows whose first column is scaled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0.0, 1, -1)
    X[:, 0] *= scale
    return dataset(X, y, "dense float64")


def longest(problem):
    """The largest ||x||."""
    return math.sqrt(problem.data.rows.norms2().max())


def dense(data):
    """The rows of a data set as a dense float64 array, shape (m, d)."""
    m, d = data.n_samples, data.n_features
    if data.indices is None:
        return data.values.astype(np.float64)
    X = np.zeros((m, d))
    rows = np.repeat(np.arange(m), np.diff(data.indptr))
    X[rows, data.indices] = 1.0 if data.values is None else data.values
    return X


def labels(data):
    """The labels as float64, shape (m,)."""
    return data.labels.astype(np.float64)


def assert_close(found, expected, rtol=1e-7, atol=0.0, **more):
    """What `np.testing.assert_allclose` asserts, in a tenth of its time where it holds."""
    one, other = np.asarray(found), np.asarray(expected)
    if one.shape == other.shape:
        with np.errstate(all="ignore"):
            near = np.abs(one - other) <= atol + rtol * np.abs(other)
        if np.all(near & np.isfinite(other)):
            return
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, **more)


def assert_bounds(primal, problem, w, bias=0.0):
    """This is P(w, b), but for its rounding, and that of adding what it allows for."""
    computed = problem.primal(w, bias)
    allowed = problem.rounding(computed, w, bias)
    assert abs(primal - computed) <= allowed + math.ulp(primal)


def dyadic(seed, m, d, density=0.5, largest=32):
    """Seeded rows of multiples of 1/16 up to largest/16, labels at random: X, y."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-largest, largest + 1, size=(m, d)) / 16.0
    X[rng.random((m, d)) >= density] = 0.0
    return X, rng.choice([-1, 1], size=m)


def _sparse():
    rng = np.random.default_rng(11)
    X = rng.exponential(size=(60, 40)) * (rng.random((60, 40)) < 0.12)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-9)[:, None]
    noise = 0.3 * rng.normal(size=60)
    y = np.where(X @ rng.normal(size=40) + noise > 0.0, 1, -1)
    return Problem(dataset(X, y, "uint16+float64", "sparse"), 2.0**-6)


def _overlapping():
    rng = np.random.default_rng(12)
    y = np.where(rng.random(50) < 0.4, 1, -1)
    X = 0.1 * y[:, None] * rng.normal(size=8) + rng.normal(size=(50, 8)) / np.sqrt(8.0)
    return Problem(dataset(X, y, "dense float32", "overlapping"), 2.0**-5)


def _separable():
    rng = np.random.default_rng(13)
    direction = rng.normal(size=10)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(40, 10)) / np.sqrt(10.0)
    y = np.where(X @ direction > 0.0, 1, -1)
    X += 0.5 * y[:, None] * direction
    return Problem(dataset(X, y, "int32+float64", "separable"), 2.0**-4)


@cache
def ordinary_problems():
    """Sparse, dense and overlapping, separable: hinge problems by name."""
    made = (_sparse(), _overlapping(), _separable())
    return {problem.data.name: problem for problem in made}


@cache
def edge_problems():
    """Legal problems that have tripped solvers: hinge problems by name."""
    X, y = dyadic(21, 24, 6)
    holes = X.copy()
    holes[::3] = 0.0
    unseen = X.copy()
    unseen[:, [0, 3, 5]] = 0.0
    wide, wide_y = dyadic(22, 5, 60)
    cases = {
        "zero-rows": (holes, y),
        "only-zero-rows": (np.zeros((4, 3)), [1, -1, 1, 1]),
        "one-class": (X, np.ones(24)),
        "one-against-many": (X, np.where(np.arange(24) == 0, 1, -1)),
        "duplicate-rows": (np.repeat(X[:4], 6, axis=0), np.repeat([1, -1, -1, 1], 6)),
        "contradicting-rows": (np.repeat(X[:12], 2, axis=0), np.tile([1, -1], 12)),
        "more-features-than-rows": (wide, wide_y),
        "one-row": (X[:1], y[:1]),
        "unseen-features": (unseen, y),
    }
    return {
        name: Problem(dataset(rows, signs, name=name), 2.0**-4)
        for name, (rows, signs) in cases.items()
    }


#: All of them, by name.
PROBLEMS = {**ordinary_problems(), **edge_problems()}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def with_loss(problem, name, gamma=0.5):
    """The same problem with another loss."""
    return with_class(problem, name, gamma=gamma)


@cache
def with_class(problem, loss="hinge", bias="none", l1_radius=math.inf, gamma=0.5):
    """The same rows and lambda with another loss, bias and ball."""
    return Problem(problem.data, problem.lam, Loss(loss, gamma), bias, l1_radius)


def weighted(problem):
    """The same problem with weights of rows, whose mean is 1."""
    c = np.random.default_rng(7).exponential(size=problem.data.n_samples) + 0.1
    return replace(problem, row_weights=c / c.mean())


def has_both_classes(problem):
    """Whether the problem exists with a free bias."""
    return len(set(problem.data.labels.tolist())) == 2


dyadic_numbers = st.integers(-32, 32).map(lambda k: k / 16.0)
gammas = st.sampled_from([2.0**-20, 0.125, 0.5, 1.0, 2.0, 7.5])
losses = st.builds(Loss, st.sampled_from(HINGES), gammas)
all_losses = st.builds(Loss, st.sampled_from(LOSSES), gammas)


@st.composite
def dyadic_problems(draw, max_rows=8, max_features=5):
    """Hinge problems of few dyadic rows, zero rows among them, lambda a power of two."""
    m = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, max_features))
    row = st.one_of(st.just([0.0] * d), st.lists(dyadic_numbers, min_size=d, max_size=d))
    X = draw(st.lists(row, min_size=m, max_size=m))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m))
    lam = 2.0 ** draw(st.integers(-8, 1))
    return Problem(dataset(X, y, draw(st.sampled_from(["uint16+float64", "dense float32"]))), lam)


def read_libsvm(path, *, n_features=None, positive=None, dtype=None):
    """A file of LIBSVM text as a data set; the larger of two labels is +1 unless given."""
    text = libsvm.parse_libsvm(Path(path), n_features=n_features, dtype=dtype)
    if positive is None:
        positive = libsvm.positive_labels(text)
    else:
        positive = positive if isinstance(positive, tuple | list) else (positive,)
        libsvm.require_positive(text, positive)
    return libsvm.to_dataset(
        text,
        name=libsvm.plain_name(Path(path)),
        n_features=n_features or text.max_index,
        positive=positive,
        dtype=dtype,
    )
