"""P, D and errors in extended precision, each with a bound on the rounding error.

Nothing here is shared with the kernels: rows are matrices of SciPy or NumPy, numbers are NumPy's
long doubles (64 bits of mantissa on x86, 113 on some others, 53 where there is nothing longer).

The bounds are first-order worst-case bounds: with u the unit of double precision,

    s_i = y_i (w.x_i + b)   off by (n_i + 3) u (sum_j |w_j x_ij| + |b|) =: e_i
    loss(s_i)               off by slope_i e_i + e_i^2/2 + 4 u (1 + loss(s_i)) max(1, 1/gamma)
    q(alpha_i)              off by 6 u (a sum of the sizes of its terms)
    u_j = w(alpha)_j        off by (c_j + 4) u (sum_i |alpha_i x_ij|)/(lam m) =: f_j

for a row of n_i entries and a column of c_j, with sums in any order. The recomputed value is
rounded too, with the long double's unit in place of u; the bound includes both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, Dataset, FloatArray

LONG = np.longdouble

#: Rounding units: of double precision, and of double and extended precision together.
UNIT = float(np.finfo(np.float64).eps) / 2.0
BOTH = UNIT + float(np.finfo(LONG).eps) / 2.0

#: Doubles end at 1.8e308. A sum whose terms are together as large as this may leave them on its
#: way, whatever the sum is: products of both signs that overflow make it nan.
OVERFLOWING = 1e300

#: Stored entries that are converted to extended precision at a time.
ENTRIES = 1 << 22

#: Share by which w may leave its ball; it is then scaled back onto the ball.
OUTSIDE = 1e-5

#: Relative difference of the two classes' sums of alpha that counts as equal.
UNBALANCED = 1e-12


class Bounded(NamedTuple):
    """A number, and a bound on the deviation of its value computed in double precision."""

    value: float
    rounding: float
    overflows: bool = False  # whether that computation may end in a number that is not finite

    def agrees(self, recorded: float | None) -> bool:
        """Whether the recorded number may be this one; None means it was not finite."""
        if recorded is None or not math.isfinite(recorded):
            return self.overflows or not abs(self.value) < OVERFLOWING
        return math.isfinite(self.value) and abs(recorded - self.value) <= self.rounding

    def deviation(self, recorded: float | None) -> float:
        """Relative deviation of the recorded number; 0 if neither is finite."""
        if recorded is None or not math.isfinite(self.value):
            return 0.0 if self.agrees(recorded) else math.inf
        return abs(recorded - self.value) / max(abs(self.value), 1e-300)

    @property
    def share(self) -> float:
        """The relative deviation that rounding may cause."""
        return self.rounding / abs(self.value) if self.value else math.inf


@dataclass(frozen=True)
class Facts:
    """A problem without its rows, as `svmbench.problem.Problem.facts` records it."""

    lam: float
    loss: str
    gamma: float  # 1 for all but the smoothed hinge
    free_bias: bool
    radius: float  # of the l1 ball; inf without

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Facts:
        """Build them from the mapping in a run's header."""
        radius, gamma = facts["l1_radius"], facts["gamma"]
        return cls(
            float(facts["lambda"]),
            str(facts["loss"]),
            1.0 if gamma is None else float(gamma),
            facts["bias"] == "free",
            math.inf if radius is None else float(radius),
        )

    @property
    def nu(self) -> float:
        """Curvature of a hinge's conjugate, q(alpha) = alpha - nu alpha^2/2."""
        return 0.0 if self.loss == "hinge" else self.gamma

    @property
    def upper(self) -> float:
        """Upper end of the box of alpha."""
        return math.inf if self.loss == "squared-hinge" else 1.0


class Recomputed(NamedTuple):
    """P and the errors of one weight vector.

    Rows so close to the border that rounding may have decided them count in ``most_errors`` only.
    """

    primal: Bounded
    least_errors: int
    most_errors: int


