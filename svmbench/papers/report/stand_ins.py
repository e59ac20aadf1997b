"""What a paper's page says about stand-ins: their size, what they reach and what they should."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.data.catalogue import entry, names
from svmbench.data.shape import calibration
from svmbench.papers.report.layout import ItemResults
from svmbench.records.groups import short


def stand_in_notes(source: ItemResults, rows: Iterable[MeasuredRow]) -> Iterator[str]:
    """A sentence or two on each stand-in among these rows of an item's tables."""
    found: dict[tuple[str, str], list[MeasuredRow]] = {}
    for row in rows:
        if row.group.stand_in:
            label = row.group.dataset
            name = source.catalogued.get((row.sweep, label), label)
            members = found.setdefault((label, name), [])
            if row not in members:
                members.append(row)
    for (label, name), members in found.items():
        runs = pd.concat([row.group.runs for row in members])
        yield f"{label}: a STAND-IN, {_size(runs)}. {_reached(runs)}{_wanted(name)}"


def _size(runs: pd.DataFrame) -> str:
    """Scale and rows, of each size that occurs."""
    sizes = dict.fromkeys(
        (_scale(text), int(m)) for text, m in zip(runs["data_source"], runs["m"], strict=True)
    )
    return " and ".join(f"SCALE {scale}, {m:,} rows" for scale, m in sizes)


def _scale(text: str) -> str:
    try:
        facts: dict[str, Any] = json.loads(text.removeprefix("stand-in "))
        return f"{facts['scale']:.4g}"
    except (ValueError, KeyError, TypeError):
        return "unknown"


def _reached(runs: pd.DataFrame) -> str:
    """P* at each λ, and the test error of the run nearest to it."""
    parts = []
    for lam, members in runs.groupby("lambda", sort=True):
        optimum = members["reference_primal"].min()
        if pd.isna(optimum):
            continue
        tested = members.dropna(subset=["test_error", "primal"])
        error = ""
        if not tested.empty:
            nearest = tested.loc[tested["primal"] == tested["primal"].min(), "test_error"].iloc[0]
            error = f" (test error {100 * nearest:.3g} % at the lowest P(w))"
        parts.append(f"P* {optimum:.5g} at λ = {short(float(str(lam)))}{error}")
    return f"Here: {', '.join(parts)}. " if parts else ""


def _wanted(name: str) -> str:
    if name not in names():
        return ""
    targets = entry(name).targets
    if not targets:
        return "No published figure calibrates it."
    return f"Calibrated on the published rows: {'; '.join(calibration(targets))}."
