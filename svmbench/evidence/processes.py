"""E-processes for the ratios of pairs.

Let x_1, x_2, ... be the log-ratios log(b_i / a_i) of successive pairs. For every c there are two
one-sided hypotheses: evidence for above is collected against "the ratio is at most c", evidence for
below against "it is at least c". The processes multiply one factor for each pair, and each factor
has an expectation of at most 1 given all earlier pairs if the hypothesis is true. Their products
are therefore non-negative supermartingales that start at 1, and by Ville's inequality one ever
exceeds t with probability at most 1/t. So is their mean, with any weights.

**Signs** know nothing but a median. The hypothesis is that x_i > c has a probability of at most 1/2
given the earlier pairs, whatever the shape and scale of the noise. Half of the stake is doubled by
every pair above c and lost by the first other one: if all pairs agree, no valid test on signs needs
fewer. The other half mixes the likelihood ratios of all p in (1/2, 1).

**The symmetric process** is for c = 0 alone, where a and b are equal. The two runs of a block have
a random order; if they are exchangeable, x_i is symmetric about 0 given the earlier pairs, with
heavy tails and with any scale, which may change from pair to pair. Given its magnitude, the sign of
x_i is then a fair coin, and each factor bets on it: 1 + tanh(u_i), where u_i = λ x_i / s_i is
clipped to [-1, 1] and the scale s_i is estimated from earlier pairs only. As exp(u)/cosh(u) = 1 +
tanh(u), this is the e-value counterpart of Fisher's test of symmetry (Vovk and Wang, 2024). For
normal noise with a shift of δ standard deviations, λ = δ is the bet of the fastest growth; λ is
mixed over a grid.

*One-sided.* The factor increases in x_i. It therefore has an expectation of at most 1 for every x_i
that is stochastically smaller than a symmetric one: if b <= b' in distribution and b' is
exchangeable with a, then log(b/a) can be coupled to be at most log(b'/a). The hypothesis is hence
that b takes no longer than a, at every quantile. It is not that the median of x is at most 0: where
b has two speeds and a one, that median may be 0, and the process shows that they are not equal.

*Elsewhere it is wrong.* If a takes 1.5 times less than b, nothing makes log(b/a) symmetric about
log 1.5: one-sided noise of b, or two speeds of it, would give evidence for either side.

*Monotone in c.* The evidence of signs for above decreases in c, that for below increases, so that
the c that are not rejected are an interval between two order statistics.

The sources are named in docs/measuring.md.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

#: Standardised shifts for which the symmetric process bets, with equal weights.
SHIFTS = np.array([0.25, 0.5, 1.0, 2.0])

#: Weights of the bet that all signs agree and of the mixture over p: of signs alone, and of signs
#: beside the symmetric process, which has the rest. With both, six pairs of one sign are enough for
#: 40, if they are far from the boundary.
SIGNS_ALONE, SIGNS_BESIDE = (0.5, 0.5), (0.4, 0.1)

#: Scale of log-ratios before any is known, and how many differences of pairs it counts for. This
#: affects the power of the first few pairs only.
FIRST_SCALE = 0.2
FIRST_WEIGHT = 2.0

#: Log-ratios this close to a boundary lie on it: a ratio of 3/2 is not above 1.5 by rounding.
TIE = 1e-12

#: A boundary this close to 1, as a logarithm, asks whether the two sides are equal.
EQUAL = 1e-8

#: Scale of log-ratios that never scatter.
_LEAST_SCALE = 1e-9


def sign_process(successes: ArrayLike, tosses: ArrayLike) -> FloatArray:
    """Logarithm of the evidence against a coin that shows heads with probability at most 1/2.

    E = 2^n ∫ 2 p^s (1 - p)^(n - s) dp over p from 1/2 to 1: the mean likelihood ratio of a coin
    whose p is uniform there against the fair coin. With the binomial coefficients of n + 1, whose
    first s + 1 add up to B, this is B / ((n + 1) C(n, s)).

    - ``successes, tosses``: heads s and tosses n, of one shape.

    Returns log E.
    """
    heads, coins = np.broadcast_arrays(successes, tosses)
    found = [_mixture(s, n) for s, n in zip(heads.flat, coins.flat, strict=True)]
    return np.array(found).reshape(coins.shape)


@lru_cache(maxsize=1 << 16)
def _mixture(heads: int, tosses: int) -> float:
    logs = _log_factorials(1 << int(tosses + 1).bit_length())[: tosses + 2]
    below = logs[-1] - logs[: heads + 1] - logs[::-1][: heads + 1]
    of_tosses = logs[-2] - logs[heads] - logs[tosses - heads]
    return float(np.logaddexp.reduce(below) - of_tosses - math.log(tosses + 1))


@lru_cache
def _log_factorials(most: int) -> FloatArray:
    return np.array([math.lgamma(k + 1) for k in range(most + 1)])


def scales(logs: FloatArray) -> FloatArray:
    """Scale of each log-ratio, estimated from those before it.

    The mean absolute difference of successive finite values estimates 2σ/√π for normal noise; it
    does not notice a slow drift of the level, and needs no centre, so that it does not depend on
    the hypothesis. It is averaged with `FIRST_SCALE` on the scale of logarithms.
    """
    result = np.full(logs.size, FIRST_SCALE)
    finite = np.flatnonzero(np.isfinite(logs))
    if finite.size < 2:
        return result
    differences = np.abs(np.diff(logs[finite])) * (math.sqrt(math.pi) / 2)
    count = np.arange(1, differences.size + 1)
    mean = np.maximum(np.cumsum(differences) / count, _LEAST_SCALE)
    prior = FIRST_WEIGHT * math.log(FIRST_SCALE)
    shrunk = np.exp((prior + count * np.log(mean)) / (FIRST_WEIGHT + count))
    known = np.searchsorted(finite[1:], np.arange(logs.size))  # differences before each log-ratio
    result[known > 0] = shrunk[known[known > 0] - 1]
    return result


def _of_signs(successes: ArrayLike, tosses: ArrayLike, weights: tuple[float, float]) -> FloatArray:
    """Logarithm of what the two bets on signs have made of their weights."""
    s, n = np.asarray(successes), np.asarray(tosses)
    agreeing = np.where(s == n, n * math.log(2), -math.inf)
    all_in, mixed = np.log(weights)
    return np.asarray(np.logaddexp(all_in + agreeing, mixed + sign_process(s, n)))


def evidence_of_signs(successes: ArrayLike, tosses: ArrayLike) -> FloatArray:
    """Logarithm of the evidence of signs alone."""
    return _of_signs(successes, tosses, SIGNS_ALONE)


class RatioEvidence:
    """Evidence on the ratio of some pairs: their log-ratios, in the order of measurement."""

    def __init__(self, logs: FloatArray) -> None:
        self.logs = logs
        self._ordered = np.sort(logs)
        self._scales = scales(logs)

    @property
    def pairs(self) -> int:
        return self.logs.size

    @cached_property
    def median(self) -> float:
        """Median of the log-ratios; nan if there are none.

        It is 0 when the middle lies between -inf and +inf: then nothing favours either side.
        """
        if self.logs.size == 0:
            return math.nan
        size = self.logs.size
        low, high = float(self._ordered[(size - 1) // 2]), float(self._ordered[size // 2])
        if low == high:
            return low
        return 0.0 if math.isinf(low) and math.isinf(high) else (low + high) / 2

    def shown(self, boundary: float, side: float, symmetric: bool = False) -> float:
        """Logarithm of the `evidence` for a side; -inf if the median is not there."""
        if not side * (self.median - boundary) > TIE:
            return -math.inf
        return self.evidence(boundary, side, symmetric)

    def evidence(self, boundary: float, side: float, symmetric: bool = False) -> float:
        """Logarithm of the evidence for one side of a boundary, whatever the median is.

        ``symmetric``: whether the log-ratios are symmetric about it if the two sides are equal.
        """
        beyond = self._beyond(boundary, side)
        count = int(np.count_nonzero(beyond > 0))
        if not symmetric:
            return _signs(count, beyond.size, SIGNS_ALONE)
        bets = np.sum(self._bets(beyond), axis=1) + _LOG_WEIGHT
        signs = _signs(count, beyond.size, SIGNS_BESIDE)
        return float(np.logaddexp.reduce([signs, *bets]))

    def path(self, boundary: float, side: float, symmetric: bool = False) -> FloatArray:
        """Logarithm of the `evidence` after each pair."""
        beyond = self._beyond(boundary, side)
        counts = np.cumsum(beyond > 0), np.arange(1, beyond.size + 1)
        if not symmetric:
            return _of_signs(*counts, SIGNS_ALONE)
        bets = np.cumsum(self._bets(beyond), axis=1) + _LOG_WEIGHT
        both = np.vstack([_of_signs(*counts, SIGNS_BESIDE), bets])
        return np.asarray(np.logaddexp.reduce(both, axis=0))

    def interval(self, threshold: float) -> tuple[float, float]:
        """The boundaries against which the evidence of signs is below a threshold.

        It misses the median with probability at most 2/threshold, at whatever time one looks.
        """
        if not self.pairs:
            return -math.inf, math.inf
        least = _signs_needed(self.pairs, threshold)
        if least > self.pairs:
            return -math.inf, math.inf
        return float(self._ordered[self.pairs - least]), float(self._ordered[least - 1])

    def _beyond(self, boundary: float, side: float) -> FloatArray:
        beyond = side * (self.logs - boundary)
        beyond[np.abs(beyond) <= TIE] = 0.0
        return beyond

    def _bets(self, beyond: FloatArray) -> FloatArray:
        """Logarithms of the factors of the symmetric process, one row for each λ."""
        standardised = SHIFTS[:, None] * (beyond / self._scales)
        return np.asarray(np.log1p(np.tanh(np.clip(standardised, -1.0, 1.0))))


#: Logarithm of the weight of each λ of the symmetric process.
_LOG_WEIGHT = math.log((1 - sum(SIGNS_BESIDE)) / SHIFTS.size)


@lru_cache(maxsize=1 << 16)
def _signs(successes: int, tosses: int, weights: tuple[float, float]) -> float:
    return float(_of_signs(successes, tosses, weights))


@lru_cache(maxsize=1 << 12)
def _signs_needed(tosses: int, threshold: float) -> int:
    """The least number of signs that reach a threshold; more than there are if none does."""
    counts = np.arange(tosses + 1)
    enough = np.flatnonzero(_of_signs(counts, tosses, SIGNS_ALONE) >= math.log(threshold))
    return int(enough[0]) if enough.size else tosses + 1


@lru_cache(maxsize=4096)
def evidence_of(logs: tuple[float, ...]) -> RatioEvidence:
    """The evidence of some log-ratios; cached, as pages are judged again and again."""
    return RatioEvidence(np.array(logs, dtype=np.float64))
