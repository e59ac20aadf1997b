"""The data model of a comparison: its two sides, its cases and the conclusions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svmbench.evidence import Answer
from svmbench.records.read import Results

Conclusion = Literal["faster", "slower", "alike", "open"]


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Parameters
    ----------
    label : str or None
        The only label that takes part; None for all, each matched with the same label.
    """

    results: Results
    label: str | None = None


@dataclass(frozen=True)
class ComparedCase:
    """One case on both sides: a data set, a λ, an accuracy and a label.

    Parameters
    ----------
    written_lambda : str
        λ as tables print it.
    label : str
        ``a -> b`` if the two sides' labels differ.
    a, b : tuple of float
        The samples of each repeat that was compared, +inf if the accuracy was not reached.
    answer : Answer
        Estimate and interval of B over A, and the evidence that they lie within the margin.
    paired : bool
        Whether the two runs of each pair were executed at about the same time.
    conclusion : {'faster', 'slower', 'alike', 'open'}
        About B.
    why : str
        Why an open case is open.
    """

    dataset: str
    stand_in: bool
    lam: float
    C: float
    written_lambda: str
    accuracy: float
    label: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    answer: Answer
    paired: bool
    conclusion: Conclusion
    why: str = ""


@dataclass(frozen=True)
class Comparison:
    """All cases that two sides have in common, judged together.

    Parameters
    ----------
    names : tuple of str
        Names of A and B.
    metric : str
        Name of the measure that was compared.
    margin : float
        Largest factor that counts as no difference.
    machines_differ : bool
        Whether times come from different machines, or from unknown ones.
    """

    names: tuple[str, str]
    metric: str
    margin: float
    cases: tuple[ComparedCase, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    machines_differ: bool

    @property
    def regressions(self) -> tuple[ComparedCase, ...]:
        """The cases in which B is slower beyond the margin, or reaches the accuracy less often."""
        return tuple(case for case in self.cases if case.conclusion == "slower")
