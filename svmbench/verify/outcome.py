"""The outcome of a verification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["holds", "does not hold", "not verified"]
Kind = Literal["run", "reference", "file", "replay"]


@dataclass(frozen=True)
class Verification:
    """The outcome for one run, one reference, one file or one run that was trained again."""

    kind: Kind
    # the run's id, the data set and lambda of the reference, or the file's place in its folder
    name: str
    verdict: Status
    reason: str = ""  # what is wrong or missing; empty if it holds
    # relative deviation of the recorded P (of a run) or D (of a reference)
    deviation: float | None = None
    allowed: float | None = None  # the relative deviation that rounding may cause
    with_weights: bool = False  # whether there were weights to recompute anything from


class MissingError(Exception):
    """Something that a verification needs is missing or damaged."""


class ContradictionError(Exception):
    """A recorded figure differs from the recomputed one."""
