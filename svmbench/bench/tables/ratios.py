"""Tables of ratios: the champion against LIBLINEAR, and against all peers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from svmbench.bench.found import Found, grouped
from svmbench.bench.tables.grid import (
    Record,
    epsilon_text,
    lambda_text,
    source_text,
    starred,
    table_of,
)
from svmbench.bench.versus import Answered
from svmbench.records.groups import heading
from svmbench.report.numbers import format_value, interval_text
from svmbench.report.table import Table, TableCell

_ORACLE = (
    "Oracle stop: measured against the certified optimum. In every repeat the fastest of the "
    "programs' runs counts, whatever its tolerance, as if that had been known beforehand."
)
_RATIO = (
    "Median of the paired ratios with the interval of the evidence that the verdicts rest on; "
    "above 1 the champion is faster. ≥: a lower bound; in some repeats no program reached the "
    "accuracy, and the time they had spent replaces their time."
)
HELD_OUT = "*: kept out of tuning."
EVERYTHING = "Every set, λ and accuracy"


def compared(answered: Answered) -> list[Record]:
    """Comparisons in the order of the sets, each from its largest λ down."""
    records = [
        {
            "set": one.measured.set,
            "stand_in": one.row.group.stand_in,
            "held_out": one.measured.held_out,
            "lambda": one.row.group.lam,
            "accuracy": one.accuracy,
            "champion_seconds": one.ours,
            "program_seconds": one.theirs,
            "program": one.program,
            "ratio": one.estimate,
            "ratio_low": answer.low,
            "ratio_high": answer.high,
            "pairs": one.informative,
            "lower_bound_only": answer.estimate < answer.estimate_high,
            "standing": one.standing(answer),
            "programs_run": " ".join(one.among),
            "_group": one.row.group,
        }
        for one, answer in answered
    ]
    order = list(dict.fromkeys(one["set"] for one in records))
    return sorted(records, key=lambda one: (order.index(one["set"]), -one["lambda"]))


def ahead_table(records: Sequence[Record]) -> Table:
    """The champion against the fastest peer in every case, and in how many it is behind."""
    programs: dict[tuple[str, float], dict[str, None]] = {}
    for one in records:
        run = programs.setdefault((one["set"], one["lambda"]), {})
        run.update(dict.fromkeys(one["programs_run"].split()))
    return table_of(
        "ahead",
        "Is any peer ahead?",
        [(EVERYTHING, standings(records), records)],
        {
            "set": starred,
            "λ": lambda_text,
            "programs run": lambda one: ", ".join(programs[one["set"], one["lambda"]]),
        },
        ("accuracy", epsilon_text, standing_cell),
        notes=(
            f"Seconds of the fastest program of every repeat over the champion's. {_RATIO} The "
            "program named is the fastest in the median; ✗: a program is ahead, "
            "(✗): by the estimate, but not by its whole interval. Only runs of one block, executed "
            "side by side, are paired; if several sweeps have such pairs, those in which a program "
            "does best count.",
            HELD_OUT,
            _ORACLE,
        ),
    )


def ratios_table(found: Found, records: Sequence[Record]) -> Table:
    records = sorted(records, key=lambda one: bool(one["held_out"]))
    return table_of(
        "ratio-liblinear",
        "Seconds of LIBLINEAR over the champion's",
        [
            (
                heading(label, first["stand_in"]) + " (kept out of tuning)" * first["held_out"],
                source_text(found, label, first["_group"]),
                those,
            )
            for label, those in grouped(records, lambda one: str(one["set"])).items()
            for first in those[:1]
        ],
        {"λ": lambda_text},
        ("accuracy", epsilon_text, ratio_cell),
        notes=(_RATIO, _ORACLE),
    )


def standings(records: Sequence[Record]) -> str:
    if not records:
        return ""
    counts = Counter(one["standing"] for one in records)
    said = [
        f"the champion is shown ahead in {counts['champion ahead']}",
        f"a peer is shown ahead in {counts['peer ahead']}",
    ]
    for name in ("no peer reached it", "nobody reached it"):
        if counts[name]:
            said.append(f"{name.replace('it', 'the accuracy')} in {counts[name]}")
    if counts["open"]:
        slower = sum(_is_behind(one) for one in records if one["standing"] == "open")
        said.append(
            f"neither is shown ahead in {counts['open']} (a peer is faster so far in {slower})"
        )
    cases = "case" if len(records) == 1 else "cases"
    return f"{len(records)} {cases} (a set, λ and ε): {', '.join(said)}."


def _is_behind(one: Record) -> bool:
    return bool(one["ratio"] < 1.0 and not one["lower_bound_only"])


def standing_cell(one: Record) -> TableCell:
    """A ratio with the fastest program, marked if that is ahead."""
    cell = ratio_cell(one)
    mark = "✗ " if one["standing"] == "peer ahead" else "(✗) " * _is_behind(one)
    return replace(cell, text=f"{mark}{cell.text} {one['program']}".rstrip())


def ratio_cell(one: Record) -> TableCell:
    """A ratio, or who did not reach the accuracy."""
    if math.isinf(one["champion_seconds"]):
        return TableCell("not reached" if one["program"] else "nobody reached it")
    took = one["champion_seconds"], one["program_seconds"]
    hint = f"{took[0]:.4g} s against {took[1]:.4g} s, {one['program'] or 'none'}"
    text = "≥ " * one["lower_bound_only"] + _ratio_text(one)
    return TableCell(text, value=one["ratio"], hint=hint)


def _ratio_text(one: Record) -> str:
    """A ratio, with its interval if that is bounded."""
    low, high = one["ratio_low"], one["ratio_high"]
    if not one["pairs"]:
        return "–"
    bounded = low > 0.0 and high < math.inf
    return (interval_text if bounded else format_value)(one["ratio"], low, high)
