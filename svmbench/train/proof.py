"""What dual variables prove once the rounding of w(alpha) is allowed for.

`Problem.dual` computes D(alpha) in double precision. Where a column holds numbers many orders of
magnitude larger than the others, w(alpha) is a small difference of large sums, and D(alpha) may
come out larger than it is. Here each of its sums of m terms is compensated. Its rounding is then at
most u |sum| + (m u)^2 sum |alpha_i x_ij| (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005,
Proposition 4.5), and that of the products u sum |alpha_i x_ij|.
"""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import objective
from svmbench.problem import HINGES, Problem

#: Unit roundoff of double precision.
UNIT = float(np.finfo(np.float64).eps) / 2.0

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
        sums, sizes = objective.exact_combination(data.rows, counted)
        off = (3.0 + float(data.n_samples) ** 2 * UNIT) * UNIT * sizes
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
