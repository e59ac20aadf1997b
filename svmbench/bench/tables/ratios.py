"""Tables of ratios: the champion against LIBLINEAR, all peers, and itself without its tricks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Measured, grouped
from svmbench.bench.tables.columns import (
    KeyedColumns,
    TableColumn,
    TablePart,
    TableSpec,
    parts_of,
    source_text,
)
from svmbench.bench.versus import (
    Versus,
    best_of_theirs,
    by_problem,
    comparisons,
    most_pairs,
    side_by_side,
)
from svmbench.evidence.page import LEVEL
from svmbench.records.groups import heading
from svmbench.records.spelling import short
from svmbench.report.numbers import format_value, interval_text, number_text
from svmbench.report.table import Table, TableCell

#: Evidence for the interval of a ratio if the page asks nothing else.
_ALONE = 2 / LEVEL

_ORACLE = (
    "Oracle stop: measured against the certified optimum. In every repeat the fastest of the "
    "programs' runs counts, whatever its tolerance, as if that had been known beforehand."
)


def _compared(threshold: float) -> tuple[TableColumn[Versus], ...]:
    """Columns of comparisons, with the intervals of the evidence at that threshold."""
    return (
        TableColumn("set", "", lambda one: one.set),
        TableColumn("stand_in", "", lambda one: one.stand_in),
        TableColumn("held_out", "", lambda one: one.held_out),
        TableColumn("lambda", "λ", lambda one: one.lam, short),
        TableColumn("accuracy", "", lambda one: one.accuracy),
        TableColumn("champion_seconds", "", lambda one: one.ours),
        TableColumn("program_seconds", "", lambda one: one.theirs),
        TableColumn("program", "", lambda one: one.program),
        TableColumn("ratio", "", lambda one: one.estimate),
        TableColumn("ratio_low", "", lambda one: one.interval(threshold)[0]),
        TableColumn("ratio_high", "", lambda one: one.interval(threshold)[1]),
        TableColumn("pairs", "", lambda one: one.informative),
        TableColumn("lower_bound_only", "", lambda one: one.censored),
        TableColumn("standing", "", lambda one: one.standing(threshold)),
        TableColumn("programs_run", "", lambda one: " ".join(one.among)),
    )


_RATIO = (
    "Median of the paired ratios with the interval of the evidence that the bounds are judged by; "
    "above 1 the champion is faster. ≥: a lower bound; in some repeats no program reached the "
    "accuracy, and the time they had spent replaces their time."
)


def ratios_table(found: Found, rivals: Sequence[str], threshold: float) -> Table:
    """The champion against LIBLINEAR, by set."""
    grid = TableSpec(
        "ratio-liblinear",
        "Seconds of LIBLINEAR over the champion's",
        _compared(threshold),
        _by_accuracy(lambda one: ratio_cell(one, threshold)),
        notes=(_RATIO, _ORACLE),
    )
    compared = _by_set(list(map(most_pairs, by_problem(comparisons(found, rivals)))))
    compared.sort(key=lambda one: one.held_out)
    return grid.table(
        TablePart(
            heading(label, rows[0].stand_in) + " (kept out of tuning)" * rows[0].held_out,
            source_text(found, label, rows[0].row.group),
            rows,
        )
        for label, rows in grouped(compared, lambda one: one.set).items()
    )


def _by_accuracy(
    cell: Callable[[Versus], str | TableCell], line: Callable[[Versus], str] = lambda one: ""
) -> KeyedColumns[Versus]:
    """A column for each accuracy, and a line for each set, λ and further keys."""
    return KeyedColumns(
        lambda one: one.accuracy,
        lambda accuracy: f"ε = {short(accuracy)}",
        cell,
        lambda one: (one.set, one.lam, line(one)),
    )


def _by_set(compared: Sequence[Versus]) -> list[Versus]:
    """In the order of the sets, each from its largest λ down."""
    order = {label: at for at, label in enumerate(dict.fromkeys(one.set for one in compared))}
    return sorted(compared, key=lambda one: (order[one.set], -one.lam))


def against_fastest(found: Found) -> list[Versus]:
    """The champion against the fastest peer, once for each set, λ and accuracy."""
    return _by_set(list(map(best_of_theirs, by_problem(comparisons(found)))))


def ahead_table(found: Found, threshold: float) -> Table:
    """The champion against the fastest peer in every case, and in how many it is behind."""
    compared = against_fastest(found)
    programs: dict[tuple[str, float], dict[str, None]] = {}
    for one in compared:
        programs.setdefault((one.set, one.lam), {}).update(dict.fromkeys(one.among))
    grid = TableSpec(
        "ahead",
        "Is any peer ahead?",
        (
            TableColumn("", "set", lambda one: heading(one.set, one.stand_in) + "*" * one.held_out),
            *_compared(threshold),
            TableColumn("", "programs run", lambda one: ", ".join(programs[one.set, one.lam])),
        ),
        _by_accuracy(lambda one: standing_cell(one, threshold)),
        texts=3,
        notes=(
            f"Seconds of the fastest program of every repeat over the champion's. {_RATIO} The "
            "program named is the fastest in the median; ✗: a program is ahead, "
            "(✗): by the estimate, but not by its whole interval. Only runs of one block, executed "
            "side by side, are paired; if several sweeps have such pairs, those in which a program "
            "does best count.",
            "*: kept out of tuning.",
            _ORACLE,
        ),
    )
    return grid.table(
        [TablePart("Every set, λ and accuracy", standings(compared, threshold), compared)]
    )


def standings(compared: Sequence[Versus], threshold: float) -> str:
    """Who is ahead in how many cases, in words."""
    if not compared:
        return ""
    counts = Counter(one.standing(threshold) for one in compared)
    said = [
        f"the champion is shown ahead in {counts['champion ahead']}",
        f"a peer is shown ahead in {counts['peer ahead']}",
    ]
    for name in ("no peer reached it", "nobody reached it"):
        if counts[name]:
            said.append(f"{name.replace('it', 'the accuracy')} in {counts[name]}")
    if counts["open"]:
        slower = sum(
            one.estimate < 1.0 and not one.censored
            for one in compared
            if one.standing(threshold) == "open"
        )
        said.append(
            f"neither is shown ahead in {counts['open']} (a peer is faster so far in {slower})"
        )
    cases = "case" if len(compared) == 1 else "cases"
    return f"{len(compared)} {cases} (a set, λ and ε): {', '.join(said)}."


def standing_cell(one: Versus, threshold: float) -> TableCell:
    """A ratio with the fastest program, marked if that is ahead."""
    cell = ratio_cell(one, threshold)
    mark = "✗ " if one.standing(threshold) == "peer ahead" else ""
    if not mark and one.estimate < 1.0 and not one.censored:
        mark = "(✗) "
    name = f" {one.program}" if one.program else ""
    return replace(cell, text=f"{mark}{cell.text}{name}")


def ratio_cell(one: Versus, threshold: float) -> TableCell:
    """A ratio, or who did not reach the accuracy."""
    if math.isinf(one.ours):
        return TableCell("not reached" if one.program else "nobody reached it")
    text = f"{'≥ ' if one.censored else ''}{ratio_text(one, threshold)}"
    hint = f"{one.ours:.4g} s against {one.theirs:.4g} s, {one.program or 'none'}"
    return TableCell(text, value=one.estimate, hint=hint)


def ratio_text(one: Versus, threshold: float) -> str:
    """Print a ratio, with its interval if that is bounded."""
    low, high = one.interval(threshold)
    if not one.informative:
        return "–"
    bounded = low > 0.0 and high < math.inf
    return (interval_text if bounded else format_value)(one.estimate, low, high)


def ablation_table(found: Found) -> Table:
    """The worth of each of the champion's tricks by itself."""
    grid: TableSpec[Versus] = TableSpec(
        "ablation",
        f"{champion()} without each of its tricks",
        (
            TableColumn("set", "", lambda one: one.set),
            TableColumn("lambda", "λ", lambda one: one.lam, short),
            TableColumn("label", "solver", lambda one: one.among[0]),
            TableColumn("accuracy", "", lambda one: one.accuracy),
            TableColumn("median_seconds", "", lambda one: one.theirs),
            TableColumn("slower_by", "", lambda one: one.estimate),
            TableColumn("slower_by_low", "", lambda one: one.interval(_ALONE)[0]),
            TableColumn("slower_by_high", "", lambda one: one.interval(_ALONE)[1]),
        ),
        _by_accuracy(_ablated_text, lambda one: one.among[0]),
        texts=2,
        notes=(
            "Median seconds, and their ratio to the champion's: the worth of each trick by itself, "
            "with all others on. Each ratio has its own 95 % interval.",
        ),
    )
    return grid.table(parts_of(found, "ablation", _ablated))


def _ablated(part: Measured) -> Iterator[Versus]:
    """Every row of the sweep against the whole champion."""
    whole = {row.group.lam: row for row in part.rows if row.group.label == champion()}
    for row in part.rows:
        for accuracy in part.accuracies:
            if row.group.lam in whole:
                asked = part.asked(accuracy)
                yield from side_by_side(part, whole[row.group.lam], (row,), asked)


def _ablated_text(one: Versus) -> str:
    text = number_text(one.theirs)
    same = one.among == (champion(),)
    return text if same else f"{text} ({ratio_text(one, _ALONE)}×)"
