"""Judges the bounds: each is a claim in the cases in which it was measured.

`svmbench.claims.judge` answers all of them together. A missed bound is a result like any other,
not an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from svmbench.bench.champion import champion
from svmbench.bench.found import Found
from svmbench.bench.stated_bounds import StatedBound
from svmbench.bench.versus import Versus, by_problem, comparisons, most_pairs
from svmbench.claims import remedy
from svmbench.claims.judge import KnownParts, judge_cases
from svmbench.claims.model import Claim
from svmbench.claims.parts import CaseResult, ClaimCase, ClaimVerdict, PartResult
from svmbench.evidence.page import LEVEL
from svmbench.records.measures import Asked


@dataclass(frozen=True)
class BoundResult:
    bound: StatedBound
    place: str  # set, λ, accuracy
    set: str = ""  # label of the set, or name of the rows
    result: CaseResult | None = None  # None if nothing was measured
    note: str = ""
    held_out: bool = False  # whether its set was kept out of tuning
    lam: float = math.nan  # nan if there is no λ that distinguishes it from others

    @property
    def part(self) -> PartResult | None:
        """The comparison that its verdict rests on."""
        return None if self.result is None else self.result.parts[0]

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict of the claim here; what was not measured is not testable."""
        return "not testable" if self.result is None else self.result.verdict

    @property
    def measured(self) -> float:
        """The estimate; nan if nothing was measured."""
        return self._number("estimate")

    @property
    def low(self) -> float:
        """Lower end of its interval, by the evidence of the verdict."""
        return self._number("low")

    @property
    def high(self) -> float:
        """Upper end of its interval."""
        return self._number("high")

    def _number(self, name: str) -> float:
        answer = None if self.part is None else self.part.answer
        return math.nan if answer is None else float(getattr(answer, name))

    @property
    def missed(self) -> bool:
        """Whether the estimate lies below the bound."""
        return self.measured < self.bound.by

    @property
    def short_by(self) -> float:
        """Factor by which the estimate misses the bound; 1 if it does not."""
        return self.bound.by / self.measured if self.missed and self.measured > 0 else 1.0

    @property
    def takes(self) -> str:
        """What would decide it, in words; empty if it is decided."""
        if self.result is None or self.verdict != "open":
            return ""
        return remedy.of([self.result], None)


@dataclass(frozen=True)
class JudgedBounds:
    results: list[BoundResult]
    # evidence that decides a question of this page; it also determines the intervals
    threshold: float


#: A bound at a place, and what it claims there.
_BoundDraft = tuple[BoundResult, Claim, ClaimCase]


def judge_bounds(
    found: Found, bounds: Sequence[StatedBound], known: KnownParts | None = None
) -> JudgedBounds:
    """Judge every bound at every place where it was measured.

    A bound that was measured nowhere, or not on all sets that it names, also appears in the
    results as not testable.
    """
    drafts = [list(_places(found, bound)) for bound in bounds]
    claims = [(claim, [case]) for places in drafts for _, claim, case in places]
    answered = iter(judge_cases(claims, known))
    results = []
    for bound, places in zip(bounds, drafts, strict=True):
        results += [replace(one, result=next(answered).cases[0]) for one, _, _ in places]
        missing = [label for label in bound.sets if all(one.set != label for one, _, _ in places)]
        if missing or not places:
            results.append(BoundResult(bound, ", ".join(missing)))
    answers = (one.part.answer for one in results if one.part is not None)
    threshold = max((answer.threshold for answer in answers if answer), default=2 / LEVEL)
    return JudgedBounds(results, threshold)


def _places(found: Found, bound: StatedBound) -> Iterator[_BoundDraft]:
    """Ratios; if several sweeps pose a problem, from the one with most pairs.

    A bound on all programs takes all sweeps, so that none is chosen by the times in it.
    """
    for members in by_problem(comparisons(found, bound.over or None, wanted=bound.covers)):
        chosen = members if bound.everywhere else [most_pairs(members)]
        for one in chosen:
            place = one.place + (f" ({one.part})" if len(chosen) > 1 else "")
            claim = _claim(bound, one.asked, one.best.group.label)
            result = BoundResult(
                bound, place, one.set, note=_note(one), held_out=one.held_out, lam=one.lam
            )
            yield result, claim, one.case


def _note(one: Versus) -> str:
    if not one.informative:
        return "nobody reached the accuracy"
    if math.isinf(one.ours):
        return f"{one.row.group.label} did not reach it"
    if one.program:
        return f"fastest: {one.program}"
    return "none of the programs reached it; the time they had spent counts"


@lru_cache(maxsize=4096)
def _claim(bound: StatedBound, asked: Asked, over: str) -> Claim:
    return Claim(
        text=bound.text,
        source="this benchmark",
        kind="ratio",
        measure=asked,
        solver=champion(),
        over=over,
        by=bound.by,
    )
