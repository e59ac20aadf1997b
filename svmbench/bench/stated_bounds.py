"""The bounds of the benchmark, as configs/bench/bounds.yaml states them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from svmbench.bench.champion import named
from svmbench.bench.profile import LambdaValues, Names, Profile, SolverEntry, SweepPart
from svmbench.bundled import bundled
from svmbench.config.fields import Accuracy, PositiveReal, Text
from svmbench.config.reading import Strict, read_model
from svmbench.records.spelling import short

#: The programs of the table of ratios: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")


#: A factor whose product with a time is a number.
BoundFactor = Annotated[PositiveReal, Field(le=1e100)]


class StatedBound(Strict):
    """One bound: the champion is so many times as fast as programs, wherever that is measured."""

    text: Text
    over: Names = Field(
        default=(),
        description="Programs, of which the fastest counts in each repeat. All from "
        "outside unless given; then the question is asked of every sweep.",
    )
    sets: Names = ()
    lambdas: LambdaValues | None = Field(default=None, alias="lambda")
    accuracy: Accuracy | None = None
    by: BoundFactor

    @property
    def everywhere(self) -> bool:
        """Whether it is about every program in every sweep."""
        return not self.over

    @property
    def aim(self) -> str:
        return f"≥ {short(self.by)}×"

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
    version: Literal[1]
    bounds: tuple[StatedBound, ...]


def load_bounds(path: Path | None = None) -> list[StatedBound]:
    """The bounds of a file; those that come with svmbench unless given.

    Raises ConfigError: ``path:line:column: what; what to do``.
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
    """Labels of the sets on which a profile measures a bound."""
    sweeps = [part for part in profile.sweeps.values() if _poses(part, bound)]
    return {each.label for part in sweeps for each in profile.chosen(part.sets)}


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
