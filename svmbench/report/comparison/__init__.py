"""Compares results case by case: two folders, or two labels of one folder.

A case is a data set, a λ, an accuracy and a label. Its repeats are paired by their number, which
identifies their seed, and all cases are judged together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from svmbench.records.groups import heading
from svmbench.records.measures import MEASURES
from svmbench.records.spelling import counted, short
from svmbench.records.statistics import median, reached
from svmbench.report.comparison.cases import ComparedCase, Side, cases_of, groups_of, judge_cases
from svmbench.report.comparison.cautions import environments, notes, warnings
from svmbench.report.numbers import format_value, or_null


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


# ---------------------------------------------------------------- words

HEADER = ("data", "λ", "ε", "label", "A", "B", "B/A [interval]", "verdict on B")


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The fields of the printed table, one row per case, below `HEADER`."""
    mark = "‡" if comparison.machines_differ else ""
    return [
        (
            heading(case.one.dataset, case.one.stand_in),
            case.one.written_lambda,
            short(case.accuracy),
            case.label,
            _sample_text(case.a),
            _sample_text(case.b),
            _ratio_text(case) + ("" if case.paired else "†") + mark,
            case.conclusion if not case.why else f"{case.conclusion} ({case.why})",
        )
        for case in comparison.cases
    ]


def _sample_text(samples: Sequence[float]) -> str:
    if not samples:
        return "–"
    text = format_value(median(samples), math.nan, math.nan)
    return text if all(map(math.isfinite, samples)) else f"{text} ({reached(samples)})"


def _ratio_text(case: ComparedCase) -> str:
    low, high = case.answer.low, case.answer.high
    if math.isnan(case.answer.estimate):
        return "–"
    text = format_value(case.answer.estimate, low, high)
    if low == high or (low == 0 and high == math.inf):
        return text
    return f"{text} [{format_value(low, low, high)}, {format_value(high, low, high)}]"


def summary(comparison: Comparison) -> str:
    """How many cases have each verdict, in a line."""
    verdicts = [case.conclusion for case in comparison.cases]
    counts = [
        f"{verdicts.count(v)} {v}" for v in ("slower", "faster", "alike", "open") if v in verdicts
    ]
    return f"B against A in {counted(len(verdicts), 'case')}: {', '.join(counts)}."


def title(comparison: Comparison) -> str:
    a, b = comparison.names
    words = MEASURES[comparison.metric].words
    return f"{words} to accuracy ε: A = {a}, B = {b}; medians of the repeats that both have"


def to_json(comparison: Comparison) -> str:
    """The comparison as JSON, described in docs/comparing.md; non-finite values are null."""
    return json.dumps(
        {
            "schema_version": 3,
            "a": comparison.names[0],
            "b": comparison.names[1],
            "metric": comparison.metric,
            "margin": comparison.margin,
            "machines_differ": comparison.machines_differ,
            "regressions": len(comparison.regressions),
            "cases": [_record(case) for case in comparison.cases],
            "warnings": list(comparison.warnings),
            "notes": list(comparison.notes),
        },
        indent=2,
        ensure_ascii=False,
    )


def _record(case: ComparedCase) -> dict[str, Any]:
    return {
        "dataset": case.one.dataset,
        "stand_in": bool(case.one.stand_in),  # JSON does not know numpy's
        "lambda": float(case.one.lam),
        "C": float(case.one.runs["C"].iloc[0]),
        "accuracy": case.accuracy,
        "label": case.label,
        "a": [or_null(sample) for sample in case.a],
        "b": [or_null(sample) for sample in case.b],
        "a_median": or_null(median(case.a)) if case.a else None,
        "b_median": or_null(median(case.b)) if case.b else None,
        "ratio": or_null(case.answer.estimate),
        "ratio_low": or_null(case.answer.low),
        "ratio_high": or_null(case.answer.high),
        "paired": case.paired,
        "e_alike": or_null(case.answer.e_inside),
        "e_different": or_null(case.answer.e_outside),
        "e_needed": case.answer.threshold,
        "verdict": case.conclusion,
        "more_repeats": case.answer.forecast,
        "why": case.why,
    }
