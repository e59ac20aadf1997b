"""Compares results case by case: two folders, or two labels of one folder.

A case is a data set, a λ, an accuracy and a label. Its repeats are paired by their number, which
identifies their seed, and all cases are judged together.
"""

from __future__ import annotations

from dataclasses import dataclass

from svmbench.report.comparison.cases import ComparedCase, Side, cases_of, groups_of, judge_cases
from svmbench.report.comparison.cautions import environments, notes, warnings


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


def compare(a: Side, b: Side, metric: str = "seconds", margin: float = 1.05) -> Comparison:
    """Compare B with A in every case they share."""
    left, right = groups_of(a), groups_of(b)
    machines_differ, software = environments(a.results, b.results, metric)
    other_machine = environments(a.results, b.results, "seconds")[0]
    cases = cases_of(a, b, left, right, metric, other_machine)
    alone = ([key for key in left if key not in right], [key for key in right if key not in left])
    same_sweep = a.results.folder == b.results.folder
    return Comparison(
        names=_names(a, b),
        metric=metric,
        margin=margin,
        cases=tuple(judge_cases(cases, margin)),
        warnings=(*software, *warnings(cases, metric)),
        notes=tuple(notes(cases, same_sweep, metric, margin, alone)),
        machines_differ=machines_differ,
    )


def _names(a: Side, b: Side) -> tuple[str, str]:
    def name(side: Side) -> str:
        return str(side.results.folder) if side.label is None else side.label

    if a.label is None or a.results.folder == b.results.folder:
        return name(a), name(b)
    return f"{a.label} in {a.results.folder}", f"{b.label} in {b.results.folder}"
