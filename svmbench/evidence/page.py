"""Answers to a page of questions, with one bound on false verdicts for all of them.

A page of K questions rejects by e-BH (Wang and Ramdas, 2022): with the K e-values sorted, k is the
largest number for which the k largest are at least t = 2K / (level k), and those k are decided.

*Why 2K.* A false verdict rests on evidence against a true hypothesis. If the ratio θ is at most
`low`, "holds" needs E_above(low) >= t, although θ <= low; if it is at least `high`, E_below(high)
>= t. If it is inside, "does not hold" needs E_below(low) >= t or E_above(high) >= t, and on a
boundary either verdict is false. So at most two e-values of a question can be large by chance
alone, each with an expectation of at most 1. Summed over all questions,

    E[false verdicts / max(k, 1)] <= E[sum of these e-values] / (t k) <= 2K / (t k) = level,

whatever the questions have in common; t k is a constant. The ends of the intervals that signs give
miss θ as rarely: E_above(θ) >= t or E_below(θ) >= t (Xu, Wang and Ramdas, 2022). To count the two
directions once would allow twice as many false verdicts among equal methods that are asked whether
one is faster: there θ is on the boundary. docs/measuring.md has the sources.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np

from svmbench.evidence.changes import ChangeEvidence, change_of
from svmbench.evidence.forecast import FEWEST, pairs_until_changed, pairs_until_decided
from svmbench.evidence.processes import EQUAL, RatioEvidence, evidence_of
from svmbench.evidence.questions import Question, factor_of

#: Expected share of false verdicts among those of a page.
LEVEL = 0.05

#: Share of the level that a shift between days may use up.
SHIFT_SHARE = 0.2

Verdict = Literal["holds", "does not hold", "open"]


@dataclass(frozen=True)
class Answer:
    """What the pairs of a question say about it."""

    verdict: Verdict  # whether the ratio was shown to lie inside the region, outside, or neither
    # median ratio of the informative pairs; may be 0 or +inf; nan without pairs. A lower bound of
    # it if the question has `Question.upper_logs`; its upper bound is `estimate_high`.
    estimate: float
    # low, high: interval of the ratio by the same evidence and threshold: it lies within the region
    # if the claim holds, outside if the claim does not hold, and contains a boundary of the region
    # if the question is open. It may touch the boundary in all three cases.
    low: float
    high: float
    pairs: int  # informative pairs
    # e_inside, e_outside: evidence that the ratio lies inside and outside the region
    e_inside: float
    e_outside: float
    threshold: float  # evidence that decides a question on this page
    # further pairs until the question is decided if they are like those so far; 0 if it is decided,
    # None if `forecast.MOST` more pairs would not decide it
    more: int | None
    estimate_high: float = math.nan  # the same as `estimate` unless that is a bound

    @property
    def forecast(self) -> int | None:
        """`more`, if there are enough pairs to say so."""
        return self.more if self.pairs >= FEWEST else None


def judge(
    questions: Sequence[Question], level: float = LEVEL, only: Sequence[int] | None = None
) -> list[Answer]:
    """Answer the questions of a page, or those of the indices ``only``.

    All questions count, also those without informative pairs: which questions a page asks must not
    depend on what was measured. The page may be judged after every complete block, and pairs may be
    added to any question because of earlier answers; whether a pair is completed must not depend on
    its first half. An answer can become open again.
    """
    views, decided = _views(questions, level)
    first = 2 * len(questions) / level  # the threshold if one question alone is decided
    threshold = first / max(decided, 1)
    following = first / (decided + 1)  # the threshold for the next one to be decided
    wanted = views if only is None else [views[at] for at in only]
    return [view.answer(threshold, following) for view in wanted]


def verdicts(questions: Sequence[Question], level: float = LEVEL) -> list[Verdict]:
    """The verdicts that `judge` gives, without intervals and forecasts, which take far longer."""
    views, decided = _views(questions, level)
    least = math.log(2 * len(questions) / (level * max(decided, 1))) if questions else 0.0
    return [view.verdict(least) for view in views]


def _views(questions: Sequence[Question], level: float) -> tuple[list[_View], int]:
    """The evidence on each question of a page, and how many are decided."""
    if not 0.0 < level < 1.0:
        raise ValueError("a level is a probability between 0 and 1")
    first = 2 * len(questions) / level
    views = [_View.of(question, first) for question in questions]
    return views, decisions([max(view.inside, view.outside) for view in views], level)


def decisions(log_evidence: Sequence[float], level: float) -> int:
    """The largest k such that k logarithms of evidence are at least log(2K / (level k))."""
    ordered = np.sort(np.asarray(log_evidence, dtype=np.float64))[::-1]
    counts = np.arange(1, ordered.size + 1)
    enough = np.flatnonzero(ordered >= np.log(2 * ordered.size / (level * counts)))
    return int(enough[-1]) + 1 if enough.size else 0


@dataclass(frozen=True)
class _View:
    """A question with its evidence, and what a shift between days takes from it.

    A shift D is not observed. Given D, E_above is an e-process for θ + D. If θ <= c, then
    E_above(c + d) has an expectation of at most 1 given that D <= d, so that of
    (1 - q) min(E_above(c + d), M) is at most (1 - q)(1 + M P(D > d)) for every d > 0. This is 1 for
    M = first/(1 - q) and P(D > d) = q/first. As the product can still reach `first`, the largest
    threshold of the page, the minimum never matters to a verdict and is not taken.
    """

    question: Question
    lower: RatioEvidence | ChangeEvidence
    upper: RatioEvidence | ChangeEvidence
    low: float
    high: float
    widening: float
    loss: float

    @staticmethod
    def of(question: Question, first: float) -> _View:
        low = math.log(question.low) if question.low > 0 else -math.inf
        high = math.log(question.high)
        lower, upper = _evidence(question)
        if question.shift_sd == 0.0:
            return _View(question, lower, upper, low, high, 0.0, 0.0)
        widening = question.shift_sd * -NormalDist().inv_cdf(SHIFT_SHARE / first)
        return _View(question, lower, upper, low, high, widening, -math.log1p(-SHIFT_SHARE))

    def above(self, boundary: float) -> float:
        if boundary == -math.inf:
            return math.inf
        return self._shown(self.lower, boundary, 1.0)

    def below(self, boundary: float) -> float:
        if boundary == math.inf:
            return math.inf
        return self._shown(self.upper, boundary, -1.0)

    def _shown(
        self, evidence: RatioEvidence | ChangeEvidence, boundary: float, side: float
    ) -> float:
        at = boundary + side * self.widening
        symmetric = self.question.exchangeable and abs(boundary) < EQUAL
        return evidence.shown(at, side, symmetric) - self.loss

    @cached_property
    def inside(self) -> float:
        return min(self.above(self.low), self.below(self.high))

    @cached_property
    def outside(self) -> float:
        below = -math.inf if self.low == -math.inf else self.below(self.low)
        above = -math.inf if self.high == math.inf else self.above(self.high)
        return max(below, above)

    def verdict(self, least: float) -> Verdict:
        if self.inside >= least:
            return "holds"
        return "does not hold" if self.outside >= least else "open"

    def answer(self, threshold: float, following: float) -> Answer:
        inside, outside = self.inside, self.outside
        verdict = self.verdict(math.log(threshold))
        low, high = self._interval(threshold)
        return Answer(
            verdict=verdict,
            estimate=factor_of(self.lower.median),
            low=factor_of(low),
            high=factor_of(high),
            pairs=self.lower.pairs,
            e_inside=factor_of(inside),
            e_outside=factor_of(outside),
            threshold=threshold,
            more=0 if verdict != "open" else self._more(following),
            estimate_high=factor_of(self.upper.median),
        )

    def _interval(self, threshold: float) -> tuple[float, float]:
        raised = threshold * math.exp(self.loss)
        low = self.lower.interval(raised)[0] - self.widening
        high = self.upper.interval(raised)[1] + self.widening
        # At 1 there is other evidence than that of signs: the ends agree with the verdict.
        least = math.log(threshold)
        for boundary in (self.low, self.high):
            if math.isfinite(boundary):
                low = (max if self.above(boundary) >= least else min)(low, boundary)
                high = (min if self.below(boundary) >= least else max)(high, boundary)
        return low, high

    def _more(self, threshold: float) -> int | None:
        if isinstance(self.lower, ChangeEvidence) and isinstance(self.upper, ChangeEvidence):
            return pairs_until_changed(
                self.lower, self.upper, self.low, self.high, math.log(threshold)
            )
        return pairs_until_decided(
            self.question.logs,
            self.question.uppers,
            self.low,
            self.high,
            math.log(threshold) + self.loss,
            self.widening,
            self.question.exchangeable,
        )


def _evidence(
    question: Question,
) -> tuple[RatioEvidence | ChangeEvidence, RatioEvidence | ChangeEvidence]:
    """Evidence that the ratio is above a boundary, and evidence that it is below."""
    if question.before is None:
        return evidence_of(question.logs), evidence_of(question.uppers)
    lowers, uppers = question.before
    return change_of(uppers, question.logs), change_of(lowers, question.uppers)
