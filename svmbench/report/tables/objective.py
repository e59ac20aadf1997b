"""The table of the objective that each solver's runs had reached when they ended."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import measured, samples
from svmbench.records.states import STATES, counted_states, in_words
from svmbench.records.statistics import estimate, median
from svmbench.report.numbers import digits_apart, enclosure_text, finite, interval_text, rounded_up
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.words import (
    DEFINITIONS,
    begins_lambda,
    facts_of,
    fault_words,
    header,
    record_head,
    row_head,
    state_counts,
    warnings_of,
)


def objective_table(results: Results, kind: str) -> Table:
    grouped = results.groups
    rows = [group for groups in grouped.values() for group in groups]
    return Table(
        kind=kind,
        title=f"{results.name}: objective at the stop",
        header=header(results),
        warnings=warnings_of(results, kind),
        sections=tuple(_objective_section(*key, groups) for key, groups in grouped.items()),
        notes=tuple(_objective_notes(rows, results.distance)),
        records=pd.DataFrame([_objective_record(group) for group in rows]),
    )


def _objective_section(dataset: str, stand_in: bool, groups: Sequence[Group]) -> Section:
    tested = any(not math.isnan(group.middle("test_error")) for group in groups)
    certified = any(not math.isnan(group.middle("gap")) for group in groups)
    columns = ["λ", "solver", "P(w)", "ε", "train error %"]
    columns += ["test error %"] * tested + ["own gap"] * certified + ["ended"]
    rows = []
    for group, opens in zip(groups, begins_lambda(groups), strict=True):
        if opens:
            rows.append(Row(_reference_cells(group, len(columns)), opens=True, reference=True))
        cells = [*row_head(group, opens=False), _primal_cell(group)]
        columns_there = ("accuracy", "train_error", *["test_error"] * tested, *["gap"] * certified)
        cells += [_end_cell(group, name) for name in columns_there]
        cells.append(TableCell(counted_states(group.runs["state"])))
        rows.append(Row(tuple(cells)))
    return Section(heading(dataset, stand_in), facts_of(groups), tuple(columns), tuple(rows))


def _reference_cells(group: Group, width: int) -> tuple[TableCell, ...]:
    """The first row of a λ: the certified interval of its optimum."""
    dual, primal = group.middle("reference_dual"), group.middle("reference_primal")
    head = (TableCell(group.written_lambda), TableCell("P* (certified)"))
    known = TableCell(f"≥ {dual:.9g}" if math.isnan(primal) else enclosure_text(dual, primal))
    gap = group.middle("reference_gap")
    filled = (*head, known, TableCell("" if math.isnan(gap) else f"≤ {rounded_up(gap)}"))
    return (*filled, *[TableCell("")] * (width - len(filled)))


def _primal_cell(group: Group) -> TableCell:
    asked = Asked("primal")
    found = samples(group, asked)
    if not found:
        return TableCell("–")
    if fault := fault_words(group, asked):
        return TableCell(fault, value=math.inf)
    middle, repeats, known = (
        median(list(found.values())),
        len(group.repeats),
        len(measured(group, asked)),
    )
    text = digits_apart(middle, group.middle("reference_dual"))
    if known < repeats:
        text += f", {known} of {repeats}"
    return TableCell(text, value=middle)


def _end_cell(group: Group, name: str) -> TableCell:
    """A number of the last checkpoint: its median and interval, in the unit of its heading."""
    asked = Asked(name)
    found = estimate(asked.measure.scale * value for value in samples(group, asked).values())
    if not found.samples:
        return TableCell("–")
    if fault := fault_words(group, asked):
        return TableCell(fault, value=found.median)
    return TableCell(interval_text(found.median, found.low, found.high), value=found.median)


#: The measures of this table, each with the prefix of its columns in the CSV file.
_OBJECTIVE_COLUMNS = {
    "primal": "primal",
    "accuracy": "accuracy",
    "train_error": "train_error",
    "test_error": "test_error",
    "gap": "own_gap",
}


def _objective_record(group: Group) -> dict[str, Any]:
    record = record_head(group) | {
        "reference_dual": group.middle("reference_dual"),
        "reference_primal": group.middle("reference_primal"),
        "reference_gap": group.middle("reference_gap"),
    }
    for name, column in _OBJECTIVE_COLUMNS.items():
        found = estimate(samples(group, Asked(name)).values())
        record |= {
            f"{column}_median": finite(found.median),
            f"{column}_low": finite(found.low),
            f"{column}_high": finite(found.high),
            f"{column}_interval_coverage": found.coverage,
            f"{column}_runs": len(found.samples),
        }
    return record | {"runs": len(group.repeats)} | state_counts(group)


def _objective_notes(groups: Sequence[Group], distance: str) -> Iterator[str]:
    yield (
        "Medians over the repeats at the last checkpoint of each run, with [the interval] of two "
        "order statistics. P(w) has digits enough to show where it differs from the certified "
        f"lower bound D_ref; ε is {DEFINITIONS[distance]}."
    )
    yield "P* lies in [D_ref, P_ref]; the ε beside it is the relative gap of the two."
    if any(not math.isnan(group.middle("gap")) for group in groups):
        yield (
            "own gap: (P − D)/D with the solver's own dual value D, for solvers that have one; "
            "–: it has none, or D ≤ 0."
        )
    ends = dict.fromkeys(state for group in groups for state in group.repeats["state"])
    if worst := [in_words(state) for state in ends if STATES[state].at_end == "worst"]:
        yield (
            f"A run that ended as {' or '.join(worst)} counts as +∞ in the medians of P and ε, and "
            "as an error on every row."
        )
    if "max_steps" in ends:
        yield (
            f"{in_words('max_steps')}: the run met a limit of epochs, updates or steps, or no "
            "further step changed anything."
        )
    if any(_objective_short(group) for group in groups):
        yield "k of n: runs that have an objective at all."
    if named := ", ".join(dict.fromkeys(group.label for group in groups if group.separate_runs)):
        yield (
            f"{named}: each repeat is several runs, one for each horizon; its row shows the most "
            "accurate of them."
        )


def _objective_short(group: Group) -> bool:
    return 0 < len(measured(group, Asked("primal"))) < len(group.repeats)
