"""The table of bounds, and a bound and its result in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmbench.bench.bounds import BoundResult
from svmbench.bench.tables.grid import Record, table_of
from svmbench.report.numbers import format_value
from svmbench.report.table import Table


def measured_text(one: BoundResult) -> str:
    """What was measured with its unit, its interval and by how much it misses the bound."""
    if not one.measured > 0:
        return one.note or one.verdict
    said = [" ".join(filter(None, [f"{_measured_ratio(one)}×", _interval(one).replace("–", "")]))]
    if one.missed:
        said.append(f"{_missed_by(one)}{', open' if one.verdict == 'open' else ''}")
    notes = "; ".join(filter(None, [one.note, one.takes]))
    return ", ".join(said) + (f" ({notes})" if notes else "")


def _missed_by(one: BoundResult) -> str:
    return f"missed by a factor of {one.short_by:.3g}"


def _measured_ratio(one: BoundResult) -> str:
    return "–" if math.isnan(one.measured) else format_value(one.measured, one.low, one.high)


def _interval(one: BoundResult) -> str:
    low, high = one.low, one.high
    if math.isnan(low) or low == high or (low, high) == (0.0, math.inf):
        return "–"
    return f"[{format_value(low, low, high)}, {format_value(high, low, high)}]"


def _bound(one: BoundResult) -> Record:
    more = None if one.part is None or one.part.is_guess else one.part.more
    missed = one.missed and one.measured > 0
    return {
        "bound": one.bound.text,
        "where": one.place,
        "aimed_at": one.bound.aim,
        "measured": one.measured,
        "interval_low": one.low,
        "interval_high": one.high,
        "pairs": one.part.pairs if one.part else 0,
        "verdict": one.verdict,
        "more_repeats": math.nan if more is None else more,
        "short_by_factor": one.short_by,
        "held_out": one.held_out,
        "note": one.note,
        "_measured": _measured_ratio(one),
        "_interval": _interval(one),
        "_verdict": ", ".join([one.verdict, *([_missed_by(one)] if missed else [])]),
        "_note": "; ".join(filter(None, [one.note, one.takes])),
    }


def bounds_table(results: Sequence[BoundResult]) -> Table:
    """Every bound at every place; those on data kept out of tuning are separate."""
    titles = {False: "Bounds", True: "Bounds on data kept out of tuning"}
    listed = [one for one in results if not (one.bound.everywhere and one.verdict == "holds")]
    return table_of(
        "bounds",
        "What is aimed at, and what was found",
        [
            (title, "", [_bound(one) for one in listed if one.held_out == apart])
            for apart, title in titles.items()
        ],
        {
            "bound": lambda one: str(one["bound"]),
            "where": lambda one: one["where"] or "–",
            "aimed at": lambda one: str(one["aimed_at"]),
            "measured": lambda one: str(one["_measured"]),
            "interval": lambda one: str(one["_interval"]),
            "pairs": lambda one: str(one["pairs"]),
            "verdict": lambda one: str(one["_verdict"]),
            "note": lambda one: str(one["_note"]),
        },
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
