"""E-processes for the centre of the distribution of paired log-ratios.

Let x_1, x_2, ... be the log-ratios log(b_i / a_i) of successive pairs and θ the centre of their
distribution. For every c there are two one-sided hypotheses: θ <= c, against which `above`
collects evidence, and θ >= c, against which `below` does. The processes used here multiply one
factor for each pair, and each factor has an expectation of at most 1 given all earlier pairs if
the hypothesis is true. Their products are therefore non-negative supermartingales that start at 1,
and by Ville's inequality one ever exceeds t with probability at most 1/t.

**The sign process** assumes that θ is the median: each sign of x_i - c is a toss of a coin that
shows "above" with probability at most 1/2. It mixes the likelihood ratios of all p in (1/2, 1).

**The symmetric process** assumes that x_i - θ is symmetric given the earlier pairs; tails may be
heavy and the scale may change from pair to pair. Given its magnitude, the sign of x_i - θ is then
a fair coin, and each factor bets on it: 1 + tanh(u_i), where u_i = λ (x_i - c) / s_i is clipped to
[-1, 1] and the scale s_i is estimated from earlier pairs only. As exp(u)/cosh(u) = 1 + tanh(u),
this is the e-value counterpart of Fisher's test of symmetry (Vovk and Wang, 2024). For normal noise
with a shift of δ standard deviations, λ = δ is the bet of the fastest growth; λ is mixed over a
grid. De la Peña's (1999) factor exp(u - u²/2) rests on the same symmetry and is never larger, as
cosh(u) <= exp(u²/2).

**The distance process** also assumes that the standard deviation of x_i - θ is at most a known σ.
The part of x_i above θ then has an expected square of at most σ²/2, so that 2 (x_i - c)₊²/σ² is an
e-value if θ <= c (Chebyshev's inequality, as a bet). A bettor who stakes a share f of the wealth on
it multiplies it by 1 - f + 2 f (x_i - c)₊²/σ²; f is mixed over a grid. One pair far beyond c thus
says more than its sign, which can at most double the wealth. σ grows if the earlier pairs scatter
more, and x_i - c counts as `FARTHEST` at most. For an infinite x_i only the sign is bet on: its
distance from θ has no standard deviation. If only a bound of x_i is known and nothing on its other
side, x_i may be infinite, so that the bound gains at most as much. If no σ is known, there is no
such process.

The evidence is a weighted mean of these processes, which is a supermartingale again.

Two facts are used throughout:

- *One-sided hypotheses.* Each factor is an increasing function of x_i - c. If θ < c, then
  x_i - c is x_i - θ moved to the left, so that the factor is at most the one of the case θ = c.
- *Monotone in c.* For the same reason `above` decreases in c and `below` increases, and the c that
  are not rejected at a threshold are an interval: the confidence sequence of the evidence. For
  this the scale must not depend on c, and it does not.

References
----------
S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon. Time-uniform, nonparametric, nonasymptotic
confidence sequences. Annals of Statistics 49(2), 2021.
I. Waudby-Smith and A. Ramdas. Estimating means of bounded random variables by betting. Journal of
the Royal Statistical Society B 86(1), 2024.
A. Ramdas, P. Grünwald, V. Vovk and G. Shafer. Game-theoretic statistics and safe anytime-valid
inference. Statistical Science 38(4), 2023.
V. Vovk and R. Wang. Nonparametric e-tests of symmetry. New England Journal of Statistics in Data
Science 2(2), 2024.
V. H. de la Peña. A general class of exponential inequalities for martingales and ratios. Annals of
Probability 27(1), 1999.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln  # type: ignore[import-untyped]

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

#: Standardised shifts for which the symmetric process bets, with equal weights.
SHIFTS = np.array([0.25, 0.5, 1.0, 2.0])

#: Weights of the sign process and of the distance process, if there is one; the symmetric process
#: has the rest. It decides faster than the sign process unless tails are very heavy.
SIGN_WEIGHT, DISTANCE_WEIGHT = 0.25, 0.25

#: Shares of the wealth that the distance process bets, with equal weights.
STAKES = np.array([0.25, 0.5, 1.0])

#: Larger distances from a boundary count as this one in the distance process: a factor of 10, so
#: that one pair alone decides no question if σ is 0.3 or more.
FARTHEST = math.log(10.0)

#: Scale of log-ratios before any is known, and how many differences of pairs it counts for. This
#: affects the power of the first few pairs only.
FIRST_SCALE = 0.2
FIRST_WEIGHT = 2.0

#: Log-ratios this close to a boundary lie on it: a ratio of 3/2 is not above 1.5 by rounding.
TIE = 1e-12

#: Scale of log-ratios that never scatter.
_LEAST_SCALE = 1e-9

#: Accuracy of the ends of an interval, as a share of the ratio.
_ACCURACY = 1e-7


def sign_process(successes: ArrayLike, tosses: ArrayLike) -> FloatArray:
    """Logarithm of the evidence against a coin that shows heads with probability at most 1/2.

    E = 2^n ∫ 2 p^s (1 - p)^(n - s) dp over p from 1/2 to 1: the mean likelihood ratio of a coin
    whose p is uniform there against the fair coin. The integral is a tail of a beta distribution.

    Parameters
    ----------
    successes, tosses : array_like of int
        Heads s and tosses n, of one shape.

    Returns
    -------
    ndarray of float64
        log E; -inf where E is below the smallest number.
    """
    s, n = np.asarray(successes, dtype=np.float64), np.asarray(tosses, dtype=np.float64)
    with np.errstate(divide="ignore"):
        tail = np.log(betainc(n - s + 1, s + 1, 0.5))
    return np.asarray((n + 1) * math.log(2) + betaln(s + 1, n - s + 1) + tail)


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
    known = _known_before(finite, logs.size)
    result[known > 0] = shrunk[known[known > 0] - 1]
    return result


def deviations(logs: FloatArray, scatter: float) -> FloatArray:
    """Standard deviation that each log-ratio is assumed not to exceed.

    Parameters
    ----------
    logs : ndarray of shape (n,)
    scatter : float
        What is assumed before anything is measured.

    Returns
    -------
    ndarray of shape (n,)
        At least ``scatter``, and what the finite log-ratios before it show: half of the mean square
        of the differences of successive ones estimates the variance.
    """
    result = np.full(logs.size, scatter)
    finite = np.flatnonzero(np.isfinite(logs))
    if finite.size > 1:
        squares = np.diff(logs[finite]) ** 2 / 2
        shown = np.sqrt(np.cumsum(squares) / np.arange(1, squares.size + 1))
        known = _known_before(finite, logs.size)
        result[known > 0] = np.maximum(scatter, shown[known[known > 0] - 1])
    return result


def _known_before(finite: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """How many differences of finite log-ratios lie wholly before each of all log-ratios."""
    return np.searchsorted(finite[1:], np.arange(count))


class RatioEvidence:
    """Evidence on the centre of the distribution of some log-ratios.

    Parameters
    ----------
    logs : ndarray of shape (n,)
        Log-ratios in the order in which they were measured; -inf and +inf are legal.
    scatter : float
        Standard deviation that a log-ratio is assumed not to exceed; +inf if none is known.
    far_ends : ndarray of shape (n,), optional
        If ``logs`` are bounds of the log-ratios: the bounds on their other side, which may be
        infinite.

    Notes
    -----
    Evidence that θ > c is only taken from log-ratios whose median is above c. This makes it
    smaller, so it stays valid; the median thus lies in every interval, and evidence for both
    sides at once, which skewed noise could give, does not occur.
    """

    def __init__(
        self, logs: FloatArray, scatter: float = math.inf, far_ends: FloatArray | None = None
    ) -> None:
        self.logs = logs
        self.scatter = scatter
        self._endless = np.isinf(logs if far_ends is None else far_ends)
        self._scales = scales(logs)
        self._deviations = deviations(logs, scatter)
        self._intervals: dict[float, tuple[float, float]] = {}

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.logs.size

    @cached_property
    def median(self) -> float:
        """Median of the log-ratios; nan if there are none.

        It is 0 when the middle lies between -inf and +inf: then nothing favours either side.
        """
        if self.logs.size == 0:
            return math.nan
        ordered = np.sort(self.logs)
        low, high = float(ordered[(ordered.size - 1) // 2]), float(ordered[ordered.size // 2])
        if low == high:
            return low
        return 0.0 if math.isinf(low) and math.isinf(high) else (low + high) / 2

    def above(self, boundary: float) -> float:
        """Logarithm of the evidence that the centre is above a boundary (both logarithmic)."""
        return self.evidence(boundary, 1.0) if self.median > boundary + TIE else -math.inf

    def below(self, boundary: float) -> float:
        """Logarithm of the evidence that the centre is below a boundary (both logarithmic)."""
        return self.evidence(boundary, -1.0) if self.median < boundary - TIE else -math.inf

    def evidence(self, boundary: float, side: float) -> float:
        """Logarithm of the evidence for one side of a boundary, whatever the median is.

        Parameters
        ----------
        boundary : float
            Logarithm of a ratio.
        side : {1.0, -1.0}
            Evidence for above, or for below.
        """
        beyond = self._beyond(boundary, side)
        sign = _sign(int(np.count_nonzero(beyond > 0)), beyond.size)
        bets = self._bets(beyond).sum(axis=1) + self._log_weights
        return _log_sum([math.log(SIGN_WEIGHT) + sign, *bets.tolist()])

    def path(self, boundary: float, side: float) -> FloatArray:
        """Logarithm of the `evidence` after each pair.

        Returns
        -------
        ndarray of shape (n,)
        """
        beyond = self._beyond(boundary, side)
        sign = sign_process(np.cumsum(beyond > 0), np.arange(1, beyond.size + 1))
        bets = np.cumsum(self._bets(beyond), axis=1) + self._log_weights[:, None]
        both = np.vstack([math.log(SIGN_WEIGHT) + sign, bets])
        return np.asarray(np.logaddexp.reduce(both, axis=0))

    def interval(self, threshold: float) -> tuple[float, float]:
        """The boundaries against which the evidence is below a threshold.

        Parameters
        ----------
        threshold : float
            At least 1. The interval misses the centre with probability at most 2/threshold,
            at whatever time one looks.

        Returns
        -------
        low, high : float
            Logarithms of ratios; -inf and +inf where no boundary is excluded.
        """
        if threshold not in self._intervals:
            log_threshold = math.log(threshold)
            self._intervals[threshold] = (
                self._end(log_threshold, 1.0),
                self._end(log_threshold, -1.0),
            )
        return self._intervals[threshold]

    def _beyond(self, boundary: float, side: float) -> FloatArray:
        beyond = side * (self.logs - boundary)
        beyond[np.abs(beyond) <= TIE] = 0.0
        return beyond

    def _bets(self, beyond: FloatArray) -> FloatArray:
        """Logarithms of the factors of the symmetric and the distance process, one row for each."""
        standardised = SHIFTS[:, None] * (beyond / self._scales)
        symmetric = np.log1p(np.tanh(np.minimum(np.maximum(standardised, -1.0), 1.0)))
        if math.isinf(self.scatter):
            return symmetric
        gains = 2.0 * (np.clip(beyond, 0.0, FARTHEST) / self._deviations) ** 2
        gains[self._endless] = np.minimum(gains[self._endless], 2.0)
        gains[beyond == math.inf] = 2.0
        with np.errstate(divide="ignore"):
            distance = np.log(1.0 - STAKES[:, None] + STAKES[:, None] * gains)
        return np.vstack([symmetric, distance])

    @cached_property
    def _log_weights(self) -> FloatArray:
        """Logarithms of the weights of the rows of `_bets`."""
        if math.isinf(self.scatter):
            return np.full(SHIFTS.size, math.log((1 - SIGN_WEIGHT) / SHIFTS.size))
        symmetric = (1 - SIGN_WEIGHT - DISTANCE_WEIGHT) / SHIFTS.size
        weights = [symmetric] * SHIFTS.size + [DISTANCE_WEIGHT / STAKES.size] * STAKES.size
        return np.log(weights)

    def _end(self, log_threshold: float, side: float) -> float:
        from scipy.optimize import brentq  # type: ignore[import-untyped]  # slow to load

        finite = self.logs[np.isfinite(self.logs)]
        nowhere = -side * math.inf
        # Beyond all finite values by this much, every bet is clipped and nothing changes any more.
        reach = float(self._scales.max(initial=0.0) / SHIFTS[0]) + FARTHEST
        outermost = float((side * finite).min(initial=math.inf))
        outermost = (0.0 if math.isinf(outermost) else outermost) - reach
        innermost = side * self.median
        if not innermost > -math.inf or self.evidence(side * outermost, side) < log_threshold:
            return nowhere
        if innermost == math.inf:
            innermost = float((side * finite).max(initial=outermost)) + reach
            if self.evidence(side * innermost, side) >= log_threshold:
                return side * math.inf
        elif self.evidence(side * innermost, side) >= log_threshold:
            return self.median
        root = brentq(
            lambda at: self.evidence(side * at, side) - log_threshold,
            outermost,
            innermost,
            xtol=_ACCURACY,
        )
        return side * float(root)


def _log_sum(logs: list[float]) -> float:
    """Logarithm of the sum of some numbers, given their logarithms, of which one is finite."""
    largest = max(logs)
    return largest + math.log(sum(math.exp(log - largest) for log in logs))


@lru_cache(maxsize=1 << 16)
def _sign(successes: int, tosses: int) -> float:
    """The sign process, cached: the search for an interval asks for few values often."""
    return float(sign_process(successes, tosses))


@lru_cache(maxsize=4096)
def evidence_of(
    logs: tuple[float, ...],
    scatter: float = math.inf,
    far_ends: tuple[float, ...] | None = None,
) -> RatioEvidence:
    """The evidence of some log-ratios; cached, as pages are judged again and again."""
    ends = logs if far_ends is None else far_ends
    return RatioEvidence(np.array(logs, dtype=np.float64), scatter, np.array(ends))
