"""The bounds of the benchmark, as configs/bench/bounds.yaml states them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from svmbench.bench.champion import ROLE, named
from svmbench.bench.profile import LambdaValues, Names, Profile, SolverEntry, SweepPart
from svmbench.bundled import bundled
from svmbench.config.fields import Accuracy, Flag, PositiveReal, Text
from svmbench.config.reading import Strict, read_model
from svmbench.config.refusal import refuse
from svmbench.records.spelling import short

#: The programs of the table of ratios: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")


#: A factor whose product with a time is a number.
BoundFactor = Annotated[PositiveReal, Field(le=1e100)]


class Tried(Strict):
    """Why a bound is missed: what was measured, and what was tried. Shown only if it is missed."""

    text: Text
    sets: Names = Field(default=(), description="Sets that it is about; all unless given.")
    lambdas: LambdaValues | None = Field(default=None, alias="lambda")


def _as_tried(value: object) -> object:
    return [{"text": value}] if isinstance(value, str) else value


#: The key with the number that a bound of each kind has.
_NUMBERS = {"faster": "by", "reaches": "at_most", "alike": "within"}


class StatedBound(Strict):
    """One bound: a claim of the kind of that name, wherever the benchmark measures it."""

    text: Text
    kind: Literal["faster", "reaches", "alike"]
    part: Literal["oracle", "epochs", "reading", "text", "growth"] = "oracle"
    solver: Names = Field(default=(ROLE,), description="Labels; reading and text: of programs.")
    over: Names = Field(
        default=(),
        description="faster: programs, of which the fastest counts in each repeat. All from "
        "outside unless given; then the question is asked of every sweep.",
    )
    measure: Literal["ns_per_nonzero", "memory_over_rows"] = "ns_per_nonzero"
    floor: Flag = Field(
        default=False,
        description="reaches: at_most is a multiple of the least time by this machine's speeds.",
    )
    sets: Names = ()
    lambdas: LambdaValues | None = Field(default=None, alias="lambda")
    accuracy: Accuracy | None = None
    by: BoundFactor | None = None
    at_most: BoundFactor | None = None
    within: Annotated[float, Field(gt=1.0, le=1e100)] | None = None
    tried: Annotated[tuple[Tried, ...], BeforeValidator(_as_tried)] = ()

    @model_validator(mode="after")
    def _one_bound(self) -> StatedBound:
        for kind, key in _NUMBERS.items():
            if (getattr(self, key) is not None) != (kind == self.kind):
                verb, remedy = ("needs", "add") if kind == self.kind else ("has no", "drop")
                refuse(f"a bound of kind {self.kind} {verb} {key!r}; {remedy} it", key)
        if self.kind == "faster" and self.part != "oracle" and not self.over:
            refuse("faster than which programs? add 'over'", "part")
        if self.kind == "alike" and self.part != "growth":
            refuse("a bound of kind alike compares rows of growing size; write 'part: growth'")
        return self

    @property
    def everywhere(self) -> bool:
        """Whether it is about every program in every sweep."""
        return self.kind == "faster" and not self.over

    @property
    def region(self) -> tuple[float, float]:
        """The region that the measured value should lie in."""
        if self.within is not None:
            return 1.0 / self.within, self.within
        return self.by or 0.0, self.at_most or math.inf

    @property
    def unit(self) -> str:
        """What follows its numbers."""
        nanoseconds = self.kind == "reaches" and self.measure == "ns_per_nonzero"
        return " ns" if nanoseconds and not self.floor else "×"

    @property
    def aim(self) -> str:
        """The bound in words."""
        words = {"faster": "≥", "reaches": "≤", "alike": "within"}[self.kind]
        return f"{words} {short(getattr(self, _NUMBERS[self.kind]))}"

    def covers(self, label: str, lam: float = math.nan, accuracy: float | None = None) -> bool:
        """Whether it is about a set, and a λ and an accuracy if it names some."""
        return (
            (not self.sets or label in self.sets)
            and is_one_of(lam, self.lambdas)
            and (self.accuracy is None or math.isclose(accuracy or 0.0, self.accuracy))
        )


def is_one_of(lam: float, lambdas: LambdaValues | None) -> bool:
    """Whether a λ is one of those named, or none is named."""
    return lambdas is None or any(math.isclose(lam, one) for one in lambdas)


class StatedBounds(Strict):
    """All bounds."""

    version: Literal[1]
    bounds: tuple[StatedBound, ...]


def load_bounds(path: Path | None = None) -> list[StatedBound]:
    """The bounds of a file; those that come with svmbench unless given.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``.
    """
    path = path or bundled("configs") / "bench" / "bounds.yaml"
    return list(read_model(path, StatedBounds).bounds)


def measured_by(profile: Profile, bounds: Sequence[StatedBound]) -> list[StatedBound]:
    """The bounds that a profile measures, each without the sets on which it does not."""
    found = []
    for bound in bounds:
        where = _places(profile, bound)
        sets = tuple(label for label in bound.sets if label in where)
        if sets or (where and not bound.sets):
            found.append(bound.model_copy(update={"sets": sets}))
    return found


def _places(profile: Profile, bound: StatedBound) -> set[str]:
    """Labels of the sets, or names of the rows, on which a profile measures a bound."""
    if bound.part == "oracle":
        sweeps = [part for part in profile.sweeps.values() if _poses(part, bound)]
        return {each.label for part in sweeps for each in profile.chosen(part.sets)}
    if bound.part == "growth":
        return {rows.name for rows in profile.growth.rows} if profile.growth else set()
    if not _has(_compared(profile, bound.part), bound.over):
        return set()
    if bound.part == "epochs" and profile.epochs is not None:
        return {each.label for each in profile.chosen(profile.epochs.sets)}
    return {each.label for each in profile.sets if each.text}


def _compared(profile: Profile, part: str) -> list[str]:
    """Solvers, readers or programs of a part outside the sweeps; none if the profile lacks it."""
    if part == "epochs" and profile.epochs is not None:
        return _names(profile.epochs.solvers)
    if part == "reading" and profile.reading is not None:
        return list(profile.reading.readers)
    if part == "text" and profile.text is not None:
        return [program.label for program in profile.text.programs]
    return []


def _poses(part: SweepPart, bound: StatedBound) -> bool:
    """Whether a sweep has a bound's programs, and a λ and an accuracy of those it names."""
    return (
        part.kind == "oracle"
        and _has(_names(part.solvers), bound.over)
        and any(is_one_of(lam, bound.lambdas) for lam in part.lambdas)
        and (bound.accuracy is None or is_one_of(bound.accuracy, part.accuracy))
    )


def _has(found: Sequence[str], wanted: Names) -> bool:
    """Whether a wanted name is among those found; if none is wanted, whether there are any."""
    return any(name in wanted for name in found) if wanted else bool(found)


def _names(solvers: Sequence[SolverEntry]) -> list[str]:
    return [named(entry)["name"] for entry in solvers]
