"""What is aimed at, and how far it is from what was found. A miss is a finding, not an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from svmbench.bench import found as findings
from svmbench.bench.champion import ROLE, champion
from svmbench.bench.found import Found, Step, Versus
from svmbench.bench.profile import Names, Weights
from svmbench.bench.rows import last_cache
from svmbench.bundled import bundled
from svmbench.config.reading import read_model
from svmbench.config.refusal import refuse
from svmbench.config.sweep import Accuracy, Positive, Text
from svmbench.records.groups import heading, short
from svmbench.records.statistics import Ratio, median, median_interval

Verdict = Literal["reached", "not reached", "undecided", "not measured"]

#: How many last-level caches rows must fill at least for growth and memory to be judged; a
#: little less than three, for rows are rounded.
BEYOND = 2.99

Kind = Literal[
    "ratio", "ahead", "epoch", "epoch-ratio", "reading", "text", "growth", "memory"
]  # fmt: skip


class Tried(BaseModel):
    """Why a bound is missed: what was measured, and what was tried. Shown where it is missed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Text
    sets: Names = Field(default=(), description="Where it is so; everywhere unless given.")
    lambdas: Weights | None = Field(default=None, alias="lambda")


def _as_tried(value: object) -> object:
    return [{"text": value}] if isinstance(value, str) else value


class Target(BaseModel):
    """One bound; which keys it has depends on its kind, as configs/bench/targets.yaml says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Text
    kind: Kind
    sets: Names = ()
    than: Names = ()
    lambdas: Weights | None = Field(default=None, alias="lambda")
    accuracy: Accuracy | None = None
    solver: Names = (ROLE,)
    reader: str = "svmbench"
    program: str = "svmbench"
    at_least: Positive | None = None
    at_most: Positive | None = None
    tried: Annotated[tuple[Tried, ...], BeforeValidator(_as_tried)] = ()

    @model_validator(mode="after")
    def _one_bound(self) -> Target:
        if (self.at_least is None) == (self.at_most is None):
            refuse("give one of at_least and at_most")
        return self

    @property
    def aim(self) -> str:
        """The bound in words."""
        if self.at_least is not None:
            return f"≥ {short(self.at_least)}"
        assert self.at_most is not None
        return f"≤ {short(self.at_most)}"


class Targets(BaseModel):
    """All bounds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Finding:
    """A bound at one place.

    Parameters
    ----------
    target : Target
    place : str
        Set, λ, accuracy.
    verdict : {'reached', 'not reached', 'undecided', 'not measured'}
        By the estimate; `sure` tells whether the whole interval is on its side. Undecided
        where no program arrived before it had spent what would decide it.
    measured, low, high : float
        nan where nothing was measured.
    sure : bool
    note : str
    held_out : bool
        Whether its set was kept out of tuning.
    set : str
        Label of the set, or name of the rows.
    lam : float
        nan where there is no λ to tell it from others by.
    """

    target: Target
    place: str
    verdict: Verdict
    measured: float = math.nan
    low: float = math.nan
    high: float = math.nan
    sure: bool = False
    note: str = ""
    held_out: bool = False
    set: str = ""
    lam: float = math.nan

    @property
    def tried(self) -> str:
        """Why it is missed, as far as that is known; empty where it is not missed."""
        if self.verdict != "not reached":
            return ""
        said = [
            one.text
            for one in self.target.tried
            if (not one.sets or self.set in one.sets) and _is_one_of(self.lam, one.lambdas)
        ]
        return " ".join(said)

    @property
    def short_by(self) -> float:
        """Factor by which it is missed; 1 where it is not."""
        if self.verdict != "not reached" or not self.measured > 0:
            return 1.0
        if self.target.at_least is not None:
            return self.target.at_least / self.measured
        assert self.target.at_most is not None
        return self.measured / self.target.at_most


def load_targets(path: Path | None = None) -> list[Target]:
    """The bounds of a file; those that come with svmbench unless given.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``.
    """
    path = path or bundled("configs") / "bench" / "targets.yaml"
    return list(read_model(path, Targets).targets)


def judge(found: Found, targets: Sequence[Target]) -> list[Finding]:
    """Every bound at every place where it was measured; once as not measured where at none."""
    judged = []
    for target in targets:
        places = list(_JUDGES[target.kind](found, target))
        missing = [label for label in target.sets if all(p.set != label for p in places)]
        judged += places
        if missing or not places:
            judged.append(Finding(target, ", ".join(missing), "not measured"))
    return judged


def _is_one_of(lam: float, lambdas: Weights | None) -> bool:
    return lambdas is None or any(math.isclose(lam, one) for one in lambdas)


def _verdict(
    target: Target, label: str, place: str, measured: float, low: float, high: float,
) -> Finding:  # fmt: skip
    if target.at_least is not None:
        reached, sure = measured >= target.at_least, low >= target.at_least
        surely_not = high < target.at_least
    else:
        assert target.at_most is not None
        reached, sure = measured <= target.at_most, high <= target.at_most
        surely_not = low > target.at_most
    verdict: Verdict = "reached" if reached else "not reached"
    certain = sure if reached else surely_not
    return Finding(target, place, verdict, measured, low, high, certain, set=label)


# ---------------------------------------------------------------- seconds to an accuracy