def blocks(data: Dataset) -> Iterator[tuple[slice, Any]]:
    """Blocks of rows: their numbers, and SciPy's matrix of long doubles."""
    m, d = data.n_samples, data.n_features
    if data.indices is None or data.indptr is None:
        assert data.values is not None
        step = max(1, ENTRIES // max(d, 1))
        for first in range(0, m, step):
            rows = slice(first, min(m, first + step))
            yield rows, scipy.sparse.csr_matrix(data.values[rows].astype(LONG))
        return
    first = 0
    while first < m:
        start = int(data.indptr[first])
        last = int(np.searchsorted(data.indptr, start + ENTRIES, side="right")) - 1
        last = min(m, max(last, first + 1))
        end = int(data.indptr[last])
        values = np.ones(end - start, LONG)
        if data.values is not None:
            values = data.values[start:end].astype(LONG)
        columns = data.indices[start:end].astype(np.int32)
        starts = data.indptr[first : last + 1] - start
        shape = (last - first, d)
        yield slice(first, last), scipy.sparse.csr_matrix((values, columns, starts), shape)
        first = last


def losses(facts: Facts, margins: Array) -> tuple[Array, Array]:
    """The loss at each margin, and the size of its slope there."""
    if facts.loss == "logistic":
        least = np.exp(-np.abs(margins))
        values = np.log1p(least) + np.maximum(-margins, LONG(0.0))
        return values, np.where(margins > 0.0, least, LONG(1.0)) / (1.0 + least)
    short = np.maximum(1.0 - margins, LONG(0.0))
    if facts.loss == "hinge":
        return short, (short > 0.0).astype(LONG)
    gamma = LONG(facts.gamma)
    curved = short * short / (2.0 * gamma), short / gamma
    if facts.loss == "squared-hinge":
        return curved
    straight = short >= gamma
    return (
        np.where(straight, short - gamma / 2.0, curved[0]),
        np.where(straight, LONG(1.0), curved[1]),
    )


def conjugates(facts: Facts, alpha: Array) -> tuple[Array, Array, Array]:
    """Q at each alpha, the sum of the sizes of its terms, and the size of alpha q'(alpha)."""
    if facts.loss == "logistic":
        inside = (alpha > 0.0) & (alpha < 1.0)
        within = np.where(inside, alpha, LONG(0.5))
        first, second = within * np.log(within), (1.0 - within) * np.log1p(-within)
        zero = LONG(0.0)
        values = np.where(inside, -first - second, zero)
        slopes = within * (np.log1p(-within) - np.log(within))
        # At the ends the slope is infinite; rounding moves q there by what one unit of alpha does.
        steep = np.where(inside, np.abs(slopes), alpha * LONG(40.0))
        return values, values, steep
    curved = facts.nu / 2.0 * alpha * alpha
    return alpha - curved, alpha + curved, 2.0 * (alpha + curved)


def evaluate(data: Dataset, facts: Facts, w: FloatArray, bias: float) -> Recomputed:
    """P(w, b) and the training errors.

    - ``w``: (shape (d,)) Scaled back onto its ball if it is outside by rounding alone, as in
      `svmbench.problem`; if it is farther outside, P is inf.
    """
    with np.errstate(all="ignore"):
        weights, moved = _inside(facts, w.astype(LONG))
        total: Any = LONG(0.0)
        rounding: Any = LONG(0.0)
        least = most = 0
        overflows = not weights @ weights < OVERFLOWING
        for rows, X in blocks(data):
            labels = data.labels[rows].astype(LONG)
            margins = labels * (X @ weights + LONG(bias))
            sizes = abs(X) @ np.abs(weights) + abs(LONG(bias))
            off = (np.diff(X.indptr) + 3.0) * BOTH * sizes + moved * sizes
            values, slopes = losses(facts, margins)
            total += values.sum()
            # Where the slope jumps, rounding may move a margin to the other side.
            steepest = np.where(np.abs(1.0 - margins) <= off, LONG(1.0), slopes)
            units = 4.0 * BOTH * (1.0 + values) * max(1.0, 1.0 / facts.gamma)
            rounding += (steepest * off + off * off / facts.gamma + units).sum()
            far = ~(sizes < OVERFLOWING)
            overflows = overflows or bool(far.any())
            least += int(np.count_nonzero(~((margins > -off) | far)))
            most += int(np.count_nonzero(~(margins > off) | far))
        m, d = data.n_samples, len(weights)
        regular = LONG(facts.lam) / 2.0 * (weights @ weights)
        rounding = rounding / m + ((d + 4) * BOTH + 2.0 * moved) * regular
        primal = regular + total / m
        if not _admits(facts, w):
            primal = LONG(math.inf) if np.isfinite(w).all() else LONG(math.nan)
        overflows = overflows or not total < OVERFLOWING
        allowed = float(rounding + 8 * BOTH * primal)
        return Recomputed(Bounded(float(primal), allowed, overflows), least, most)


def count_errors(data: Dataset, w: FloatArray, bias: float) -> tuple[int, int]:
    """Fewest and most rows with y (w.x + b) <= 0 that a computation in doubles may count."""
    anywhere = Facts(1.0, "hinge", 1.0, False, math.inf)
    found = evaluate(data, anywhere, w, bias)
    return found.least_errors, found.most_errors


def dual(data: Dataset, facts: Facts, alpha: FloatArray) -> Bounded:
    """D(alpha), a lower bound on P*; -inf if alpha lies outside its box.

    With a free bias, the two classes' sums of alpha are first made equal, so that D is a bound
    for the stored alpha. The rounding includes the resulting difference if that is no larger
    than `svmbench.problem` accepts.
    """
    if not (np.isfinite(alpha).all() and (alpha >= 0.0).all() and (alpha <= facts.upper).all()):
        return Bounded(-math.inf, 0.0)
    m, d = data.n_samples, data.n_features
    variables = alpha.astype(LONG)
    share = _balance(data, variables) if facts.free_bias else 0.0
    combined, sizes, counts = np.zeros(d, LONG), np.zeros(d, LONG), np.zeros(d)
    for rows, X in blocks(data):
        signed = variables[rows] * data.labels[rows].astype(LONG)
        combined += X.T @ signed
        sizes += abs(X).T @ np.abs(signed)
        counts += np.bincount(X.indices, minlength=d)
    scale = LONG(facts.lam) * m
    combined, sizes = combined / scale, sizes / scale
    nearest, tau = _projected(facts, combined)
    square = nearest @ nearest / 2.0 + (tau * LONG(facts.radius) if tau > 0.0 else LONG(0.0))
    values, parts, steep = conjugates(facts, variables)
    linear, size, slope = values.sum() / m, parts.sum() / m, steep.sum() / m
    reach = np.abs(nearest) @ ((counts + 4.0) * BOTH * sizes)
    second = ((counts + 4.0) * BOTH * sizes) ** 2
    rounding = 6.0 * BOTH * size + LONG(facts.lam) * (
        reach + second.sum() + (d + 6) * BOTH * square
    )
    # Scaling a class by 1 - share moves D by share times its slopes along that class.
    rounding += share * (slope + LONG(facts.lam) * (np.abs(nearest) @ sizes))
    return Bounded(float(linear - LONG(facts.lam) * square), float(rounding))


def _balance(data: Dataset, variables: Array) -> float:
    """Scale the class with the larger sum down, in place, and return the share removed.

    It is 0 if `svmbench.problem` would call alpha infeasible: the rounding allows nothing then.
    """
    positive = data.labels > 0
    sums = variables[positive].sum(), variables[~positive].sum()
    smaller, larger = min(sums), max(sums)
    if larger > smaller:
        variables[positive if sums[0] > sums[1] else ~positive] *= smaller / larger
    share = float((larger - smaller) / larger) if larger > 0.0 else 0.0
    return share if share <= 3.0 * UNBALANCED else 0.0


def _projected(facts: Facts, w: Array) -> tuple[Array, Any]:
    """The point of the ball nearest to w, and its threshold tau."""
    sizes = np.abs(w)
    if facts.radius == math.inf or sizes.sum() <= LONG(facts.radius):
        return w, LONG(0.0)
    descending = np.sort(sizes)[::-1]
    thresholds = (np.cumsum(descending) - LONG(facts.radius)) / np.arange(1, len(w) + 1)
    tau = thresholds[np.flatnonzero(descending > thresholds)[-1]]
    return np.sign(w) * np.maximum(sizes - tau, LONG(0.0)), tau


def _inside(facts: Facts, w: Array) -> tuple[Array, float]:
    """The weights, scaled back onto their ball, and the relative rounding error of this."""
    size = np.abs(w).sum()
    if not facts.radius < size <= (1.0 + OUTSIDE) * facts.radius:
        # At the border itself, rounding decides whether they are moved at all.
        border = facts.radius < math.inf and abs(size - facts.radius) <= (
            len(w) * UNIT * facts.radius
        )
        return w, (len(w) + 4) * UNIT if border else 0.0
    return w * (LONG(facts.radius) / size), (len(w) + 4) * UNIT


def _admits(facts: Facts, w: FloatArray) -> bool:
    if not np.isfinite(w).all():
        return False
    return bool(np.abs(w.astype(LONG)).sum() <= (1.0 + OUTSIDE) * facts.radius)
