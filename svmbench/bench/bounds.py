"""Judges the bounds: each is a claim in the cells in which it was measured.

`svmbench.claims.judge` answers all of them together. A missed bound is a result like any other,
not an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from svmbench.bench.champion import ROLE, champion
from svmbench.bench.found import Found, steps
from svmbench.bench.profile import Weights
from svmbench.bench.rows import last_cache
from svmbench.bench.targets import Target
from svmbench.bench.versus import Versus, by_problem, comparisons, most_pairs
from svmbench.claims import remedy
from svmbench.claims.judge import judge_cells
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import CellResult, ClaimCell, ClaimVerdict, PartResult
from svmbench.evidence import LEVEL
from svmbench.records.groups import heading, short
from svmbench.records.measures import Asked
from svmbench.records.samples import measured

#: Fewest last-level caches that rows must fill for growth and memory to be judged; a
#: little less than three, because rows are rounded.
BEYOND = 2.99


@dataclass(frozen=True)
class BoundResult:
    """A bound at one place.

    Parameters
    ----------
    target : Target
    place : str
        Set, λ, accuracy.
    set : str
        Label of the set, or name of the rows.
    result : CellResult, optional
        None if nothing was measured.
    unit : float
        What the ratio of the claim's answer is taken to.
    value : float
        The measured value, if no chance is involved.
    note : str
    held_out : bool
        Whether its set was kept out of tuning.
    lam : float
        nan if there is no λ that distinguishes it from others.
    """

    target: Target
    place: str
    set: str = ""
    result: CellResult | None = None
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
        low, high = self.target.region
        return self.measured < low or self.measured > high

    @property
    def short_by(self) -> float:
        """Factor by which the estimate misses the bound; 1 if it does not."""
        low, high = self.target.region
        if not self.missed or not self.measured > 0:
            return 1.0
        return low / self.measured if self.measured < low else self.measured / high

    @property
    def tried(self) -> str:
        """Why it is missed, as far as known; empty if it is not missed."""
        said = [
            one.text
            for one in self.target.tried
            if (not one.sets or self.set in one.sets) and _is_one_of(self.lam, one.lambdas)
        ]
        return " ".join(said) if self.missed else ""

    @property
    def takes(self) -> str:
        """What would decide it, in words; empty if it is decided."""
        undecided = self.result is not None and self.verdict == "open"
        return remedy.of([self.result], None) if undecided and self.result else ""


@dataclass(frozen=True)
class JudgedBounds:
    """All bounds at all places.

    Parameters
    ----------
    results : list of BoundResult
    threshold : float
        Evidence that decides a question of this page; it also determines the intervals.
    """

    results: list[BoundResult]
    threshold: float


#: A bound at a place, and what it claims there.
_Draft = tuple[BoundResult, Claim, ClaimCell]


def judge_bounds(found: Found, targets: Sequence[Target]) -> JudgedBounds:
    """Judge every bound at every place where it was measured.

    A bound that was measured nowhere, or not on all sets that it names, also appears in the
    results as not testable.
    """
    drafts = [list(_PLACES[target.kind](found, target)) for target in targets]
    judged = judge_cells([(claim, [cell]) for places in drafts for _, claim, cell in places])
    answered = iter(judged)
    results = []
    for target, places in zip(targets, drafts, strict=True):
        results += [replace(one, result=next(answered).cells[0]) for one, _, _ in places]
        missing = [label for label in target.sets if all(one.set != label for one, _, _ in places)]
        if missing or not places:
            results.append(BoundResult(target, ", ".join(missing)))
    answers = (one.part.answer for one in results if one.part is not None)
    threshold = max((answer.threshold for answer in answers if answer), default=2 / LEVEL)
    return JudgedBounds(results, threshold)


def _is_one_of(lam: float, lambdas: Weights | None) -> bool:
    return lambdas is None or any(math.isclose(lam, one) for one in lambdas)


# ---------------------------------------------------------------- where each kind is measured


def _ratios(found: Found, target: Target) -> Iterator[_Draft]:
    for one in map(most_pairs, by_problem(comparisons(found, target.than or None))):
        if (
            (not target.sets or one.set in target.sets)
            and (target.accuracy is None or math.isclose(one.threshold or 0.0, target.accuracy))
            and _is_one_of(one.lam, target.lambdas)
        ):
            yield _faster(target, one)


def _ahead(found: Found, target: Target) -> Iterator[_Draft]:
    """All comparisons: the one in which a peer does best must not be chosen by its times."""
    for members in by_problem(comparisons(found)):
        for one in members:
            yield _faster(target, one, f" ({one.part})" if len(members) > 1 else "")


def _beside(
    kind: str, rows: Callable[[Target], Sequence[str]]
) -> Callable[[Found, Target], Iterator[_Draft]]:
    """Return the ratios between rows of measurements beside the sweeps."""

    def ratios(found: Found, target: Target) -> Iterator[_Draft]:
        several = len(rows(target)) > 1
        for one in comparisons(found, target.than, kind, rows(target)):
            if not target.sets or one.set in target.sets:
                result, claim, cell = _faster(target, one)
                place = heading(one.set, one.stand_in)
                place += f", {one.row.group.label}" if several else ""
                yield replace(result, place=place), claim, cell

    return ratios


def _faster(target: Target, one: Versus, suffix: str = "") -> _Draft:
    if not one.informative:
        note = "nobody reached the accuracy"
    elif math.isinf(one.ours):
        note = f"{one.row.group.label} did not reach it"
    elif one.program:
        note = f"fastest: {one.program}"
    else:
        note = "none of the programs reached it; the time they had spent counts"
    claim = _claim(
        target,
        "faster",
        one.asked,
        solver=one.row.group.label,
        over=one.best.group.label,
        by=target.at_least,
    )
    place = one.place + suffix
    result = BoundResult(target, place, one.set, note=note, held_out=one.held_out, lam=one.lam)
    return result, claim, one.cell


def _claim(target: Target, kind: str, asked: Asked, **given: object) -> Claim:
    return Claim.model_validate(
        {"text": target.text, "source": "this benchmark", "kind": kind, "measure": asked, **given}
    )


def _solvers(target: Target) -> list[str]:
    return [champion() if solver == ROLE else solver for solver in target.solver]


def _cell(place: str, rows: Iterable[MeasuredRow]) -> ClaimCell:
    by_label = {row.group.label: row for row in rows}
    group = next(iter(by_label.values())).group
    return ClaimCell(place, group.dataset, group.stand_in, by_label)


def _epochs(found: Found, target: Target) -> Iterator[_Draft]:
    asked = Asked("ns_per_nonzero")
    for part in found.of_kind("epochs"):
        for row in part.rows:
            label = row.group.label
            chosen = not target.sets or part.set in target.sets
            if chosen and label in _solvers(target) and measured(row.group, asked):
                place = f"{heading(part.set, row.group.stand_in)}, {label}"
                claim = _claim(target, "reaches", asked, solvers=[label], at_most=target.at_most)
                result = BoundResult(target, place, part.set, unit=target.at_most or 1.0)
                yield result, claim, _cell(place, [row])


def _growth(found: Found, target: Target) -> Iterator[_Draft]:
    for part in found.of_kind("growth"):
        for step in steps(part.rows):
            size = step.before.group.runs["array_bytes"].iloc[0]
            if step.axis == "m" and size >= BEYOND * last_cache():
                rows = (step.before, step.after)
                grown = f"{short(step.grown, 3)} times the rows, from {size / 2**20:.0f} MiB"
                place = f"{part.set}, {grown}"
                claim = _claim(
                    target,
                    "alike",
                    Asked("ns_per_nonzero"),
                    solvers=[row.group.label for row in rows],
                    within=target.at_most,
                )
                yield BoundResult(target, place, part.set), claim, _cell(place, rows)


def _memory(found: Found, target: Target) -> Iterator[_Draft]:
    """Memory does not scatter: one number shows whether the bound is reached."""
    asked = Asked("memory_over_rows")
    for part in found.of_kind("growth"):
        for row in part.rows:
            label, values = row.group.label, list(measured(row.group, asked).values())
            if row.group.runs["array_bytes"].iloc[0] >= BEYOND * last_cache() and values:
                place = f"{part.set}, {label}"
                claim = _claim(target, "reaches", asked, solvers=[label], at_most=target.at_most)
                result = BoundResult(target, place, part.set, value=values[0])
                yield result, claim, _cell(place, [row])


_PLACES: dict[str, Callable[[Found, Target], Iterator[_Draft]]] = {
    "ratio": _ratios,
    "ahead": _ahead,
    "epoch": _epochs,
    "epoch-ratio": _beside("epochs", _solvers),
    "reading": _beside("reading", lambda target: [target.reader]),
    "text": _beside("text", lambda target: [target.program]),
    "growth": _growth,
    "memory": _memory,
}
