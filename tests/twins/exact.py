"""P and D of a hinge in rational numbers, and P of the logistic loss in 60 digits."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

DIGITS = Context(prec=60)


def exact_primal(problem, w, bias=0.0):
    """P(w, b) of rows that are stored densely."""
    data, m = problem.data, problem.data.n_samples
    counts = [1.0] * m if problem.row_weights is None else problem.row_weights.tolist()
    weights, total = [Fraction(float(each)) for each in w], Fraction(0)
    for c, x, y in zip(counts, data.values.tolist(), data.labels.tolist(), strict=True):
        score = sum(p * Fraction(q) for p, q in zip(weights, x, strict=True)) + Fraction(bias)
        total += Fraction(c) * exact_loss(problem.loss, y * score)
    return Fraction(problem.lam) / 2 * sum(each * each for each in weights) + total / m


def exact_loss(loss, margin):
    """The loss at a rational margin."""
    if loss.name == "logistic":
        s = DIGITS.divide(Decimal(margin.numerator), Decimal(margin.denominator))
        grown = DIGITS.exp(DIGITS.minus(s.copy_abs()))
        # Where exp(-|s|) is below 60 digits of 1, its logarithm's first terms are exact enough.
        log = DIGITS.ln(DIGITS.add(Decimal(1), grown)) if grown > Decimal("1e-25") else grown
        if grown <= Decimal("1e-25"):
            log = DIGITS.subtract(log, DIGITS.divide(DIGITS.multiply(grown, grown), Decimal(2)))
        return Fraction(log) + max(-margin, Fraction(0))
    short, nu = max(Fraction(0), 1 - margin), Fraction(loss.nu)
    if loss.name == "hinge":
        return short
    if loss.name == "smoothed-hinge" and short >= nu:
        return short - nu / 2
    return short * short / (2 * nu)


def exact_dual(problem, alpha):
    """D(alpha) of rows that are stored densely, with weights of the rows and with a ball."""
    data, m = problem.data, problem.data.n_samples
    counts = [1.0] * m if problem.row_weights is None else problem.row_weights.tolist()
    a = [Fraction(each) for each in alpha]
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
