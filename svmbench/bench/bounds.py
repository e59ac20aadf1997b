"""Judges the bounds: each is a claim in the cases in which it was measured.

`svmbench.claims.judge` answers all of them together. A missed bound is a result like any other,
not an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from svmbench.bench.champion import ROLE, champion
from svmbench.bench.floor import machine_floor
from svmbench.bench.found import Found
from svmbench.bench.growth import steps
from svmbench.bench.rows import last_cache
from svmbench.bench.stated_bounds import StatedBound, is_one_of
from svmbench.bench.versus import Versus, by_problem, comparisons, most_pairs
from svmbench.claims import remedy
from svmbench.claims.judge import KnownParts, judge_cases
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import CaseResult, ClaimCase, ClaimVerdict, PartResult
from svmbench.evidence import LEVEL
from svmbench.records.groups import heading
from svmbench.records.measures import Asked
from svmbench.records.samples import measured
from svmbench.records.spelling import short

#: Fewest last-level caches that rows must fill for growth and memory to be judged; a
#: little less than three, because rows are rounded.
BEYOND = 2.99


@dataclass(frozen=True)
class BoundResult:
    """A bound at one place.

    Parameters
    ----------
    place : str
        Set, λ, accuracy.
    set : str
        Label of the set, or name of the rows.
    result : CaseResult, optional
        None if nothing was measured.
    unit : float
        What the ratio of the claim's answer is taken to.
    value : float
        The measured value, if no chance is involved.
    held_out : bool
        Whether its set was kept out of tuning.
    lam : float
        nan if there is no λ that distinguishes it from others.
    """

    bound: StatedBound
    place: str
    set: str = ""
    result: CaseResult | None = None
    unit: float = 1.0
    value: float = math.nan
    note: str = ""
    held_out: bool = False
    lam: float = math.nan

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
        return self.value if answer is None else self.unit * float(getattr(answer, name))

    @property
    def missed(self) -> bool:
        """Whether the estimate lies outside the region."""
        low, high = self.bound.region
        return self.measured < low or self.measured > high

    @property
    def short_by(self) -> float:
        """Factor by which the estimate misses the bound; 1 if it does not."""
        low, high = self.bound.region
        if not self.missed or not self.measured > 0:
            return 1.0
        return low / self.measured if self.measured < low else self.measured / high

    @property
    def tried(self) -> str:
        """Why it is missed, as far as known; empty if it is not missed."""
        said = [
            one.text
            for one in self.bound.tried
            if (not one.sets or self.set in one.sets) and is_one_of(self.lam, one.lambdas)
        ]
        return " ".join(said) if self.missed else ""

    @property
    def takes(self) -> str:
        """What would decide it, in words; empty if it is decided."""
        if self.result is None or self.verdict != "open":
            return ""
        return remedy.of([self.result], None)


@dataclass(frozen=True)
class JudgedBounds:
    """All bounds at all places.

    Parameters
    ----------
    threshold : float
        Evidence that decides a question of this page; it also determines the intervals.
    """

    results: list[BoundResult]
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
    drafts = [list(_PLACES[bound.kind](found, bound)) for bound in bounds]
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


# ---------------------------------------------------------------- where each kind is measured


def _faster(found: Found, bound: StatedBound) -> Iterator[_BoundDraft]:
    """Ratios; if several sweeps pose a problem, from the one with most pairs.

    A bound on all programs takes all sweeps, so that none is chosen by the times in it.
    """
    solvers = _solvers(bound)
    rivals = bound.over or None
    for members in by_problem(comparisons(found, rivals, bound.part, solvers, bound.covers)):
        chosen = members if bound.everywhere else [most_pairs(members)]
        for one in chosen:
            label = one.row.group.label
            place = one.place + (f", {label}" if len(solvers) > 1 else "")
            place += f" ({one.part})" if len(chosen) > 1 else ""
            claim = _claim(bound, one.asked, solver=label, over=one.best.group.label, by=bound.by)
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


def _reaches(found: Found, bound: StatedBound) -> Iterator[_BoundDraft]:
    """Numbers of single rows; memory does not scatter, so that one shows whether it is reached."""
    asked = Asked(bound.measure)
    for part in found.of_kind(bound.part):
        for row in part.rows:
            label, values = row.group.label, list(measured(row.group, asked).values())
            chosen = _is_large(row) if bound.part == "growth" else label in _solvers(bound)
            floor = machine_floor(found.gathers, row.group) if bound.floor else None
            if not (chosen and values and bound.covers(part.set)) or (bound.floor and not floor):
                continue
            assert bound.at_most is not None
            at_most = bound.at_most * (floor.least if floor else 1.0)
            place = f"{heading(part.set, row.group.stand_in)}, {label}"
            claim = _claim(bound, asked, solvers=(label,), at_most=at_most)
            fact = values[0] if asked.measure.taken == "of data" else math.nan
            result = BoundResult(
                bound, place, part.set, unit=bound.at_most, value=fact, held_out=part.held_out
            )
            yield result, claim, _case(place, [row])


def _alike(found: Found, bound: StatedBound) -> Iterator[_BoundDraft]:
    """Steps from one number of rows to the next."""
    for part in found.of_kind(bound.part):
        for step in steps(part.rows):
            if step.axis == "m" and _is_large(step.before):
                rows = (step.before, step.after)
                size = step.before.axis("array_bytes")
                grown = f"{short(step.grown, 3)} times the rows, from {float(size) / 2**20:.0f} MiB"
                place = f"{part.set}, {grown}"
                labels = tuple(row.group.label for row in rows)
                claim = _claim(bound, Asked(bound.measure), solvers=labels, within=bound.within)
                result = BoundResult(bound, place, part.set, held_out=part.held_out)
                yield result, claim, _case(place, rows)


_PLACES: dict[str, Callable[[Found, StatedBound], Iterator[_BoundDraft]]] = {
    "faster": _faster,
    "reaches": _reaches,
    "alike": _alike,
}


@lru_cache(maxsize=4096)
def _claim(bound: StatedBound, asked: Asked, **given: object) -> Claim:
    shared = {"text": bound.text, "source": "this benchmark", "kind": bound.kind}
    return Claim.model_validate({**shared, "measure": asked, **given})


def _solvers(bound: StatedBound) -> list[str]:
    return [champion() if solver == ROLE else solver for solver in bound.solver]


def _is_large(row: MeasuredRow) -> bool:
    return float(row.axis("array_bytes")) >= BEYOND * last_cache()


def _case(place: str, rows: Iterable[MeasuredRow]) -> ClaimCase:
    by_label = {row.group.label: row for row in rows}
    group = next(iter(by_label.values())).group
    return ClaimCase(place, group.dataset, group.stand_in, by_label)
