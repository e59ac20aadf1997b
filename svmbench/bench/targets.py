"""The bounds to reach, from configs/bench/targets.yaml."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from svmbench.bench.champion import ROLE
from svmbench.bench.profile import Names, Weights
from svmbench.bundled import bundled
from svmbench.config.reading import Strict, read_model
from svmbench.config.refusal import refuse
from svmbench.config.sweep import Accuracy, Positive, Text
from svmbench.records.groups import short

#: The programs of the table of ratios: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")

Kind = Literal[
    "ratio", "ahead", "epoch", "epoch-ratio", "reading", "text", "growth", "memory"
]  # fmt: skip


class Tried(Strict):
    """Why a bound is missed: what was measured, and what was tried. Shown only if it is missed."""

    text: Text
    sets: Names = Field(default=(), description="Sets that it is about; all unless given.")
    lambdas: Weights | None = Field(default=None, alias="lambda")


def _as_tried(value: object) -> object:
    return [{"text": value}] if isinstance(value, str) else value


class Target(Strict):
    """One bound; which keys it has depends on its kind, as configs/bench/targets.yaml says."""

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
        if self.at_least is None and self.kind not in ("epoch", "growth", "memory"):
            refuse("a ratio has a bound below: give at_least", "at_most")
        if self.at_most is None and self.kind in ("epoch", "memory"):
            refuse(f"{self.kind} has a bound above: give at_most", "at_least")
        if self.kind == "growth" and not (self.at_most or 0.0) > 1.0:
            refuse("growth is within a factor of at_most, above 1", "kind")
        return self

    @property
    def region(self) -> tuple[float, float]:
        """The region that the measured value should lie in."""
        if self.at_least is not None:
            return self.at_least, math.inf
        assert self.at_most is not None
        return 1.0 / self.at_most if self.kind == "growth" else 0.0, self.at_most

    @property
    def aim(self) -> str:
        """The bound in words."""
        if self.at_least is not None:
            return f"≥ {short(self.at_least)}"
        assert self.at_most is not None
        return f"{'within ' if self.kind == 'growth' else '≤ '}{short(self.at_most)}"


class Targets(Strict):
    """All bounds."""

    version: Literal[1]
    targets: tuple[Target, ...]


def load_targets(path: Path | None = None) -> list[Target]:
    """The bounds of a file; those that come with svmbench unless given.

    Raises
    ------
    ConfigError
        ``path:line:column: what; what to do``.
    """
    path = path or bundled("configs") / "bench" / "targets.yaml"
    return list(read_model(path, Targets).targets)
