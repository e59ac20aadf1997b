"""What is said about repeated measurements: medians, intervals, comparisons, profiles, digits.

A run that did not get where it should counts as +inf and stays in every sample, so that
no statistic can be improved by failing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom  # type: ignore[import-untyped]
from scipy.stats import t as student

FloatArray = NDArray[np.float64]

#: Pairs of repeats from which one solver may be called faster than another, and the
#: probability of a false claim that is accepted for a whole page of comparisons.
MIN_PAIRS = 7
LEVEL = 0.05

#: A sample this many times its median is an outlier worth a word in the header.
OUTLIER_FACTOR = 1.5


def median(samples: Sequence[float]) -> float:
    """The median, with +inf for what was not reached.

    Parameters
    ----------
    samples : sequence of float
        At least one; +inf is legal, nan is not.

    Returns
    -------
    float
        The mean of the two middle samples when their number is even, so +inf as soon
        as half of the runs did not arrive.

    Raises
    ------
    ValueError
        Without samples, and for nan.
    """
    ordered = _ordered(samples)
    low, high = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(low if low == high else (low + high) / 2)


def median_interval(samples: Sequence[float], coverage: float = 0.95) -> tuple[float, float, float]:
    """Distribution-free confidence interval of the median between two order statistics.

    The k-th smallest and k-th largest of n independent samples enclose the median of their
    distribution with probability at least 1 - 2 F(k - 1), F being the binomial
    distribution function of n fair coins. The narrowest such interval is returned that has
    the coverage asked for. With fewer than six samples none has 95 %: it is then the
    smallest and the largest sample, and the coverage returned says how little that is.

    Parameters
    ----------
    samples : sequence of float
        At least one; +inf is legal, nan is not.
    coverage : float
        Probability asked for, below 1.

    Returns
    -------
    low, high : float
    actual : float
        Coverage of [low, high]; 0 for a single sample.

    Raises
    ------
    ValueError
        Without samples, and for nan.
    """
    ordered = _ordered(samples)
    n = ordered.size
    ranks = np.arange(1, (n + 1) // 2 + 1)
    covered = 1.0 - 2.0 * binom.cdf(ranks - 1, n, 0.5)
    enough = np.flatnonzero(covered >= coverage)
    best = int(enough[-1]) if enough.size else 0
    return float(ordered[best]), float(ordered[n - 1 - best]), float(covered[best])


def reached(samples: Sequence[float]) -> str:
    """How many of the samples are finite, as ``k of n``."""
    return f"{sum(math.isfinite(sample) for sample in samples)} of {len(samples)}"


def expected_running_time(times: Sequence[float], spent: Sequence[float]) -> float:
    """Expected time to success of a method that is restarted until it succeeds (ERT).

    All that was spent over the number of successes (Hansen et al., COCO).

    Parameters
    ----------
    times : sequence of float
        Time to success of each run, +inf where there was none.
    spent : sequence of float
        What each run took in all; only read where it did not succeed.

    Returns
    -------
    float
        +inf if no run succeeded.

    Raises
    ------
    ValueError
        When the two differ in length, or an unsuccessful run's expense is not finite.
    """
    total, successes = 0.0, 0
    for time, expense in zip(times, spent, strict=True):
        success = math.isfinite(time)
        cost = time if success else expense
        if not math.isfinite(cost):
            raise ValueError("what an unsuccessful run has spent must be a finite number")
        total += cost
        successes += success
    return total / successes if successes else math.inf


@dataclass(frozen=True)
class Ratio:
    """How b compares with a: the factor between paired samples, b over a.

    Parameters
    ----------
    estimate : float
        Above 1 where b is larger; may be 0 or +inf; nan when nothing is known.
    low, high : float
        Its interval of the coverage asked for, on its own (not corrected for others).
    p_value : float
        Of both sides together, for the hypothesis that the factor lies within the margin.
    pairs : int
        Pairs that say something: at least one of the two samples is finite.
    test : {'t', 'ranks', 'none'}
    attainable : float
        The smallest p-value that test could have given with so many samples.
    """

    estimate: float
    low: float
    high: float
    p_value: float
    pairs: int
    test: Literal["t", "ranks", "none"]
    attainable: float


def paired_ratio(
    a: Sequence[float], b: Sequence[float], coverage: float = 0.95, margin: float = 1.0
) -> Ratio:
    """Estimate and test the factor between samples that belong together pair by pair.

    Where all samples are finite: the geometric mean of b/a, with Student's interval and
    test of the paired log-ratios. Its p-values can be as small as a page of many
    comparisons needs; those of a signed-rank or sign test cannot (seven pairs never give
    less than 1/64, which four comparisons already use up). The differences of two alike
    runs are symmetric, and on heavier tails than the normal's the test only loses power.

    Where some sample is +inf there is no mean: the exact Wilcoxon-Mann-Whitney test of
    all samples is used, in which +inf is simply the largest value, with the estimate and
    interval that belong to it (Hodges and Lehmann). It gives up the pairs for small
    p-values (1/1716 with seven and seven). What pairs have in common makes it cautious:
    positively correlated samples are ranked evenly more often than independent ones.

    Parameters
    ----------
    a, b : sequence of float
        At least 0; a[i] and b[i] are of one block. +inf is legal, nan is not.
    coverage : float
        Of the interval, below 1.
    margin : float
        At least 1. Factors from 1/margin to margin count as no difference.

    Raises
    ------
    ValueError
        When the two differ in length, and for nan, negative samples or a margin below 1.
    """
    if len(a) != len(b):
        raise ValueError("samples come in pairs")
    if not margin >= 1.0:
        raise ValueError("a margin is a factor of at least 1")
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not (np.all(left >= 0) and np.all(right >= 0)):
        raise ValueError("samples are numbers from 0 to +inf")
    pairs = int(np.sum(np.isfinite(left) | np.isfinite(right)))
    if pairs == 0:
        return Ratio(math.nan, 0.0, math.inf, 1.0, 0, "none", 1.0)
    usable = (np.isfinite(left) & np.isfinite(right) & (left > 0) & (right > 0)) | (
        (left == 0) & (right == 0)  # both were there at once
    )
    if not usable.all():
        return _rank_ratio(left, right, coverage, margin, pairs)
    positive = left > 0
    logs = np.log(np.where(positive, right, 1.0)) - np.log(np.where(positive, left, 1.0))
    return _t_ratio(logs, coverage, margin)


def _t_ratio(logs: FloatArray, coverage: float, margin: float) -> Ratio:
    n = logs.size
    mean = float(logs.mean())
    if n == 1:
        return Ratio(math.exp(mean), 0.0, math.inf, 1.0, 1, "t", 1.0)
    error = float(logs.std(ddof=1)) / math.sqrt(n)
    rounding = 4 * np.finfo(float).eps * float(np.abs(logs).max())
    if error <= rounding:  # all pairs agree to the last digit
        beyond = abs(mean) > math.log(margin) + rounding
        ratio = math.exp(mean)
        return Ratio(ratio, ratio, ratio, 0.0 if beyond else 1.0, n, "t", 0.0)
    within = math.log(margin)
    above = float(student.sf((mean - within) / error, n - 1))
    below = float(student.cdf((mean + within) / error, n - 1))
    reach = float(student.ppf((1 + coverage) / 2, n - 1)) * error
    return Ratio(
        estimate=math.exp(mean),
        low=math.exp(mean - reach),
        high=math.exp(mean + reach),
        p_value=min(1.0, 2 * min(above, below)),
        pairs=n,
        test="t",
        attainable=0.0,
    )


def _rank_ratio(a: FloatArray, b: FloatArray, coverage: float, margin: float, pairs: int) -> Ratio:
    above, below = _rank_tail(a * margin, b), _rank_tail(b * margin, a)
    low, high = _rank_interval(a, b, (1 - coverage) / 2)
    return Ratio(
        estimate=_rank_estimate(a, b),
        low=low,
        high=high,
        p_value=min(1.0, 2 * min(above, below)),
        pairs=pairs,
        test="ranks",
        attainable=min(1.0, 2 / math.comb(2 * a.size, a.size)),
    )


def _rank_tail(a: FloatArray, b: FloatArray) -> float:
    """Probability, when all orders are alike, that b's ranks sum to at least what they do."""
    n = b.size
    _, inverse, counts = np.unique(np.concatenate([a, b]), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    doubled = (2 * ends - counts + 1)[inverse]  # twice the mean rank of a tie is an integer
    observed = int(doubled[a.size :].sum())
    # ways[k, s]: choices of k samples whose doubled ranks sum to s
    ways = np.zeros((n + 1, int(doubled.sum()) + 1))
    ways[0, 0] = 1.0
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    return min(1.0, float(ways[n, observed:].sum() / ways[n].sum()))


def _rank_interval(a: FloatArray, b: FloatArray, tail: float) -> tuple[float, float]:
    """The factors that, undone, leave the ranks of a and b undecided on either side."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (b[:, None] / a[None, :]).ravel()
    steps = np.unique(ratios[np.isfinite(ratios) & (ratios > 0)])
    if steps.size == 0:
        between = np.ones(1)
    else:
        middles = np.sqrt(steps[:-1]) * np.sqrt(steps[1:])
        between = np.concatenate([steps[:1] / 2, middles, steps[-1:] * 2])
    edges = np.concatenate([[0.0], steps, [math.inf]])
    # The tails are monotone in the factor, so each end is found by halving.
    low = _first(between.size, lambda at: _rank_tail(a * between[at], b) > tail)
    high = _first(between.size, lambda at: _rank_tail(b, a * between[at]) <= tail)
    return float(edges[low]), float(edges[high])


def _first(size: int, holds: Callable[[int], bool]) -> int:
    """The first of 0 .. size - 1 from which on ``holds`` is true; ``size`` if there is none."""
    return bisect_left(range(size), True, key=holds)


def _rank_estimate(a: FloatArray, b: FloatArray) -> float:
    """Median of all b[j]/a[i]; one that is undetermined counts half as 0 and half as +inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.repeat((b[:, None] / a[None, :]).ravel(), 2)
    unknown = np.flatnonzero(np.isnan(ratios))
    ratios[unknown[::2]], ratios[unknown[1::2]] = 0.0, math.inf
    ordered = np.sort(ratios)
    low, high = float(ordered[ordered.size // 2 - 1]), float(ordered[ordered.size // 2])
    if low == high:
        return low
    return 1.0 if (low, high) == (0.0, math.inf) else math.sqrt(low) * math.sqrt(high)


def detectable(scatter: float, pairs: int, power: float = 0.8) -> float:
    """The least factor between two things that so many pairs of runs are likely to show.

    Parameters
    ----------
    scatter : float
        Standard deviation of the log-ratio of two equal runs of one pair.
    pairs : int
        At least 2.
    power : float
        Probability that the factor is found, by Student's test at the level `LEVEL`.
    """
    quantiles = student.ppf([1 - LEVEL / 2, power], pairs - 1)
    return math.exp(float(quantiles.sum()) * scatter / math.sqrt(pairs))


def performance_ratios(costs: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Cost of each solver on each problem over the least of any solver (Dolan and Moré, 2002).

    Parameters
    ----------
    costs : mapping of str to sequence of float
        For each solver its costs, in one order of the problems; +inf where it failed.

    Returns
    -------
    dict
        At least 1; +inf where the solver failed, also if all did.
    """
    if not costs:
        return {}
    least = np.min([list(row) for row in costs.values()], axis=0)
    return {
        solver: [_over(cost, best) for cost, best in zip(row, least, strict=True)]
        for solver, row in costs.items()
    }


def _over(cost: float, best: float) -> float:
    if not math.isfinite(cost):
        return math.inf
    return cost / best if best > 0 else 1.0 if cost == 0 else math.inf


def solved_shares(samples: Sequence[float]) -> tuple[list[float], list[float]]:
    """The empirical distribution function of samples of which some never come.

    Parameters
    ----------
    samples : sequence of float
        +inf for what was not reached.

    Returns
    -------
    values, shares : list of float
        Distinct finite samples, ascending, and the share of all samples up to each.

    Raises
    ------
    ValueError
        Without samples, and for nan.
    """
    ordered = _ordered(samples)
    values, counts = np.unique(ordered[np.isfinite(ordered)], return_counts=True)
    return values.tolist(), (np.cumsum(counts) / ordered.size).tolist()


def outliers(samples: Sequence[float], factor: float = OUTLIER_FACTOR) -> list[int]:
    """Positions of the finite samples above ``factor`` times the median."""
    if not samples:
        return []
    bound = factor * median(samples)
    return [at for at, sample in enumerate(samples) if bound < sample < math.inf]


def _ordered(samples: Sequence[float]) -> NDArray[np.float64]:
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    if ordered.size == 0:
        raise ValueError("no samples")
    if math.isnan(ordered[-1]):  # nan sorts last
        raise ValueError("a sample is nan; what was not reached is +inf")
    return ordered
