"""Newton steps of dual coordinate descent in the subspace of its free rows, where these are few.

With the dual variables at a bound held there, D is a quadratic of the n others, whose Hessian is
their Gram matrix: a factor of it gives its maximum at once, however badly it is conditioned. The
step is cut at the box, as in the projected Newton method of Bertsekas (SIAM J. Control Optim. 20,
1982); passes of descent between the steps find the face, as in Moré and Toraldo (SIAM J. Optim. 1,
1991).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
from scipy.linalg.lapack import dpotrf, dpotrs  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.counters import Counters
from svmbench.kernels.normal import weighted_gram
from svmbench.kernels.objective import combination
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.subset import take_rows

#: Most free rows for which their Gram matrix is formed.
MOST_ROWS = 5000

#: A multiply-add, relative to the time per entry of a pass: in a factorisation, in the products of
#: dense rows, and in those of sparse ones, which is scattered: the last is rounded from rows of
#: spam_corpus, reuters21578 and imdb.tfidf.
FACTOR_COST, DENSE_PRODUCT_COST, SPARSE_PRODUCT_COST = 0.025, 0.05, 2.0

#: Share of the work of all passes that these steps may cost.
SHARE = 0.25

#: The free rows are counted again after passes that touched so many entries per row, and so large a
#: share of all entries touched so far. To count them takes the time of some 20 entries per row.
ENTRIES_A_ROW, LOOK_SHARE = 400, 0.05

#: Shares of its diagonal that are added to the Gram matrix until it has a factor.
RIDGES = (1e-15, 1e-13, 1e-11, 1e-9)

#: Most factorisations of a step, and most halvings of one cut at the box.
FACTORS, HALVINGS = 20, 12

#: Least rise of D in a step that the box cuts, as a share of that to first order.
LEAST_RISE = 1e-4

#: Share of D that rounding may take from it in a step.
ROUNDING = 1e-12


class Subspace:
    """Maxima of D over the free rows, while they cost little beside the passes.

    Parameters
    ----------
    rows : CompactRows
    lam : float

    Attributes
    ----------
    solved : bool
        Whether the last step reached the maximum over the rows that were free.
    """

    def __init__(self, rows: CompactRows, lam: float) -> None:
        self._rows, self._lam_m = rows, lam * rows.m
        self._work, self._next, self._paid = 0.0, 0.0, 0.0
        self.solved = False

    def may_step(self, touched: int) -> bool:
        """Whether `step` is to be called after a pass that touched so many entries."""
        self._work += touched
        return self._work >= self._next

    def step(
        self, active: Array, alpha: FloatArray, w: FloatArray, counters: Counters
    ) -> float | None:
        """Move alpha and w in place; return the change of the sum of alpha, or None.

        Parameters
        ----------
        active : ndarray of int32
            Rows among which the free ones are.
        alpha : ndarray of float64, shape (m,)
        w : ndarray of float64, shape (d,)
            w(alpha), kept so.
        counters : Counters
            Entries that the step touches are added to these.
        """
        rows, self.solved = self._rows, False
        self._next = self._work + max(ENTRIES_A_ROW * rows.m, LOOK_SHARE * self._work)
        some = alpha[active]
        free = active[(some > 0.0) & (some < 1.0)]
        allowed = SHARE * self._work - self._paid
        if not 0 < len(free) <= MOST_ROWS or factor_cost(len(free)) > allowed:
            return None
        part = take_rows(rows, free)
        products = product_cost(part)
        if products + factor_cost(len(free)) > allowed:
            return None
        gram = products_of(part, 1.0 / self._lam_m)
        self._paid += products
        counters.presentations += 3 * len(free)
        counters.nonzeros += 3 * _entries(part)
        before = alpha[free]
        gradient = part.labels * part.dot(w[: rows.d]) - 1.0
        after, factors, solved = maximum(gram, before, gradient, allowed - products)
        self._paid += factors
        change = after - before
        moved = combination(part, change) / self._lam_m
        # D rises by the sum of the changes, less what the norm of w grows by.
        rise = float(change.sum()) - self._lam_m * float(moved @ (w[: rows.d] + 0.5 * moved))
        size = float(np.abs(alpha).sum()) + self._lam_m * float(w @ w)
        if not rise >= -ROUNDING * size:
            return None
        alpha[free] = after
        w[: rows.d] += moved
        self.solved = solved
        return float(change.sum())


def products_of(rows: CompactRows, scale: float) -> FloatArray:
    """The matrix scale y_i y_j x_i.x_j of these rows, shape (m, m).

    Of sparse rows it is the sum over the columns of their outer products, unless BLAS takes less
    time for all of it: a product that no column contributes to costs nothing.
    """
    labels = np.asarray(rows.labels, dtype=np.float64)
    if rows.indptr is None:
        return _through_blas(labels[:, None] * rows.values, scale)
    signs = np.repeat(labels, np.diff(rows.indptr))
    values = signs if rows.values is None else signs * rows.values
    shape = (rows.m, rows.d)
    matrix = scipy.sparse.csr_matrix((values, rows.indices.astype(np.int32), rows.indptr), shape)
    if _dense_cost(rows) < _scattered_cost(rows):
        return _through_blas(matrix.toarray(), scale)
    turned = matrix.tocsc()  # its columns have ascending rows
    kept = np.flatnonzero(np.diff(turned.indptr))
    starts = np.append(turned.indptr[kept], turned.indptr[-1]).astype(np.int64)
    ones = np.ones(len(kept), dtype=np.int8)
    columns = CompactRows(rows.m, starts, turned.indices.astype(np.int32), turned.data, ones)
    gram = np.zeros((rows.m, rows.m))
    weighted_gram(columns, np.full(len(kept), scale), gram)
    gram += np.triu(gram, 1).T
    return gram


def product_cost(rows: CompactRows) -> float:
    """Cost of `products_of`, in entries of a pass."""
    return min(_dense_cost(rows), _scattered_cost(rows))


def _through_blas(dense: FloatArray, scale: float) -> FloatArray:
    gram: FloatArray = dense @ dense.T
    gram *= scale
    return gram


def _dense_cost(rows: CompactRows) -> float:
    return DENSE_PRODUCT_COST * float(rows.m * rows.m * rows.d)


def _scattered_cost(rows: CompactRows) -> float:
    if rows.indptr is None:
        return math.inf
    columns: FloatArray = np.bincount(rows.indices).astype(np.float64)
    return SPARSE_PRODUCT_COST * 0.5 * float(columns @ columns)


def _entries(rows: CompactRows) -> int:
    return rows.m * rows.d if rows.indptr is None else int(rows.indptr[-1])


def factor_cost(n: int) -> float:
    """Cost of a factorisation for n rows, in entries of a pass."""
    return FACTOR_COST * n * n * n / 3.0


def maximum(
    gram: FloatArray, alpha: FloatArray, gradient: FloatArray, most: float
) -> tuple[FloatArray, float, bool]:
    """Maximise D over the given rows by projected Newton steps.

    Parameters
    ----------
    gram : ndarray of float64, shape (n, n)
        Minus the Hessian of m D.
    alpha : ndarray of float64, shape (n,)
        Within [0, 1].
    gradient : ndarray of float64, shape (n,)
        s_i - 1, that of -m D.
    most : float
        Cost beyond which no factorisation follows the first.

    Returns
    -------
    alpha : ndarray of float64, shape (n,)
    cost : float
        Of the factorisations.
    solved : bool
        Whether the last step was not cut.
    """
    cost, whole = 0.0, False
    for _ in range(FACTORS):
        inwards = ((alpha > 0.0) | (gradient < 0.0)) & ((alpha < 1.0) | (gradient > 0.0))
        inside = np.flatnonzero(inwards)
        if not len(inside) or (cost > 0.0 and cost + factor_cost(len(inside)) > most):
            break
        cost += factor_cost(len(inside))
        direction = np.zeros(len(alpha))
        direction[inside] = solution(gram[np.ix_(inside, inside)], -gradient[inside])
        length = cut_length(gram, alpha, gradient, direction)
        new = np.clip(alpha + length * direction, 0.0, 1.0)
        if length == 0.0 or np.array_equal(new, alpha):
            break
        gradient = gradient + gram @ (new - alpha)
        whole = length == 1.0 and np.array_equal(new, alpha + direction)
        alpha = new
        if whole:
            break
    return alpha, cost, whole


def cut_length(
    gram: FloatArray, alpha: FloatArray, gradient: FloatArray, direction: FloatArray
) -> float:
    """The first of 1, 1/2, 1/4, ... at which D rises though the box cuts the step.

    Where there is none, the length at which the first row reaches a bound: up to there D rises.
    """
    for halvings in range(HALVINGS):
        length = math.ldexp(1.0, -halvings)
        change = np.clip(alpha + length * direction, 0.0, 1.0) - alpha
        slope = -float(gradient @ change)
        if slope - 0.5 * float(change @ (gram @ change)) >= LEAST_RISE * slope > 0.0:
            return length
    moving = np.flatnonzero(direction)
    room = np.where(direction > 0.0, 1.0 - alpha, alpha)[moving]
    return float(np.min(room / np.abs(direction[moving]), initial=0.0 if not len(moving) else 1.0))


def solution(system: FloatArray, right: FloatArray) -> FloatArray:
    """The system's solution, its diagonal raised as little as rounding demands; else zeros."""
    diagonal = np.array(np.diagonal(system))
    for ridge in RIDGES:
        np.fill_diagonal(system, diagonal * (1.0 + ridge))
        # In Fortran's order the upper triangle is the lower one.
        factor, failed = dpotrf(system.T, lower=1, clean=0)
        if not failed:
            found, _ = dpotrs(factor, right, lower=1)
            return found if np.isfinite(found).all() else np.zeros(len(right))
    return np.zeros(len(right))
