"""Evidence on the change of a ratio between two problems, each with pairs of its own.

Let θ be the centre of the log-ratios on the one problem and φ that on the other. If φ - θ <= c,
then neither θ < t nor φ > t + c is true for t = θ. The evidence against φ - θ <= c is therefore

    E(c) = inf over t of 1/2 (E_below(t) of the first + E_above(t + c) of the second).

If φ - θ <= c is true, then at t = θ the sum is E_below(θ) + E_above(θ + c), which is at most
E_below(θ) + E_above(φ). Both have an expectation of at most 1 whenever one looks, whatever the two
problems have in common, and so has E(c). As E_below(t) increases in t and E_above(t + c) decreases,
the sum over a range of t is at least E_below at its beginning plus E_above at its end: the search
for the infimum errs on the lower side.

The pairs of the two problems need not be equally many, nor measured at the same time: they are not
compared with each other. A pair across the problems would have to be completed whatever its first
half shows, and further repeats of one problem are run because of what its earlier ones have shown.
The interval of φ - θ is that of φ less that of θ, each at twice the threshold. It contains every c
with less evidence than the threshold, because the infimum is at least the largest minimum of both.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from heapq import heappush, heapreplace

import numpy as np

from svmbench.evidence.forecast import needed_sides, pairs_until_decided
from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of
from svmbench.evidence.questions import Question

#: Most steps of the search for t, each of which halves a part of its range.
_STEPS = 100

#: The search ends when it has the logarithm of the evidence up to this.
_CLOSE = 0.01

#: No two measurements are further apart, as a logarithm.
_FARTHEST = 100.0

_LOG_TWO = math.log(2.0)


class ChangeEvidence:
    """Evidence on the difference of the centres of two sequences of log-ratios.

    It has the same methods as `RatioEvidence`, for the second centre less the first.

    Parameters
    ----------
    before, after : RatioEvidence
    """

    def __init__(self, before: RatioEvidence, after: RatioEvidence) -> None:
        self._before = before
        self._after = after
        self._known: dict[tuple[float, float], float] = {}

    @property
    def pairs(self) -> int:
        """Pairs of the problem that has fewer."""
        return min(self._before.pairs, self._after.pairs)

    @cached_property
    def median(self) -> float:
        """Difference of the medians; 0, which favours neither side, of two equal infinite ones."""
        before, after = self._before.median, self._after.median
        return 0.0 if before == after else after - before

    def above(self, boundary: float) -> float:
        """Logarithm of the evidence that the difference is above a boundary."""
        return self._evidence(boundary, 1.0)

    def below(self, boundary: float) -> float:
        """Logarithm of the evidence that the difference is below a boundary."""
        return self._evidence(boundary, -1.0)

    def interval(self, threshold: float) -> tuple[float, float]:
        """The boundaries against which the evidence is below a threshold."""
        (first_low, first_high), (low, high) = (
            each.interval(2.0 * threshold) for each in (self._before, self._after)
        )
        return (
            low - first_high if first_high < math.inf else -math.inf,
            high - first_low if first_low > -math.inf else math.inf,
        )

    def split(self, boundary: float) -> float:
        """The middle of the values of t that separate the medians beyond a boundary."""
        return (self._within(self._before.median) + self._within(self._after.median - boundary)) / 2

    def _evidence(self, boundary: float, side: float) -> float:
        key = boundary, side
        if key not in self._known:
            self._known[key] = self._search(boundary, side) - _LOG_TWO
        return self._known[key]

    def _search(self, boundary: float, side: float) -> float:
        """Logarithm of the infimum over t of the sum, from below and up to `_CLOSE`.

        Of the parts of the range between the medians, that with the least lower bound is halved.
        """
        near = self._within(self._before.median)
        far = self._within(self._after.median - boundary)
        if not side * (far - near) > TIE:
            return -math.inf

        def at(t: float) -> tuple[float, float, float]:
            if side > 0.0:
                return t, self._before.below(t), self._after.above(t + boundary)
            return t, self._before.above(t), self._after.below(t + boundary)

        begin, end = at(near), at(far)
        lowest = beyond = min(begin[2], end[1])  # what the sum is at least beyond the medians
        parts = [(_sum(begin[1], end[2]), begin, end)]
        for _ in range(_STEPS):
            least, left, right = parts[0]
            if least >= lowest - _CLOSE:
                break
            middle = at((left[0] + right[0]) / 2)
            lowest = min(lowest, _sum(middle[1], middle[2]))
            heapreplace(parts, (_sum(left[1], middle[2]), left, middle))
            heappush(parts, (_sum(middle[1], right[2]), middle, right))
        return min(beyond, parts[0][0])

    @staticmethod
    def _within(value: float) -> float:
        return min(max(value, -_FARTHEST), _FARTHEST)


def _sum(one: float, other: float) -> float:
    """Logarithm of the sum of two numbers, given their logarithms."""
    return float(np.logaddexp(one, other))


@lru_cache(maxsize=4096)
def change_of(
    before: tuple[float, ...],
    after: tuple[float, ...],
    scatter: float = math.inf,
    far_ends: tuple[tuple[float, ...] | None, tuple[float, ...] | None] = (None, None),
) -> ChangeEvidence:
    """The evidence of two sequences; cached, as pages are judged again and again."""
    return ChangeEvidence(
        evidence_of(before, scatter, far_ends[0]), evidence_of(after, scatter, far_ends[1])
    )


def of_sides(question: Question) -> tuple[ChangeEvidence, ChangeEvidence]:
    """Evidence that a change is above a boundary, and evidence that it is below."""
    assert question.before is not None
    (lowers, uppers), scatter = question.before, question.scatter
    return (
        change_of(uppers, question.logs, scatter, (lowers, question.uppers)),
        change_of(lowers, question.uppers, scatter, (uppers, question.logs)),
    )


def changing(
    before: Question, after: Question, low: float = 0.0, high: float = math.inf
) -> Question:
    """Ask by which factor a ratio changes from one problem to another.

    Parameters
    ----------
    before, after : Question
        The pairs on both problems; their regions do not matter.
    low, high : float
        Claimed region of the ratio on the second problem, divided by that on the first.
    """
    return Question(
        after.logs,
        low,
        high,
        upper_logs=after.upper_logs,
        before=(before.logs, before.uppers),
        scatter=max(before.scatter, after.scatter),
    )


def pairs_of_halves(
    question: Question, low: float, high: float, log_threshold: float
) -> tuple[int | None, int | None]:
    """Further pairs that each problem is expected to need until a change is decided.

    Parameters
    ----------
    question : Question
        Of `changing`.
    low, high : float
        Its region, as logarithms.
    log_threshold : float
        Logarithm of the evidence that decides.

    Returns
    -------
    tuple of two
        As of `pairs_until_decided`; 0 for a problem that has enough.
    """
    assert question.before is not None
    lowers, uppers = question.before
    seen = dict(zip((1.0, -1.0), of_sides(question), strict=True))
    sides = [
        (boundary, side)
        for boundary, side in needed_sides(seen[1.0].median, seen[-1.0].median, low, high)
        if math.isfinite(boundary)
    ]
    if not sides or any(not side * (seen[side].median - at) > TIE for at, side in sides):
        return None, None
    log_threshold += _LOG_TWO  # then the sum is enough, whatever the other problem shows
    before: list[int | None] = []
    after: list[int | None] = []
    for boundary, side in sides:
        t = seen[side].split(boundary)
        for found, bounds, at, towards in (
            (before, (lowers, uppers), t, -side),
            (after, (question.logs, question.uppers), t + boundary, side),
        ):
            found.append(_until(bounds, at, towards, log_threshold, question.scatter))
    first, second = _most(before), _most(after)
    return (1, 1) if (first, second) == (0, 0) else (first, second)


def _until(
    bounds: tuple[tuple[float, ...], tuple[float, ...]],
    boundary: float,
    side: float,
    log_threshold: float,
    scatter: float,
) -> int | None:
    """Further pairs until one problem shows its centre on one side of a boundary."""
    lowers, uppers = bounds
    if side > 0.0:
        shown = evidence_of(lowers, scatter, uppers).above(boundary)
        low, high = boundary, math.inf
    else:
        shown = evidence_of(uppers, scatter, lowers).below(boundary)
        low, high = -math.inf, boundary
    if shown >= log_threshold:
        return 0
    return pairs_until_decided(lowers, uppers, low, high, log_threshold, scatter=scatter)


def _most(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) else None
