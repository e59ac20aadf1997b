"""The table of bounds, and a bound and its result in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmbench.bench.bounds import BoundResult
from svmbench.bench.tables.columns import Column, Grid, Part
from svmbench.bench.targets import Target
from svmbench.report.numbers import format_value
from svmbench.report.table import Table

_UNITS = {"epoch": " ns"}


def aimed_text(target: Target) -> str:
    """A bound with its unit."""
    return f"{target.aim}{_UNITS.get(target.kind, '×')}"


def measured_text(one: BoundResult) -> str:
    """What was measured with its unit, its interval and by how much it misses the bound."""
    if not one.measured > 0:
        return one.note or one.verdict
    text = f"{_measured(one)}{_UNITS.get(one.target.kind, '×')}"
    said = [" ".join(filter(None, [text, _interval(one).replace("–", "")]))]
    if one.missed:
        said.append(f"{_missed_by(one)}{', open' if one.verdict == 'open' else ''}")
    notes = "; ".join(filter(None, [one.note, one.takes]))
    return ", ".join(said) + (f" ({notes})" if notes else "")


def _missed_by(one: BoundResult) -> str:
    return f"missed by a factor of {one.short_by:.3g}"


def _measured(one: BoundResult) -> str:
    return "–" if math.isnan(one.measured) else format_value(one.measured, one.low, one.high)


def _interval(one: BoundResult) -> str:
    low, high = one.low, one.high
    if math.isnan(low) or low == high or (low, high) == (0.0, math.inf):
        return "–"
    return f"[{format_value(low, low, high)}, {format_value(high, low, high)}]"


def _verdict(one: BoundResult) -> str:
    by = one.missed and one.measured > 0
    return ", ".join([one.verdict, *([_missed_by(one)] if by else [])])


_BOUNDS: Grid[BoundResult] = Grid(
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
        Column("pairs", "pairs", lambda one: len(one.pairs.logs) if one.pairs else 0),
        Column("", "verdict", _verdict),
        Column("verdict", "", lambda one: one.verdict),
        Column("more_repeats", "", lambda one: math.nan if one.more is None else one.more),
        Column("short_by_factor", "", lambda one: one.short_by),
        Column("held_out", "", lambda one: one.held_out),
        Column("", "note", lambda one: "; ".join(filter(None, [one.note, one.takes]))),
        Column("note", "", lambda one: one.note),
        Column("tried", "", lambda one: one.tried),
    ),
    texts=8,
    notes=(
        "Reached, not reached or open: all bounds are judged together, so that at most 5 % of "
        "these verdicts are expected to be false, however often repeats are added.",
        "Intervals belong to the same evidence: the bound is open if its interval crosses it. "
        "Medians of the paired ratios; for an epoch, the median of the repeats.",
        "For the bound that no peer is ahead, only comparisons that have not reached it are "
        "listed; the table of all of them is above.",
    ),
)


def bounds_table(results: Sequence[BoundResult]) -> Table:
    """Every bound at every place; those on data kept out of tuning are separate."""
    titles = {False: "Bounds", True: "Bounds on data kept out of tuning"}
    listed = [one for one in results if (one.target.kind, one.verdict) != ("ahead", "reached")]
    return _BOUNDS.table(
        Part(title, "", [one for one in listed if one.held_out == apart])
        for apart, title in titles.items()
    )
