"""Prints a comparison: for a terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from svmbench.records.groups import heading, regularisation, short
from svmbench.records.measures import MEASURES
from svmbench.records.statistics import median, reached
from svmbench.report.comparison.model import ComparedCell, Comparison
from svmbench.report.numbers import format_value

HEADER = ("data", "λ", "ε", "label", "A", "B", "B/A [interval]", "verdict on B")


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The fields of the printed table, one row per cell, below `HEADER`."""
    return [_row(cell, comparison.machines_differ) for cell in comparison.cells]


def _row(cell: ComparedCell, other_machine: bool) -> tuple[str, ...]:
    verdict = cell.conclusion if not cell.why else f"{cell.conclusion} ({cell.why})"
    mark = ("" if cell.paired else "†") + ("‡" if other_machine else "")
    return (
        heading(cell.dataset, cell.stand_in),
        regularisation(cell.lam, cell.C),
        short(cell.threshold),
        cell.label,
        _sample_text(cell.a),
        _sample_text(cell.b),
        _ratio_text(cell) + mark,
        verdict,
    )


def _sample_text(samples: Sequence[float]) -> str:
    if not samples:
        return "–"
    text = format_value(median(samples), math.nan, math.nan)
    return text if all(map(math.isfinite, samples)) else f"{text} ({reached(samples)})"


def _ratio_text(cell: ComparedCell) -> str:
    low, high = cell.answer.low, cell.answer.high
    if math.isnan(cell.answer.estimate):
        return "–"
    text = format_value(cell.answer.estimate, low, high)
    if low == high or (low == 0 and high == math.inf):
        return text
    return f"{text} [{format_value(low, low, high)}, {format_value(high, low, high)}]"


def summary(comparison: Comparison) -> str:
    """How many cells have each verdict, in a line."""
    verdicts = [cell.conclusion for cell in comparison.cells]
    counts = [
        f"{verdicts.count(v)} {v}" for v in ("slower", "faster", "alike", "open") if v in verdicts
    ]
    return f"B against A in {len(verdicts)} cells: {', '.join(counts)}."


def title(comparison: Comparison) -> str:
    """What is compared, in a line."""
    a, b = comparison.names
    return f"{MEASURES[comparison.metric].words} to relative accuracy ε: A = {a}, B = {b}"


def to_markdown(comparison: Comparison) -> str:
    """The comparison as a Markdown page."""
    fields = [HEADER, ("---",) * len(HEADER), *rows(comparison)]
    table = ["| " + " | ".join(f.replace("|", "\\|") for f in line) + " |" for line in fields]
    warnings = [f"**Warning:** {warning}\n" for warning in comparison.warnings]
    notes = [f"- {note}" for note in comparison.notes]
    parts = [f"# {title(comparison)}\n", *warnings, *table, "", summary(comparison), "", *notes]
    return "\n".join(parts) + "\n"


def to_json(comparison: Comparison) -> str:
    """The comparison as JSON, described in docs/measuring.md; non-finite values are null."""
    return json.dumps(
        {
            "schema_version": 2,
            "a": comparison.names[0],
            "b": comparison.names[1],
            "metric": comparison.metric,
            "margin": comparison.margin,
            "machines_differ": comparison.machines_differ,
            "regressions": len(comparison.regressions),
            "cells": [_record(cell) for cell in comparison.cells],
            "warnings": list(comparison.warnings),
            "notes": list(comparison.notes),
        },
        indent=2,
        ensure_ascii=False,
    )


def _record(cell: ComparedCell) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "stand_in": cell.stand_in,
        "lambda": cell.lam,
        "C": cell.C,
        "accuracy": cell.threshold,
        "label": cell.label,
        "a": [_finite(sample) for sample in cell.a],
        "b": [_finite(sample) for sample in cell.b],
        "a_median": _finite(median(cell.a)) if cell.a else None,
        "b_median": _finite(median(cell.b)) if cell.b else None,
        "ratio": _finite(cell.answer.estimate),
        "ratio_low": _finite(cell.answer.low),
        "ratio_high": _finite(cell.answer.high),
        "paired": cell.paired,
        "e_alike": _finite(cell.answer.e_inside),
        "e_different": _finite(cell.answer.e_outside),
        "e_needed": cell.answer.threshold,
        "verdict": cell.conclusion,
        "more_repeats": cell.answer.more,
        "why": cell.why,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