def _ratios(found: Found, target: Target) -> Iterator[Finding]:
    for one in findings.versus(found, target.than or None):
        if target.sets and one.set not in target.sets:
            continue
        if target.accuracy is not None and not math.isclose(one.threshold, target.accuracy):
            continue
        if not _is_one_of(one.lam, target.lambdas):
            continue
        found_there = _of_ratio(target, one)
        yield replace(found_there, held_out=one.held_out, set=one.set, lam=one.lam)


def _of_ratio(target: Target, one: Versus) -> Finding:
    place = f"{heading(one.set, one.stand_in)}, λ = {short(one.lam)}, ε = {short(one.threshold)}"
    if math.isinf(one.ours):
        note = f"{champion()} did not arrive"
        if one.at_least:
            return Finding(target, place, "not measured", note=f"{note}, nor did any of the others")
        return Finding(target, place, "not reached", 0.0, 0.0, 0.0, True, note)
    note = one.program and f"fastest: {one.program}"
    if one.at_least:
        note = "none of them arrived; what they had spent counts"
    ratio = one.ratio
    found = _verdict(target, one.set, place, ratio.estimate, ratio.low, ratio.high)
    found = replace(found, note=note)
    if one.at_least and found.verdict == "not reached":
        return replace(found, verdict="undecided", sure=False)
    return found


def _ahead(found: Found, target: Target) -> Iterator[Finding]:
    """The places at which a peer is ahead; the nearest where there is none."""
    judged = [one for one in _ratios(found, target) if "reached" in one.verdict]
    behind = [one for one in judged if one.verdict == "not reached"]
    if behind:
        yield from sorted(behind, key=lambda one: one.measured)
    elif judged:
        nearest = min(judged, key=lambda one: one.measured)
        yield replace(nearest, note=f"{nearest.note}; the least of {len(judged)}")


# ---------------------------------------------------------------- epochs


def _epochs(found: Found, target: Target) -> Iterator[Finding]:
    for label, solver, epochs in _of_sets(found, target):
        samples = list(findings.nanoseconds(epochs, solver).values())
        if samples:
            low, high, _ = median_interval(samples)
            place = f"{heading(label, epochs['stand_in'])}, {solver}"
            yield _verdict(target, label, place, median(samples), low, high)


def _epoch_ratios(found: Found, target: Target) -> Iterator[Finding]:
    for label, solver, epochs in _of_sets(found, target):
        ours = findings.nanoseconds(epochs, solver)
        for than in target.than:
            ratio = findings.paired(ours, findings.nanoseconds(epochs, than))
            if ratio is not None:
                place = f"{heading(label, epochs['stand_in'])}, {solver} and {than}"
                yield _plain(target, label, place, ratio)


def _of_sets(found: Found, target: Target) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Label of a set, and label and epochs of each solver there."""
    for label, epochs in found.epochs.items():
        if not target.sets or label in target.sets:
            for solver in target.solver:
                yield label, champion() if solver == ROLE else solver, epochs


def _plain(target: Target, label: str, place: str, ratio: Ratio) -> Finding:
    return _verdict(target, label, place, ratio.estimate, ratio.low, ratio.high)


# ---------------------------------------------------------------- texts


def _reading(found: Found, target: Target) -> Iterator[Finding]:
    # Speeds, of which more is better: ours over theirs.
    return _texts_of(found.readings, findings.mb_per_second, target, target.than, (target.reader,))


def _texts(found: Found, target: Target) -> Iterator[Finding]:
    return _texts_of(found.texts, findings.total_seconds, target, (target.program,), target.than)


def _texts_of(
    results: list[dict[str, Any]],
    value: Callable[[dict[str, Any]], float],
    target: Target,
    below: Names,
    above: Names,
) -> Iterator[Finding]:
    """The values of some over those of others, on each set."""
    for label, stand_in in {each["set"]: each["stand_in"] for each in results}.items():
        for one, other in product(below, above):
            ratio = findings.paired(
                *(findings.by_repeat(results, value, label, name) for name in (one, other))
            )
            if ratio is not None and math.isfinite(ratio.estimate):
                yield _plain(target, label, heading(label, stand_in), ratio)


# ---------------------------------------------------------------- growth


def _growth(found: Found, target: Target) -> Iterator[Finding]:
    for points in found.growth.values():
        for step in findings.steps(points):
            if step.axis == "m" and step.bytes >= BEYOND * last_cache():
                place = f"{step.rows}, {short(step.grown, 3)} times the rows{_size(step)}"
                yield _verdict(target, step.rows, place, *[step.deviation] * 3)


def _size(step: Step) -> str:
    return f", from {step.bytes / 2**20:.0f} MiB"


def _memory(found: Found, target: Target) -> Iterator[Finding]:
    for points in found.growth.values():
        for point in points:
            if point["array_bytes"] < BEYOND * last_cache():
                continue
            share = findings.memory_share(point)
            place = f"{point['label']}, {point['m']} x {point['d']}"
            yield _verdict(target, point["label"], place, share, share, share)


_JUDGES: dict[str, Callable[[Found, Target], Iterator[Finding]]] = {
    "ratio": _ratios,
    "ahead": _ahead,
    "epoch": _epochs,
    "epoch-ratio": _epoch_ratios,
    "reading": _reading,
    "text": _texts,
    "growth": _growth,
    "memory": _memory,
}
