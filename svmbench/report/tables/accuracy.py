"""The tables of seconds, epochs and passes until each accuracy is reached."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.records.spelling import short
from svmbench.records.statistics import median, reached
from svmbench.records.summaries import Summary, summary
from svmbench.report.numbers import finite, interval_text, number_text
from svmbench.report.questions import leader, order
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.words import (
    DEFINITIONS,
    RELAPSES,
    begins_lambda,
    facts_of,
    header,
    interval_notes,
    record_head,
    row_head,
    state_counts,
    warnings_of,
)

#: The kinds of these tables, each with the measure that it shows.
COUNTED = {"time": "seconds", "epochs": "epochs"}

#: A conversion that took fewer seconds converted nothing: they are the clock's own cost.
_CONVERSION_FROM = 1e-4

#: For each data set (and whether it is a stand-in) its groups, each with its summaries.
Summarised = dict[tuple[str, bool], list[tuple[Group, list[Summary]]]]


def summarise(results: Results, kind: str) -> Summarised:
    """Each group with its summaries, one for each accuracy, by data set."""
    found: Summarised = {}
    for key, groups in results.groups.items():
        rows = [
            [summary(group, Asked(COUNTED[kind], accuracy)) for accuracy in results.accuracies]
            for group in groups
        ]
        found[key] = list(zip(groups, _mark_best(results, groups, rows, kind), strict=True))
    return found


def accuracy_table(results: Results, kind: str) -> Table:
    summarised = summarise(results, kind)
    unit = COUNTED[kind]
    everything = [
        (group, summary)
        for members in summarised.values()
        for group, row in members
        for summary in row
    ]
    return Table(
        kind=kind,
        title=f"{results.name}: {unit} to {results.distance} accuracy ε",
        header=header(results),
        warnings=warnings_of(results, kind),
        sections=tuple(
            _accuracy_section(results, *key, members, kind) for key, members in summarised.items()
        ),
        notes=tuple(_notes(kind, everything, results.distance)),
        records=pd.DataFrame([_accuracy_record(*pair, unit) for pair in everything]),
    )


def _mark_best(
    results: Results, groups: Sequence[Group], rows: list[list[Summary]], kind: str
) -> list[list[Summary]]:
    """Mark the least median of each λ and accuracy, and those that may well be the same."""
    marked = [list(row) for row in rows]
    shown = order(results)
    for lam in {group.lam for group in groups}:
        members = [at for at, group in enumerate(groups) if group.lam == lam]
        for column, accuracy in enumerate(results.accuracies):
            asked = Asked(COUNTED[kind], accuracy)
            finite = [at for at in members if math.isfinite(rows[at][column].median)]
            first = leader([groups[at] for at in finite], asked)
            if first is None:
                continue
            least = groups.index(first)
            slower = {
                at
                for at in members
                if rows[at][column].absent or shown.shown(groups[least], groups[at], asked)
            }
            for at in finite if slower else ():
                near = rows[at][column].low <= rows[least][column].high
                marked[at][column] = replace(rows[at][column], best=near and at not in slower)
    return marked


def _accuracy_section(
    results: Results,
    dataset: str,
    stand_in: bool,
    members: Sequence[tuple[Group, Sequence[Summary]]],
    kind: str,
) -> Section:
    groups = [group for group, _ in members]
    unfinished = any(summary.limit for _, row in members for summary in row)
    converts = kind == "time" and any(_conversion(group) for group in groups)
    columns = ["λ", "solver", *(f"ε = {short(t)}" for t in results.accuracies)]
    columns += ["conversion s"] * converts + ["ε at stop"] * unfinished
    rows = []
    for (group, row), opens in zip(members, begins_lambda(groups), strict=True):
        cells = [*row_head(group, opens), *(accuracy_cell(s) for s in row)]
        if converts:
            cells.append(_conversion_cell(_conversion(group)))
        if unfinished:
            cells.append(_at_stop(group) if any(s.limit for s in row) else TableCell(""))
        rows.append(Row(tuple(cells), opens))
    return Section(heading(dataset, stand_in), facts_of(groups), tuple(columns), tuple(rows))


def accuracy_cell(summary: Summary) -> TableCell:
    """Print a summary: the median with its interval, or the reason why there is none."""
    if not summary.samples:
        return TableCell(summary.limit, value=math.inf)
    partly = reached(summary.samples) if summary.limit else ""
    if math.isfinite(summary.median):
        parts = [interval_text(summary.median, summary.low, summary.high)]
    else:
        parts = [summary.limit]
    if partly and len(summary.samples) > 1:
        parts.append(partly)
    text = ", ".join(parts) + (" †" if summary.relapses else "")
    return TableCell(text, summary.best, summary.median, _relapse_hint(summary))


def _relapse_hint(summary: Summary) -> str:
    if not summary.relapses:
        return ""
    above = number_text(summary.last_above_seconds)
    return (
        f"{summary.relapses} of {len(summary.samples)} runs were above ε again later, "
        f"last after {above} s (median)"
    )


def _conversion(group: Group) -> float:
    """Seconds that a peer needed to convert the rows to its own format; 0 if it did not."""
    seconds = group.middle("conversion_seconds")
    return seconds if seconds >= _CONVERSION_FROM else 0.0


def _conversion_cell(seconds: float) -> TableCell:
    return TableCell(number_text(seconds) if seconds else "–", value=seconds)


def _accuracy_record(group: Group, summary: Summary, unit: str) -> dict[str, Any]:
    record = record_head(group) | {
        "accuracy": summary.accuracy,
        f"median_{unit}": finite(summary.median),
        f"low_{unit}": finite(summary.low),
        f"high_{unit}": finite(summary.high),
        "interval_coverage": summary.coverage,
        "reached": summary.reached,
        "runs": len(summary.samples),
        f"at_least_{unit}": summary.at_least,
        "limit": summary.limit.replace("≥ ", ""),
        "best": summary.best,
        "relapsed_runs": summary.relapses,
        "last_above_seconds": summary.last_above_seconds,
        "final_accuracy": group.middle("accuracy"),
        "conversion_seconds": group.middle("conversion_seconds"),
        "horizons": group.runs["horizon"].nunique() or None,
    }
    return record | state_counts(group)


def _notes(kind: str, everything: Sequence[tuple[Group, Summary]], distance: str) -> Iterator[str]:
    yield (
        f"ε is {DEFINITIONS[distance]} with a certified lower bound D_ref on the optimum. The "
        "harness sees it, the solver does not: the stop is an oracle's, the same for every solver."
    )
    if kind == "time":
        yield "Seconds of training by the wall clock, with set-up, without evaluation and writing."
    else:
        yield "An epoch is m presentations of a row."
    yield (
        "A run has reached ε at its first checkpoint at or below ε. Checkpoints lie at most 10 % "
        "of the presentations apart, or one step for methods with longer steps."
    )
    yield from interval_notes({len(each.samples): each.coverage for _, each in everything})
    yield (
        "Bold: the least median of its λ and ε, and every other that was not shown to take "
        "longer and whose interval meets that one's. If all may take the same, none is bold. Where "
        "other programs kept runs of one thread waiting, processor time decides."
    )
    if any(summary.limit for _, summary in everything):
        yield (
            "A run that does not reach the accuracy counts as +∞ in the median. ≥ T: the median "
            "run did not reach it before the sweep's limit T (seconds or epochs); T is not a "
            "measurement. k of n: k of n runs reached it. ε at stop: median accuracy at the last "
            "checkpoint."
        )
    if any(summary.relapses for _, summary in everything):
        yield (f"{RELAPSES}; last_above_seconds in the CSV file is when they last were (median).")
    if kind == "time" and any(_conversion(group) for group, _ in everything):
        yield (
            "conversion s: bringing the rows into the format of a program from outside, before "
            "the clock starts (median); –: the solver reads the rows as they are."
        )
    yield from _horizon_notes(
        dict.fromkeys(group.label for group, _ in everything if group.separate_runs)
    )
    if any(state == "skipped" for group, _ in everything for state in group.runs["state"]):
        yield (
            "Once a repeat of a cell has met the time limit, the cell's other repeats are skipped; "
            "they count among the n as not reached."
        )


def _horizon_notes(labels: Iterable[str]) -> Iterator[str]:
    """Explain the rows of solvers that are run once for each horizon, if there are any."""
    if named := ", ".join(labels):
        yield (
            f"{named}: the steps depend on where the run is to end, so that each repeat is several "
            "runs, each measured at its end only. A repeat's value is the least over its runs, as "
            "if the best horizon were known; the search for it is not in the number. A repeat that "
            "does not reach ε has spent what its longest run took."
        )


def _at_stop(group: Group) -> TableCell:
    values = list(samples(group, Asked("accuracy")).values())
    if not values:
        return TableCell("–")
    return TableCell(number_text(median(values)), value=median(values))
