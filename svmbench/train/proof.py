"""What dual variables prove once the rounding of w(alpha) is allowed for.

`Problem.dual` computes D(alpha) in double precision. Where a column holds numbers many orders of
magnitude larger than the others, w(alpha) is a small difference of large sums, and D(alpha) may
come out larger than it is. The bound on the rounding is the usual one, n u sum |alpha_i x_ij| for
a sum of n terms (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.kernels import objective
from svmbench.problem import HINGES, Problem

#: Unit roundoff of double precision.
UNIT = float(np.finfo(np.float64).eps) / 2.0

#: Stored entries, or features if there are more, that are summed before their sums are added up
#: with compensation.
BLOCK_ENTRIES = 1 << 16

#: Factor for the rounding of the bounds themselves.
_SAFE = 1.01


def proven_dual(problem: Problem, alpha: FloatArray) -> float:
    """A lower bound on P*: D(alpha) less what rounding may have added to it.

    Parameters
    ----------
    problem : Problem
        Without a ball.
    alpha : ndarray of float64, shape (m,)

    Returns
    -------
    float
        -inf where alpha is not feasible, or where the bound overflows.
    """
    if problem.dual(alpha) == -math.inf:
        return -math.inf
    data, loss = problem.data, problem.loss
    nu = loss.nu if loss.name in HINGES else 0.0
    total = problem.conjugate_sum(alpha)
    # The conjugates are sums of terms no larger than these.
    counted = problem.counted(alpha)
    terms = float(np.sum(counted + nu * counted * alpha)) + abs(total)
    with np.errstate(over="ignore", invalid="ignore"):
        sums, sizes, longest = _combined(data, counted)
        off = (longest + 5.0) * UNIT * sizes
        if problem.bias == "free":
            # Scaling the class with the larger sum down by this share balances alpha exactly; the
            # conjugates are concave and 0 at 0, so that theirs fall by no larger share.
            positive, negative = objective.balance(data.rows, counted)
            larger = max(positive, negative)
            share = abs(positive - negative) / larger + 4.0 * UNIT if larger > 0.0 else 0.0
            off += share * sizes
            total -= share * terms
        scale = problem.lam * data.n_samples
        w, off = sums / scale, _SAFE * off / scale
        squares = w * w
        if not (np.isfinite(squares).all() and np.isfinite(off).all()):
            return -math.inf
        norm2 = (1.0 + 8.0 * UNIT) * math.fsum(squares)
        norm2 += _SAFE * float(np.abs(w) @ (2.0 * off) + off @ off)
    proven = (total - 8.0 * UNIT * terms) / data.n_samples - 0.5 * problem.lam * norm2
    return proven - 4.0 * UNIT * abs(proven) if proven > -math.inf else -math.inf


def _combined(data: Dataset, alpha: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Sum alpha_i y_i x_i, sum |alpha_i x_i|, and the most rows that were summed naively."""
    d, longest = data.n_features, 0
    sums, lost, sizes = np.zeros(d), np.zeros(d), np.zeros(d)
    signed = alpha * data.labels
    for first, last in _blocks(data):
        part, size = _block_sums(data, signed, first, last)
        total = sums + part
        virtual = total - sums
        lost += (sums - (total - virtual)) + (part - virtual)  # Knuth's error of a sum
        sums = total
        sizes += size
        longest = max(longest, last - first)
    return sums + lost, sizes, longest


def _block_sums(
    data: Dataset, signed: FloatArray, first: int, last: int
) -> tuple[FloatArray, FloatArray]:
    weights = signed[first:last]
    if data.indptr is None or data.indices is None:
        assert data.values is not None
        block = np.asarray(data.values[first:last], dtype=np.float64)
        return weights @ block, np.abs(weights) @ np.abs(block)
    begin, end = int(data.indptr[first]), int(data.indptr[last])
    products = np.repeat(weights, np.diff(data.indptr[first : last + 1]))
    if data.values is not None:
        products *= data.values[begin:end]
    columns: Array = data.indices[begin:end]
    d = data.n_features
    return (
        np.asarray(np.bincount(columns, products, minlength=d), dtype=np.float64),
        np.asarray(np.bincount(columns, np.abs(products), minlength=d), dtype=np.float64),
    )


def _blocks(data: Dataset) -> Iterator[tuple[int, int]]:
    """Consecutive rows, by their first and the one after their last."""
    m, d = data.n_samples, data.n_features
    most = max(BLOCK_ENTRIES, d)
    if data.indptr is None:
        step = max(1, most // max(1, d))
        yield from ((first, min(first + step, m)) for first in range(0, m, step))
        return
    first = 0
    while first < m:
        reach = int(np.searchsorted(data.indptr, data.indptr[first] + most, side="right")) - 1
        last = min(max(reach, first + 1), m)
        yield first, last
        first = last
