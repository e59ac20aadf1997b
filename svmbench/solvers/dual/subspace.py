"""Newton steps of dual coordinate descent in the subspace of its free rows, where these are few.

Cut at the box as by Bertsekas (SIAM J. Control Optim. 20, 1982); passes between the steps find the
face, as in Moré and Toraldo (SIAM J. Optim. 1, 1991).
"""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels import normal
from svmbench.kernels.counters import Counters
from svmbench.kernels.objective import combination
from svmbench.kernels.rows import CompactRows, take_rows
from svmbench.solvers.cholesky import factor_cost, raised_factor
from svmbench.solvers.second_order.normal_equations import NormalEquations, costs

#: Most free rows for which their Gram matrix is formed.
MOST_ROWS = 5000

#: Share of the work of all passes that these steps may cost; and where the same rows have been free
#: for half of this work. Each step in turn that missed the maximum halves this share.
SHARE, SAME_ROWS_SHARE = 0.25, 1.0

#: The free rows are counted again after passes that touched so many entries per row, and so large a
#: share of all entries touched so far. To count them takes the time of some 20 entries per row.
ENTRIES_A_ROW, LOOK_SHARE = 400, 0.05

#: Costs per entry, in entries of a pass over sparse rows: an entry in a pass over dense rows; to
#: count a sparse row's columns; to take it, and turn it into columns; to take a dense row.
DENSE, COUNTING, TURNING, TAKING = 0.25, 4.0, 13.0, 2.0

#: Shares of its diagonal that are added to the Gram matrix until it has a factor.
RIDGES = (1e-15, 1e-13, 1e-11, 1e-9)

#: Most factorisations of a step, and most halvings of one cut at the box.
FACTORS, HALVINGS = 20, 12

#: Least rise of D in a step that the box cuts, as a share of that to first order.
LEAST_RISE = 1e-4

#: Share of D that rounding may take from it in a step.
ROUNDING = 1e-12


class Subspace:
    """Maxima of D over the free rows, while they cost little beside the passes."""

    def __init__(self, rows: CompactRows, lam: float) -> None:
        self._rows, self._lam_m = rows, lam * rows.m
        self._entry = DENSE if rows.indptr is None else 1.0
        self._products: float | None = None
        self._work, self._next, self._paid = 0.0, 0.0, 0.0
        self._free: Array = np.empty(0, dtype=np.int32)
        self._since, self._failures = 0.0, 0
        self.solved = False

    def may_step(self, touched: int) -> bool:
        """Whether `step` is to be called after a pass that touched so many entries."""
        self._work += self._entry * touched
        return self._work >= self._next

    def step(
        self, active: Array, alpha: FloatArray, w: FloatArray, counters: Counters
    ) -> float | None:
        """Move alpha and w in place; return the change of the sum of alpha, or None."""
        rows, self.solved = self._rows, False
        self._next = self._work + max(ENTRIES_A_ROW * rows.m, LOOK_SHARE * self._work)
        some = alpha[active]
        free = active[(some > 0.0) & (some < 1.0)]
        if not np.array_equal(free, self._free):
            self._free, self._since = free, self._work
        share = SHARE
        if self._since <= 0.5 * self._work:
            share = max(SHARE, math.ldexp(SAME_ROWS_SHARE, -self._failures))
        allowed = share * self._work - self._paid
        if not 0 < len(free) <= MOST_ROWS or not self._affords(factor_cost(len(free)), allowed):
            return None
        if self._products is None:
            if not self._affords(self._counting + factor_cost(len(free)), allowed):
                return None
            self._products = product_cost(rows)
            self._paid += self._counting
            allowed -= self._counting
        products = self._preparation(len(free) / rows.m)
        if not self._affords(products + factor_cost(len(free)), allowed):
            return None
        part = take_rows(rows, free)
        gram = products_of(part, 1.0 / self._lam_m)
        self._paid += products
        counters.presentations += 3 * len(free)
        counters.nonzeros += 3 * part.nnz
        before = alpha[free]
        gradient = part.labels * part.dot(w[: rows.d]) - 1.0
        after, factors, solved = maximum(gram, before, gradient, allowed - products)
        self._paid += factors
        self._failures = 0 if solved else self._failures + 1
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

    @property
    def _counting(self) -> float:
        return 0.0 if self._rows.indptr is None else COUNTING * float(self._rows.nnz)

    def _preparation(self, share: float) -> float:
        """Cost of the products of so large a share of the rows, if their columns are as all are."""
        assert self._products is not None
        entries = share * float(self._rows.nnz)
        each = TAKING if self._rows.indptr is None else TURNING
        return each * entries + share * share * self._products

    def _affords(self, cost: float, allowed: float) -> bool:
        """Whether a cost is allowed; if it is not, none is looked for before it may be."""
        if cost <= allowed:
            return True
        enough = (cost + self._paid) / SAME_ROWS_SHARE
        self._next = max(self._next, min(enough, 2.0 * self._work))
        return False


def products_of(rows: CompactRows, scale: float) -> FloatArray:
    """The matrix scale y_i y_j x_i.x_j of rows: the sum of outer products of their columns."""
    labels = np.asarray(rows.labels, dtype=np.float64)
    if rows.indptr is None:
        signed = labels[:, None] * rows.values
        products: FloatArray = scale * (signed @ signed.T)
        return products
    by_column = np.argsort(rows.indices, kind="stable")
    of_entry = np.repeat(np.arange(rows.m, dtype=np.int32), rows.lengths())[by_column]
    values = labels[of_entry] * (1.0 if rows.values is None else rows.values[by_column])
    counts = np.bincount(rows.indices)
    starts = np.append(0, np.cumsum(counts[counts > 0]))
    columns = CompactRows(rows.m, starts, of_entry, values, np.ones(len(starts) - 1, dtype=np.int8))
    gram = np.triu(NormalEquations(columns).gram(np.full(columns.m, scale)))
    gram += np.triu(gram, 1).T
    return gram


def product_cost(rows: CompactRows) -> float:
    """Cost of `products_of`, in entries of a pass."""
    if rows.indptr is None:
        return costs(None, rows.d, rows.m).least
    lengths = np.bincount(rows.indices)
    return costs(lengths, int(np.count_nonzero(lengths)), rows.m).least


def maximum(
    gram: FloatArray, alpha: FloatArray, gradient: FloatArray, most: float
) -> tuple[FloatArray, float, bool]:
    """Maximise D over the given rows by projected Newton steps."""
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
        slope, curvature = -float(gradient @ change), (gram @ change) @ change
        if slope - 0.5 * float(curvature) >= LEAST_RISE * slope > 0.0:
            return length
    moving = np.flatnonzero(direction)
    room = np.where(direction > 0.0, 1.0 - alpha, alpha)[moving]
    return float(np.min(room / np.abs(direction[moving]), initial=0.0 if not len(moving) else 1.0))


def solution(system: FloatArray, right: FloatArray) -> FloatArray:
    """The system's solution, its diagonal raised as little as rounding demands; else zeros."""
    factor = raised_factor(system, RIDGES)
    if factor is None:
        return np.zeros(len(right))
    found: FloatArray = normal.solution(factor, right)
    return found if np.isfinite(found).all() else np.zeros(len(right))
