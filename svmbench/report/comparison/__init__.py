"""Compares results case by case: two folders, or two labels of one folder.

A case is a data set, a λ, an accuracy and a label. Its repeats are paired by their number, which
identifies their seed, and all cases are judged together.
"""

from __future__ import annotations

from svmbench.report.comparison.cautions import environments, notes, warnings
from svmbench.report.comparison.judge import judge_page
from svmbench.report.comparison.match import accuracies, groups_of, matches, samples_of
from svmbench.report.comparison.model import Comparison, Side


def compare(a: Side, b: Side, metric: str = "seconds", margin: float = 1.05) -> Comparison:
    """Compare B with A in every case they share."""
    left, right = groups_of(a), groups_of(b)
    found = matches(a, b, left, right)
    machines_differ, software = environments(a.results, b.results, metric)
    other_machine = environments(a.results, b.results, "seconds")[0]
    page = [
        samples_of(match, accuracy, metric, (a, b), other_machine)
        for match in found
        for accuracy in accuracies(a, b)
    ]
    cases = judge_page(page, margin)
    alone = ([key for key in left if key not in right], [key for key in right if key not in left])
    return Comparison(
        names=_names(a, b),
        metric=metric,
        margin=margin,
        cases=tuple(cases),
        warnings=(*software, *warnings(found, metric)),
        notes=tuple(notes(page, (a, b), metric, margin, alone)),
        machines_differ=machines_differ,
    )


def _names(a: Side, b: Side) -> tuple[str, str]:
    def name(side: Side) -> str:
        return str(side.results.folder) if side.label is None else side.label

    if a.label is None or a.results.folder == b.results.folder:
        return name(a), name(b)
    return f"{a.label} in {a.results.folder}", f"{b.label} in {b.results.folder}"
