"""What a paper's page says about stand-ins: their size, what they reach and what they should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.data.catalogue import entry, names
from svmbench.data.dataset import scale_in, scale_text
from svmbench.data.shape import calibration
from svmbench.papers.results import ItemResults
from svmbench.records.spelling import short


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
        said = f"{label}: a STAND-IN, {_size(runs, name)}. {_reached(runs)}{_wanted(name)}"
        like = source.likeness[label]
        counted = f"Like the set: {like.counted}." if like.counted else ""
        yield f"{said} {f'Not like the set: {like.words}.' if like.words else counted}".rstrip()


def _size(runs: pd.DataFrame, name: str) -> str:
    """Scale and rows, of each size that occurs, and the rows of the whole set."""
    sizes = dict.fromkeys(
        (scale_text(scale_in(text)), int(m))
        for text, m in zip(runs["data_source"], runs["m"], strict=True)
    )
    shape = entry(name).stand_in if name in names() else None
    whole = "" if shape is None else f" of the set's {shape.m + shape.m_test:,} rows"
    return " and ".join(f"SCALE {scale}{whole}, {m:,} rows for training" for scale, m in sizes)


#: What distinguishes problems on the rows of one stand-in.
_PROBLEM = ("loss", "bias", "l1_radius", "lambda", "m")


def _reached(runs: pd.DataFrame) -> str:
    """P* of each problem, and the test error of the run nearest to it."""
    parts = []
    telling = [name for name in _PROBLEM if runs[name].nunique(dropna=False) > 1]
    for _, members in runs.groupby(list(_PROBLEM), sort=True, dropna=False):
        first = members.iloc[0]
        optimum = members["reference_primal"].min()
        if pd.isna(optimum):
            continue
        tested = members.dropna(subset=["test_error", "primal"])
        error = ""
        if not tested.empty:
            nearest = tested.loc[tested["primal"] == tested["primal"].min(), "test_error"].iloc[0]
            error = f" (test error {100 * nearest:.3g} % at the lowest P(w))"
        where = [f"λ = {short(float(first['lambda']))}", str(first["loss"])]
        if "bias" in telling and first["bias"] not in ("none", None):
            where.append(f"{first['bias']} bias")
        if "l1_radius" in telling and pd.notna(first["l1_radius"]):
            where.append(f"l1 ball of radius {first['l1_radius']:g}")
        if "m" in telling:
            where.append(f"{int(first['m']):,} rows")
        parts.append(f"P* {optimum:.5g} at {', '.join(where)}{error}")
    return f"Here: {'; '.join(parts)}. " if parts else ""


def _wanted(name: str) -> str:
    if name not in names():
        return ""
    targets = entry(name).targets
    if not targets:
        return "It is not calibrated."
    return f"At full size: {'; '.join(calibration(targets))}."
