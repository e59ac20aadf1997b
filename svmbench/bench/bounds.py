"""Compares measurements with the bounds: one question for each bound at each place.

All questions are answered together by `svmbench.evidence.judge`. A missed bound is a result like
any other, not an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from svmbench.bench.champion import ROLE, champion
from svmbench.bench.found import (
    Found,
    by_repeat,
    mb_per_second,
    memory_share,
    nanoseconds,
    spent_seconds,
    steps,
    total_seconds,
)
from svmbench.bench.profile import Names, Weights
from svmbench.bench.rows import last_cache
from svmbench.bench.targets import Target
from svmbench.bench.versus import PairedRatio, Versus, by_problem, comparisons, most_pairs
from svmbench.evidence import LEVEL, Answer, judge
from svmbench.records.groups import heading, short

BoundVerdict = Literal["reached", "not reached", "open", "not measured"]

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
    pairs : PairedRatio, optional
        The basis of the evidence; None for a fact that needs none.
    verdict : {'reached', 'not reached', 'open', 'not measured'}
        Open if the pairs do not decide it.
    measured, low, high : float
        Estimate and its interval, by the evidence of the verdict; nan if nothing was measured.
    more : int or None
        Further pairs that are expected to decide it; None if more pairs cannot.
    note : str
    held_out : bool
        Whether its set was kept out of tuning.
    lam : float
        nan if there is no λ that distinguishes it from others.
    versus : Versus, optional
        The comparison that it is about.
    """

    target: Target
    place: str
    set: str = ""
    pairs: PairedRatio | None = None
    verdict: BoundVerdict = "not measured"
    measured: float = math.nan
    low: float = math.nan
    high: float = math.nan
    more: int | None = 0
    note: str = ""
    held_out: bool = False
    lam: float = math.nan
    versus: Versus | None = None

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
        if self.verdict != "open":
            return ""
        if self.more is not None:
            return f"about {self.more} more repeats would decide it"
        if self.pairs is not None and self.pairs.censored:
            low, high = self.target.region
            limit = self.pairs.deciding_limit(low or high)
            if limit is not None:
                return f"a time limit of {limit:.3g} s would decide it"
        return "more repeats like these would not decide it"


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


def judge_bounds(found: Found, targets: Sequence[Target]) -> JudgedBounds:
    """Judge every bound at every place where it was measured.

    A bound that was measured nowhere, or not on all sets that it names, also appears in the
    results as not measured.
    """
    drafts: list[BoundResult] = []
    for target in targets:
        places = list(_PLACES[target.kind](found, target))
        missing = [label for label in target.sets if all(one.set != label for one in places)]
        drafts += places
        if missing or not places:
            drafts.append(BoundResult(target, ", ".join(missing)))
    asked = [one.pairs.question(*one.target.region) for one in drafts if one.pairs is not None]
    given = judge(asked)
    answers = iter(given)
    results = [one if one.pairs is None else _answered(one, next(answers)) for one in drafts]
    return JudgedBounds(results, given[0].threshold if given else 2 / LEVEL)


def _answered(one: BoundResult, answer: Answer) -> BoundResult:
    """A draft with the answer to its question."""
    assert one.pairs is not None
    if not one.pairs.logs:
        return replace(one, note="nobody reached the accuracy")
    verdicts: dict[str, BoundVerdict] = {
        "holds": "reached", "does not hold": "not reached", "open": "open"
    }  # fmt: skip
    return replace(
        one,
        verdict=verdicts[answer.verdict],
        measured=answer.estimate,
        low=answer.low,
        high=answer.high,
        more=answer.more,
    )


def _is_one_of(lam: float, lambdas: Weights | None) -> bool:
    return lambdas is None or any(math.isclose(lam, one) for one in lambdas)


# ---------------------------------------------------------------- where each kind is measured


def _ratios(found: Found, target: Target) -> Iterator[BoundResult]:
    compared = comparisons(found, target.than or None)
    for one in map(most_pairs, by_problem(compared)):
        if (
            (not target.sets or one.set in target.sets)
            and (target.accuracy is None or math.isclose(one.threshold, target.accuracy))
            and _is_one_of(one.lam, target.lambdas)
        ):
            yield _of_versus(target, one)


def _ahead(found: Found, target: Target) -> Iterator[BoundResult]:
    """All comparisons: the one in which a peer does best must not be chosen by its times."""
    for members in by_problem(comparisons(found)):
        for one in members:
            name = f" ({one.part})" if len(members) > 1 else ""
            result = _of_versus(target, one)
            yield replace(result, place=result.place + name)


