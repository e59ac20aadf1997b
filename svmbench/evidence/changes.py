"""Evidence on the change of a ratio between two problems, each with pairs of its own.

Let θ be the centre of the log-ratios on the one problem and φ that on the other. The hypothesis
φ - θ <= c is false if there is some t with θ < t and φ > t + c. The evidence against it is

    E(c) = 1/2 sup over t of min(E_below(t) of the first, E_above(t + c) of the second).

If φ - θ <= c is true, then every t is at most θ or at least φ - c. E_below(t) increases in t and
E_above(t + c) decreases, so that the minimum is at most E_below(θ) + E_above(φ) for every t. Both
have an expectation of at most 1 whenever one looks, and so has E(c).

The pairs of the two problems need not be equally many, nor measured at the same time: they are not
compared with each other. A pair across the problems would have to be completed whatever its first
half shows, and further repeats of one problem are run because of what its earlier ones have shown.
The interval of φ - θ is that of φ less that of θ, each at twice the threshold.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

from svmbench.evidence.forecast import needed_sides, pairs_until_decided
from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of
from svmbench.evidence.questions import Question

#: Steps of the search for t, each of which halves its range.
_STEPS = 32

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
        """The largest minimum over t that is found: one of the two falls where the other rises."""
        near = self._within(self._before.median)
        far = self._within(self._after.median - boundary)
        largest = -math.inf
        if not side * (far - near) > TIE:
            return largest
        for _ in range(_STEPS):
            t = (near + far) / 2
            if side > 0.0:
                first, second = self._before.below(t), self._after.above(t + boundary)
            else:
                first, second = self._before.above(t), self._after.below(t + boundary)
            largest = max(largest, min(first, second))
            near, far = (t, far) if first < second else (near, t)
        return largest

    @staticmethod
    def _within(value: float) -> float:
        return min(max(value, -_FARTHEST), _FARTHEST)


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
    log_threshold += _LOG_TWO
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
