"""The table of what is aimed at, and a bound and its finding in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmbench.bench.tables.columns import Column, Grid, Part, interval_text
from svmbench.bench.targets import Finding, Target
from svmbench.records.statistics import format_value
from svmbench.report.tables import Table

_UNITS = {"epoch": " ns"}


def aimed_text(target: Target) -> str:
    """A bound with its unit."""
    return f"{target.aim}{_UNITS.get(target.kind, '×')}"


def measured_text(one: Finding) -> str:
    """What was measured with its unit, its interval and by how much it misses the bound."""
    if not one.measured > 0:
        return one.note or one.verdict
    text = f"{_measured(one)}{_UNITS.get(one.target.kind, '×')}"
    said = [" ".join(filter(None, [text, _interval(one).replace("–", "")]))]
    if one.verdict == "not reached":
        said.append(f"missed by a factor of {one.short_by:.3g}")
    if not one.sure:
        said.append("in doubt")
    return ", ".join(said) + (f" ({one.note})" if one.note else "")


def _measured(one: Finding) -> str:
    return "–" if math.isnan(one.measured) else format_value(one.measured, one.low, one.high)


def _interval(one: Finding) -> str:
    return interval_text(one.low, one.high)


def _verdict(one: Finding) -> str:
    if one.verdict in ("undecided", "not measured"):
        return one.verdict
    doubt = "" if one.sure else ", in doubt"
    if one.verdict == "reached":
        return f"reached{doubt}"
    by = f" by a factor of {one.short_by:.3g}" if one.measured > 0 else ""
    return f"not reached{by}{doubt}"


_BOUNDS: Grid[Finding] = Grid(
    "bounds",
    "What is aimed at, and what was found",
    (
        Column("bound", "bound", lambda one: one.target.text),
        Column("kind", "", lambda one: one.target.kind),
        Column("where", "where", lambda one: one.place, lambda place: place or "–"),
        Column("", "aimed at", lambda one: aimed_text(one.target)),
        Column("aimed_at", "", lambda one: one.target.aim),
        Column("", "measured", _measured),
        Column("measured", "", lambda one: one.measured),
        Column("", "interval", _interval),
        Column("interval_low", "", lambda one: one.low),
        Column("interval_high", "", lambda one: one.high),
        Column("", "verdict", _verdict),
        Column("verdict", "", lambda one: one.verdict),
        Column("beyond_doubt", "", lambda one: one.sure),
        Column("short_by_factor", "", lambda one: one.short_by),
        Column("held_out", "", lambda one: one.held_out),
        Column("note", "note", lambda one: one.note),
        Column("tried", "", lambda one: one.tried),
    ),
    texts=7,
    notes=(
        "Reached or not by the estimate; “in doubt” where its interval lies on both sides.",
        "Intervals: of a ratio Student's of the paired log-ratios, 95 %; of an epoch "
        "the distribution-free one of the median. Of few repeats they are wide.",
    ),
)


def bounds_table(judged: Sequence[Finding]) -> Table:
    """Every bound at every place, those on data kept out of tuning apart."""
    titles = {False: "Bounds", True: "Bounds on data kept out of tuning"}
    return _BOUNDS.table(
        Part(title, "", [one for one in judged if one.held_out == apart])
        for apart, title in titles.items()
    )