def _of_versus(target: Target, one: Versus) -> BoundResult:
    if one.program:
        note = f"fastest: {one.program}"
    else:
        note = "none of the programs reached it; the time they had spent counts"
    if math.isinf(one.ours):
        note = f"{champion()} did not reach it"
    return BoundResult(
        target,
        f"{heading(one.set, one.stand_in)}, λ = {short(one.lam)}, ε = {short(one.threshold)}",
        one.set,
        one.pairs,
        note=note,
        held_out=one.held_out,
        lam=one.lam,
        versus=one,
    )


def _epochs(found: Found, target: Target) -> Iterator[BoundResult]:
    for label, solver, epochs in _of_sets(found, target):
        samples = tuple(nanoseconds(epochs, solver).values())
        if samples:
            place = f"{heading(label, epochs['stand_in'])}, {solver}"
            yield BoundResult(target, place, label, PairedRatio((1.0,) * len(samples), samples))


def _epoch_ratios(found: Found, target: Target) -> Iterator[BoundResult]:
    for label, solver, epochs in _of_sets(found, target):
        for than in target.than:
            pairs = _paired(*(nanoseconds(epochs, name) for name in (solver, than)))
            if pairs.ours:
                place = f"{heading(label, epochs['stand_in'])}, {solver} and {than}"
                yield BoundResult(target, place, label, pairs)


def _of_sets(found: Found, target: Target) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Label of a set, and label and epochs of each solver there."""
    for label, epochs in found.epochs.items():
        if not target.sets or label in target.sets:
            for solver in target.solver:
                yield label, champion() if solver == ROLE else solver, epochs


def _reading(found: Found, target: Target) -> Iterator[BoundResult]:
    # For speeds more is better: the ratio is ours over theirs.
    return _texts_of(found.readings, mb_per_second, target, target.than, (target.reader,))


def _texts(found: Found, target: Target) -> Iterator[BoundResult]:
    return _texts_of(found.texts, total_seconds, target, (target.program,), target.than)


def _texts_of(
    results: list[dict[str, Any]],
    value: Callable[[dict[str, Any]], float],
    target: Target,
    below: Names,
    above: Names,
) -> Iterator[BoundResult]:
    """The ratios of some values to others, on each set."""
    for label, stand_in in {each["set"]: each["stand_in"] for each in results}.items():
        for one, other in product(below, above):
            pairs = _paired(
                by_repeat(results, value, label, one),
                by_repeat(results, value, label, other),
                by_repeat(results, spent_seconds, label, other) if value is total_seconds else None,
            )
            if pairs.ours:
                yield BoundResult(target, heading(label, stand_in), label, pairs)


def _paired(
    ours: dict[int, float], theirs: dict[int, float], spent: dict[int, float] | None = None
) -> PairedRatio:
    """The repeats that both have."""
    common = sorted(set(ours) & set(theirs))
    return PairedRatio(
        *(tuple(each[r] for r in common) for each in (ours, theirs, spent or theirs))
    )


def _growth(found: Found, target: Target) -> Iterator[BoundResult]:
    for points in found.growth.values():
        for step in steps(points):
            if step.axis == "m" and step.bytes >= BEYOND * last_cache():
                size = f"from {step.bytes / 2**20:.0f} MiB"
                place = f"{step.rows}, {short(step.grown, 3)} times the rows, {size}"
                expected = tuple(step.grown * seconds for seconds in step.before)
                pairs = PairedRatio(*zip(*zip(expected, step.after, strict=False), strict=True))
                yield BoundResult(target, place, step.rows, pairs)


def _memory(found: Found, target: Target) -> Iterator[BoundResult]:
    """Memory does not scatter: one number shows whether the bound is reached."""
    for points in found.growth.values():
        for point in points:
            if point["array_bytes"] >= BEYOND * last_cache():
                share = memory_share(point)
                one = BoundResult(
                    target,
                    f"{point['label']}, {point['m']} x {point['d']}",
                    point["label"],
                    measured=share,
                    low=share,
                    high=share,
                )
                yield replace(one, verdict="not reached" if one.missed else "reached")


_PLACES: dict[str, Callable[[Found, Target], Iterator[BoundResult]]] = {
    "ratio": _ratios,
    "ahead": _ahead,
    "epoch": _epochs,
    "epoch-ratio": _epoch_ratios,
    "reading": _reading,
    "text": _texts,
    "growth": _growth,
    "memory": _memory,
}
