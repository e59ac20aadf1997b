"""The table of bounds, and a bound and its result in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmbench.bench.bounds import BoundResult
from svmbench.bench.tables.columns import TableColumn, TablePart, TableSpec
from svmbench.report.numbers import format_value
from svmbench.report.table import Table


def measured_text(one: BoundResult) -> str:
    """What was measured with its unit, its interval and by how much it misses the bound."""
    if not one.measured > 0:
        return one.note or one.verdict
    text = f"{_measured(one)}×"
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


def _more(one: BoundResult) -> float:
    more = None if one.part is None or one.part.is_guess else one.part.more
    return math.nan if more is None else more


def _verdict(one: BoundResult) -> str:
    by = one.missed and one.measured > 0
    return ", ".join([one.verdict, *([_missed_by(one)] if by else [])])


_BOUNDS: TableSpec[BoundResult] = TableSpec(
    "bounds",
    "What is aimed at, and what was found",
    (
        TableColumn("bound", "bound", lambda one: one.bound.text),
        TableColumn("where", "where", lambda one: one.place, lambda place: place or "–"),
        TableColumn("aimed_at", "aimed at", lambda one: one.bound.aim),
        TableColumn("", "measured", _measured),
        TableColumn("measured", "", lambda one: one.measured),
        TableColumn("", "interval", _interval),
        TableColumn("interval_low", "", lambda one: one.low),
        TableColumn("interval_high", "", lambda one: one.high),
        TableColumn("pairs", "pairs", lambda one: one.part.pairs if one.part else 0),
        TableColumn("", "verdict", _verdict),
        TableColumn("verdict", "", lambda one: one.verdict),
        TableColumn("more_repeats", "", _more),
        TableColumn("short_by_factor", "", lambda one: one.short_by),
        TableColumn("held_out", "", lambda one: one.held_out),
        TableColumn("", "note", lambda one: "; ".join(filter(None, [one.note, one.takes]))),
        TableColumn("note", "", lambda one: one.note),
    ),
    texts=8,
    notes=(
        "Holds, does not hold or open: all bounds are judged together, so that at most 5 % of "
        "these verdicts are expected to be false, however often repeats are added.",
        "Intervals belong to the same evidence: the bound is open if its interval crosses it. "
        "Medians of the paired ratios.",
        "For the bound that no peer is ahead, only comparisons that have not reached it are "
        "listed; the table of all of them is above.",
    ),
)


def bounds_table(results: Sequence[BoundResult]) -> Table:
    """Every bound at every place; those on data kept out of tuning are separate."""
    titles = {False: "Bounds", True: "Bounds on data kept out of tuning"}
    listed = [one for one in results if not (one.bound.everywhere and one.verdict == "holds")]
    return _BOUNDS.table(
        TablePart(title, "", [one for one in listed if one.held_out == apart])
        for apart, title in titles.items()
    )
