"""Compares measurements with the bounds: one question for each bound at each place.

All questions are answered together by `svmbench.evidence.judge`. A missed bound is a result like
any other, not an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from svmbench.bench.champion import ROLE, champion
from svmbench.bench.found import Found, steps
from svmbench.bench.profile import Weights
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
    part : str
        The sweep or task whose further repeats would help; empty if none would.
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
    part: str = ""
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
            if limit is not None and self.pairs.by_time:
                return f"a time limit of {limit:.3g} s would decide it"
            if limit is not None:
                what = "but the time limit is not what ends them"
                return f"runs of {limit:.3g} s would decide it, {what}"
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
    for one in map(most_pairs, by_problem(comparisons(found, target.than or None))):
        if (
            (not target.sets or one.set in target.sets)
            and (target.accuracy is None or math.isclose(one.threshold or 0.0, target.accuracy))
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


def _beside(
    kind: str, rows: Callable[[Target], Sequence[str]]
) -> Callable[[Found, Target], Iterator[BoundResult]]:
    """Return the ratios between rows of measurements beside the sweeps."""

    def ratios(found: Found, target: Target) -> Iterator[BoundResult]:
        for one in comparisons(found, target.than, kind, rows(target)):
            if not target.sets or one.set in target.sets:
                result = _of_versus(target, one)
                several = f", {one.label}" if len(rows(target)) > 1 else ""
                yield replace(result, place=heading(one.set, one.stand_in) + several)

    return ratios


def _of_versus(target: Target, one: Versus) -> BoundResult:
    if one.program:
        note = f"fastest: {one.program}"
    else:
        note = "none of the programs reached it; the time they had spent counts"
    if math.isinf(one.ours):
        note = f"{one.label} did not reach it"
    return BoundResult(
        target,
        one.place,
        one.set,
        one.pairs,
        note=note,
        held_out=one.held_out,
        lam=one.lam,
        part=one.part,
        versus=one,
    )


def _solvers(target: Target) -> list[str]:
    return [champion() if solver == ROLE else solver for solver in target.solver]


def _epochs(found: Found, target: Target) -> Iterator[BoundResult]:
    for part in found.of_kind("epochs"):
        for group in part.groups:
            chosen = not target.sets or part.set in target.sets
            samples = tuple(part.values(group).values())
            if chosen and group.label in _solvers(target) and samples:
                place = f"{heading(part.set, group.stand_in)}, {group.label}"
                pairs = PairedRatio((1.0,) * len(samples), samples)
                yield BoundResult(target, place, part.set, pairs, part=part.part)


def _growth(found: Found, target: Target) -> Iterator[BoundResult]:
    for part in found.of_kind("growth"):
        for step in steps(part.groups):
            size = step.before.runs["array_bytes"].iloc[0]
            if step.axis == "m" and size >= BEYOND * last_cache():
                before, after = part.values(step.before), part.values(step.after)
                common = [repeat for repeat in before if repeat in after]
                pairs = PairedRatio(
                    tuple(step.grown * before[r] for r in common), tuple(after[r] for r in common)
                )
                grown = f"{short(step.grown, 3)} times the rows, from {size / 2**20:.0f} MiB"
                place = f"{part.set}, {grown}"
                yield BoundResult(target, place, part.set, pairs, part=part.part)


def _memory(found: Found, target: Target) -> Iterator[BoundResult]:
    """Memory does not scatter: one number shows whether the bound is reached."""
    for part in found.of_kind("growth"):
        for group in part.groups:
            first = group.runs.iloc[0]
            if first["array_bytes"] >= BEYOND * last_cache():
                share = float(first["peak_bytes"] / first["array_bytes"])
                place = f"{part.set}, {group.label}"
                one = BoundResult(target, place, part.set, measured=share, low=share, high=share)
                yield replace(one, verdict="not reached" if one.missed else "reached")


_PLACES: dict[str, Callable[[Found, Target], Iterator[BoundResult]]] = {
    "ratio": _ratios,
    "ahead": _ahead,
    "epoch": _epochs,
    "epoch-ratio": _beside("epochs", _solvers),
    "reading": _beside("reading", lambda target: [target.reader]),
    "text": _beside("text", lambda target: [target.program]),
    "growth": _growth,
    "memory": _memory,
}
