"""Evidence on the change of a ratio between two problems, each with pairs of its own.

Let θ be the median of the log-ratios on the one problem and φ that on the other. If φ - θ <= c,
then neither θ < t nor φ > t + c is true for t = θ. The evidence against φ - θ <= c is therefore

    E(c) = inf over t of 1/2 (E_below(t) of the first + E_above(t + c) of the second).

If φ - θ <= c is true, then at t = θ the sum is E_below(θ) + E_above(θ + c), which is at most
E_below(θ) + E_above(φ). Both have an expectation of at most 1 whenever one looks, whatever the two
problems have in common, and so has E(c). Neither problem's ratio need be 1, so that both sides are
evidence of signs: step functions of t, of which the infimum is found at a log-ratio.

The pairs of the two problems need not be equally many, nor measured at the same time: they are not
compared with each other. A pair across the problems would have to be completed whatever its first
half shows, and further repeats of one problem are run because of what its earlier ones have shown.
The interval of φ - θ is that of φ less that of θ, each at twice the threshold. It contains every c
with less evidence than the threshold, because the infimum is at least the largest minimum of both.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from svmbench.evidence.forecast import needed_sides, pairs_until_decided
from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of
from svmbench.evidence.questions import Question

#: No two measurements are further apart, as a logarithm.
_FARTHEST = 100.0

_LOG_TWO = math.log(2.0)


class ChangeEvidence:
    """Evidence on the difference of the medians of two sequences of log-ratios.

    It is that of `RatioEvidence`, for the second median less the first.
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

    def shown(self, boundary: float, side: float) -> float:
        """Logarithm of the evidence that the difference is on one side of a boundary."""
        key = boundary, side
        if key not in self._known:
            self._known[key] = self._least(boundary, side) - _LOG_TWO
        return self._known[key]

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

    def _least(self, boundary: float, side: float) -> float:
        """Logarithm of the infimum over t of the sum."""
        near = self._within(self._before.median)
        far = self._within(self._after.median - boundary)
        if not side * (far - near) > TIE:
            return -math.inf
        steps = np.concatenate([self._before.logs, self._after.logs - boundary, [near, far]])
        between = steps[(side * steps >= side * near) & (side * steps <= side * far)]
        sums = [
            np.logaddexp(self._before.shown(t, -side), self._after.shown(t + boundary, side))
            for t in map(float, np.unique(between))
        ]
        # Beyond a median, which may be infinite, the other problem alone has evidence.
        alone = self._after.shown(near + boundary, side), self._before.shown(far, -side)
        return float(min(*alone, *sums))

    @staticmethod
    def _within(value: float) -> float:
        return min(max(value, -_FARTHEST), _FARTHEST)


@lru_cache(maxsize=4096)
def change_of(before: tuple[float, ...], after: tuple[float, ...]) -> ChangeEvidence:
    """The evidence of two sequences; cached, as pages are judged again and again."""
    return ChangeEvidence(evidence_of(before), evidence_of(after))


def of_sides(question: Question) -> tuple[ChangeEvidence, ChangeEvidence]:
    """Evidence that a change is above a boundary, and evidence that it is below."""
    assert question.before is not None
    lowers, uppers = question.before
    return change_of(uppers, question.logs), change_of(lowers, question.uppers)


def changing(
    before: Question, after: Question, low: float = 0.0, high: float = math.inf
) -> Question:
    """Ask by which factor a ratio changes from one problem to another."""
    return Question(
        after.logs,
        low,
        high,
        upper_logs=after.upper_logs,
        before=(before.logs, before.uppers),
    )


def pairs_of_halves(
    question: Question, low: float, high: float, log_threshold: float
) -> tuple[int | None, int | None]:
    """Further pairs that each problem is expected to need until a change is decided."""
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
            found.append(_until(bounds, at, towards, log_threshold))
    first, second = _most(before), _most(after)
    return (1, 1) if (first, second) == (0, 0) else (first, second)


def _until(
    bounds: tuple[tuple[float, ...], tuple[float, ...]],
    boundary: float,
    side: float,
    log_threshold: float,
) -> int | None:
    """Further pairs until one problem shows its centre on one side of a boundary."""
    lowers, uppers = bounds
    if side > 0.0:
        shown, region = evidence_of(lowers).shown(boundary, 1.0), (boundary, math.inf)
    else:
        shown, region = evidence_of(uppers).shown(boundary, -1.0), (-math.inf, boundary)
    if shown >= log_threshold:
        return 0
    return pairs_until_decided(lowers, uppers, *region, log_threshold)


def _most(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return max(known) if len(known) == len(counts) else None
