"""What weights and dual variables prove of P* once rounding is allowed for.

P(w) in double precision may come out smaller than it is, by any factor where margins round to 1 and
nearly all losses vanish: here margins are computed as if in twice the precision
(kernels/objective.pyx).

D(alpha) may come out larger than it is where w(alpha) is a small difference of large sums: here
each of its sums of m terms is compensated. Its rounding is then at most u |sum| + (m u)^2 sum
|alpha_i x_ij| (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005, Proposition 4.5), and that of
the products u sum |alpha_i x_ij|.

With a ball ||w||_1 <= z, D(alpha) is the largest over tau >= 0 of the mean of the conjugates less
lam h(w(alpha)), where h(u) = 1/2 ||S(u)||^2 + tau z and S(u)_j = sign(u_j) max(|u_j| - tau, 0): any
tau gives a lower bound. h is convex and its gradient S is 1-Lipschitz, so that an error of e in u
adds at most |S(u)|.|e| + 1/2 ||e||^2 to it. Without a ball tau is 0 and S(u) is u.

Where operations underflow, each is off by at most half the least double, which is added for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import objective
from svmbench.names import HINGES
from svmbench.problem import UNIT, Problem

#: Squares that may together leave double precision, in one order of summation or another.
OVERFLOWING = 1e308

#: The least positive double, and the least one with all its digits.
LEAST, TINY = math.ulp(0.0), float(np.finfo(np.float64).tiny)

#: Factor for the rounding of the bounds themselves.
_SAFE = 1.01


#: Most weights that `proven_primal` tries: longer ones are rounded, too.
_LENGTHENED = 4


def proven_dual(problem: Problem, alpha: FloatArray) -> float:
    """A lower bound on P*: D(alpha) less what rounding may have added to it."""
    if not problem.feasible(alpha) or problem.lam * problem.data.n_samples < TINY:
        return -math.inf
    data, counted = problem.data, problem.counted(alpha)
    total, terms, share = _conjugates(problem, alpha, counted)
    with np.errstate(over="ignore", invalid="ignore"):
        sums, sizes = objective.exact_combination(data.rows, counted)
        off = (3.0 + float(data.n_samples) ** 2 * UNIT) * UNIT * sizes + share * sizes
        off += _underflow(counted, lambda: math.sqrt(float(np.max(data.rows.norms2()))))
        scale = problem.lam * data.n_samples
        u, off = sums / scale, _SAFE * off / scale + LEAST
        tau = problem.nearest(u)[1]
        sizes = np.maximum(np.abs(u) - tau, 0.0)  # of S(u)
        squares = sizes * sizes
        if not (squares.sum() < OVERFLOWING and np.isfinite(off).all()):
            return -math.inf
        twice = (1.0 + 8.0 * UNIT) * math.fsum(squares)  # of h
        twice += _SAFE * float(sizes @ (2.0 * off) + off @ off) + 3.0 * len(sizes) * LEAST
        if tau > 0.0:
            twice += (1.0 + 4.0 * UNIT) * 2.0 * tau * problem.l1_radius
    return _less_rounding(total, terms, data.n_samples, 0.5 * problem.lam * twice)


class Upper(NamedTuple):
    """An upper bound on P*, and weights whose P is no larger."""

    primal: float  # inf where it overflows
    w: FloatArray
    bias: float


def proven_primal(
    problem: Problem, w: FloatArray, bias: float = 0.0, *, longer: bool = True
) -> Upper:
    """An upper bound on P(w, b), or on that of weights longer by what rounding explains.

    On separable rows, to multiply w and b by a number just above 1 takes losses away.
    """
    best, given, w = Upper(math.inf, w, bias), w, problem.inside(w)
    if problem.constraint != "none":
        w = w * (1.0 - (len(w) + 8.0) * UNIT)
    for _ in range(_LENGTHENED):
        loss, short_by = objective.loss_at_most(
            problem.data.rows, w, problem.loss.code, problem.loss.gamma, bias, problem.row_weights
        )
        with np.errstate(over="ignore", invalid="ignore"):
            squares = w * w
            norm2 = math.fsum(squares) if squares.sum() < OVERFLOWING else math.inf
        primal = 0.5 * problem.lam * (norm2 + len(w) * LEAST) + loss / problem.data.n_samples
        primal = primal * (1.0 + 16.0 * UNIT) + 4.0 * LEAST
        if not primal < best.primal:
            return best
        if problem.constraint != "none":
            return Upper(primal, given, bias)
        best = Upper(primal, w, bias)
        if short_by == 0.0 or not longer:
            return best
        factor = 1.0 + short_by + 4.0 * UNIT
        w, bias = factor * w, factor * bias
    return best


def proven_by_norms(problem: Problem, alpha: FloatArray, dual: float, longest: float) -> float:
    """A lower bound on P* that reads no rows, and is a little below that of `proven_dual`.

    In any order of summation, each entry of s = sum_i c_i alpha_i y_i x_i is off by at most g sum_i
    |c_i alpha_i x_ij|, where g is about m u (Higham, Accuracy and Stability of Numerical
    Algorithms, 2002, section 4.2): s is off by at most g sum_i c_i alpha_i ||x_i||.
    """
    counted = problem.counted(alpha)
    total, terms, share = _conjugates(problem, alpha, counted)
    lost = _underflow(counted, lambda: longest)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = DualSums(total, terms, float(np.sum(counted)), lost, share)
        shape = problem.data.n_samples, problem.data.n_features
        return proven_by_sums(sums, problem.lam, shape, dual, longest)


class DualSums(NamedTuple):
    """What D(alpha) was computed from."""

    total: float  # sum of c_i q(alpha_i), at most
    terms: float  # what its terms do not exceed in sum
    counted: float  # sum of c_i alpha_i
    lost: float  # what underflow may have changed in the sum of c_i alpha_i x_ij, for any column j
    share: float = 0.0  # by which alpha may still have to be scaled down for a free bias


def proven_by_sums(
    sums: DualSums, lam: float, shape: tuple[int, int], dual: float, longest: float
) -> float:
    """The bound of `proven_by_norms`, from sums over the rows."""
    m, d = shape
    if lam * m < TINY:
        return -math.inf
    longest += math.sqrt(d * LEAST)  # squares of values may underflow
    reach = _SAFE * longest * sums.counted / (lam * m)
    off = _SAFE * ((m + 4.0) * UNIT + sums.share) * reach
    off += _SAFE * math.sqrt(d) * (sums.lost / (lam * m) + LEAST)
    # D is the mean of the conjugates less lam/2 ||w||^2, up to a few roundings.
    computed = (sums.total + sums.share * sums.terms) / m
    regular = max(0.0, computed - dual) + 8.0 * UNIT * (abs(computed) + abs(dual))
    regular = regular * (1.0 + (d + 16.0) * UNIT) + (lam * d + 4.0) * LEAST
    norm = math.sqrt(2.0 * regular / lam) if regular < math.inf else math.inf
    regular += lam * off * (norm + 0.5 * off)
    if not regular < math.inf:
        return -math.inf
    return _less_rounding(sums.total, sums.terms, m, regular)


def _conjugates(
    problem: Problem, alpha: FloatArray, counted: FloatArray
) -> tuple[float, float, float]:
    """Sum of the conjugates, what its terms do not exceed in sum, and the share that balances.

    By this share the class with the larger sum has to be scaled down for a free bias. The
    conjugates are concave and 0 at 0: theirs fall by no larger share, and the sum is that after the
    scaling.
    """
    nu = problem.loss.nu if problem.loss.name in HINGES else 0.0
    total, share = problem.conjugate_sum(alpha), 0.0
    terms = float(np.sum(counted + nu * counted * alpha)) + abs(total)
    if problem.bias == "free":
        positive, negative = objective.balance(problem.data.rows, counted)
        larger = max(positive, negative)
        if larger > 0.0:
            share = (abs(positive - negative) + len(alpha) * LEAST) / larger + 4.0 * UNIT
    return total - share * terms, terms, share


def _underflow(counted: FloatArray, longest: Callable[[], float]) -> float:
    """What underflow may change in the sum of counted_i x_ij over the rows, for any column j."""
    tiny = int(np.count_nonzero(np.abs(counted) < TINY))
    return LEAST * (len(counted) + (tiny * longest() if tiny else 0.0))


def _less_rounding(total: float, terms: float, m: int, regular: float) -> float:
    """The bound: the mean of the conjugates, less lam/2 ||w||^2 and the rounding of both."""
    proven = (total - 8.0 * UNIT * terms - 4.0 * m * LEAST) / m - regular
    return proven - 4.0 * UNIT * abs(proven) - 4.0 * LEAST if proven > -math.inf else -math.inf
