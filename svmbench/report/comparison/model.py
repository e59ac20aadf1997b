"""The data model of a comparison: its two sides, its cases and the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svmbench.evidence.page import Answer
from svmbench.records.read import Results

Conclusion = Literal["faster", "slower", "alike", "open"]


@dataclass(frozen=True)
class Side:
    results: Results
    # the only label that takes part; None for all, each matched with the same label
    label: str | None = None


@dataclass(frozen=True)
class ComparedCase:
    """One case on both sides: a data set, a λ, an accuracy and a label."""

    dataset: str
    stand_in: bool
    lam: float
    C: float
    written_lambda: str  # λ as tables print it
    accuracy: float
    label: str  # ``a -> b`` if the two sides' labels differ
    # a, b: the samples of each repeat that was compared, +inf if the accuracy was not reached
    a: tuple[float, ...]
    b: tuple[float, ...]
    # estimate and interval of B over A, and the evidence that they lie within the margin
    answer: Answer
    paired: bool  # whether the two runs of each pair were executed at about the same time
    conclusion: Conclusion  # about B
    why: str = ""  # why an open case is open


@dataclass(frozen=True)
class Comparison:
    """All cases that two sides have in common, judged together."""

    names: tuple[str, str]  # names of A and B
    metric: str  # name of the measure that was compared
    margin: float  # largest factor that counts as no difference
    cases: tuple[ComparedCase, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    machines_differ: bool  # whether times come from different machines, or from unknown ones

    @property
    def regressions(self) -> tuple[ComparedCase, ...]:
        """The cases in which B is slower beyond the margin, or reaches the accuracy less often."""
        return tuple(case for case in self.cases if case.conclusion == "slower")
