"""Evidence on the change of a ratio between two problems, each with pairs of its own.

Let θ be the median of the log-ratios on the one problem and φ that on the other. If φ - θ <= c,
then neither θ < t nor φ > t + c is true for t = θ. The evidence against φ - θ <= c is therefore

    E(c) = inf over t of 1/2 (E_below(t) of the first + E_above(t + c) of the second).

If φ - θ <= c is true, then at t = θ the sum is E_below(θ) + E_above(θ + c), which is at most
E_below(θ) + E_above(φ). Both have an expectation of at most 1 whenever one looks, whatever the two
problems have in common, and so has E(c). Both sides are evidence of signs: step functions of t,
which are least at a log-ratio.

Pairs of the two problems are not paired with each other: further repeats of one problem are run
because of what its earlier ones have shown. The interval of φ - θ is that of φ less that of θ, each
at twice the threshold; it contains every c with less evidence than the threshold.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of, evidence_of_signs


class ChangeEvidence:
    """What `RatioEvidence` has, for the second of two medians less the first."""

    def __init__(self, before: RatioEvidence, after: RatioEvidence) -> None:
        self._before = before
        self._after = after

    @property
    def pairs(self) -> int:
        return min(self._before.pairs, self._after.pairs)

    @cached_property
    def median(self) -> float:
        """Difference of the medians; 0, which favours neither side, of two equal infinite ones."""
        before, after = self._before.median, self._after.median
        return 0.0 if before == after else after - before

    def shown(self, boundary: float, side: float, symmetric: bool = False) -> float:
        if not side * (self.median - boundary) > TIE:
            return -math.inf
        first, second = side * self._before.logs, side * (self._after.logs - boundary)
        at = np.concatenate([first, second, [0.0]])
        at = at[np.isfinite(at)][:, None]
        sums = np.logaddexp(
            evidence_of_signs(np.sum(first < at - TIE, axis=1), first.size),
            evidence_of_signs(np.sum(second > at + TIE, axis=1), second.size),
        )
        return float(np.min(sums)) - math.log(2.0)

    def interval(self, threshold: float) -> tuple[float, float]:
        """The boundaries against which the evidence is below a threshold."""
        (first_low, first_high), (low, high) = (
            each.interval(2.0 * threshold) for each in (self._before, self._after)
        )
        return (
            low - first_high if first_high < math.inf else -math.inf,
            high - first_low if first_low > -math.inf else math.inf,
        )

    def repeated(self, more: int) -> ChangeEvidence:
        """That of as many more pairs on each problem, if they repeat those so far."""
        return ChangeEvidence(
            *(
                RatioEvidence(np.resize(each.logs, each.pairs + more))
                for each in (self._before, self._after)
            )
        )


@lru_cache(maxsize=4096)
def change_of(before: tuple[float, ...], after: tuple[float, ...]) -> ChangeEvidence:
    """The evidence of two sequences; cached, as pages are judged again and again."""
    return ChangeEvidence(evidence_of(before), evidence_of(after))
