"""D(alpha) of a hinge in rational numbers: nothing is rounded."""

from __future__ import annotations

import math
from fractions import Fraction


def exact_dual(problem, alpha):
    """D(alpha) of rows that are stored densely, with weights of the rows and with a ball."""
    data, m = problem.data, problem.data.n_samples
    counts = [1.0] * m if problem.row_weights is None else problem.row_weights.tolist()
    a = [Fraction(float(each)) for each in alpha]
    c = [Fraction(each) for each in counts]
    nu, lam = Fraction(problem.loss.nu), Fraction(problem.lam)
    sizes = []  # |w(alpha)_j|
    for column in data.values.T:
        entries = zip(a, c, column.tolist(), data.labels.tolist(), strict=True)
        sizes.append(abs(sum(p * q * y * Fraction(x) for p, q, x, y in entries) / (lam * m)))
    tau, radius = Fraction(0), problem.l1_radius
    if radius < math.inf and sum(sizes) > Fraction(radius):
        tau = multiplier(sizes, Fraction(radius))
    regular = sum(max(each - tau, Fraction(0)) ** 2 for each in sizes) / 2
    if tau > 0:
        regular += tau * Fraction(radius)
    gains = zip(a, c, strict=True)
    return sum(q * (p - nu * p * p / 2) for p, q in gains) / m - lam * regular


def multiplier(sizes, radius):
    """tau such that sum_j max(sizes_j - tau, 0) = radius, where sum_j sizes_j > radius."""
    total, ordered = Fraction(0), sorted(sizes, reverse=True)
    for count, size in enumerate(ordered, 1):
        total += size
        tau = (total - radius) / count
        if count == len(ordered) or tau >= ordered[count]:
            return tau
    raise AssertionError("no entries")
