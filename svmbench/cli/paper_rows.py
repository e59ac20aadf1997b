"""The rows of papers' tables and their claims, as ``svmbench papers`` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from svmbench.claims.parts import ClaimResult
from svmbench.cli.columns import align
from svmbench.cli.json_rows import json_of, plain_rows
from svmbench.report.html import SIGNS
from svmbench.report.table import Row, Section, Table

#: Why a ratio is not that of the two medians.
_RATIOS = "\n×: median of the ratios of the repeats that both have; seconds: median of all repeats"


def rows_of(tables: Sequence[Table], claims: Sequence[ClaimResult], datasets: set[str]) -> str:
    """Measured beside published, and what it says of the claims in these cases."""
    found = [block for table in tables for block in _blocks(table, datasets)]
    verdicts = [
        (
            _signed(case.verdict if result.was_run else "not run", result),
            result.claim.text,
            case.place,
        )
        for result in claims
        for case in result.cases
        if case.dataset in datasets
    ]
    if verdicts:
        found.append(align(("here", "claim", "case"), verdicts))
    return "\n\n".join(found)


def _signed(verdict: str, result: ClaimResult) -> str:
    """A case's verdict with its sign; the claim's if that does not rest on this case alone."""
    if result.verdict in ("not shown there", "not testable"):
        verdict = result.verdict
    return f"{SIGNS[verdict]} {verdict}"


def to_json(
    items: Sequence[tuple[tuple[str, str], Sequence[Table], Sequence[ClaimResult]]],
    datasets: set[str],
    page: Path,
) -> str:
    """The numbers of tables, measured and published, and the claims; of some data sets or all."""
    rows = [
        {"table": table.kind, **row}
        for _, tables, _ in items
        for table in tables
        for row in plain_rows(table.records)
        if not datasets or row.get("dataset") in datasets
    ]
    judged = [
        {
            "item": "/".join(item),
            "claim": result.claim.text,
            "verdict": result.outcome,
            "rests_on": result.basis,
            "cases": [
                {"place": case.place, "verdict": case.verdict, "numbers": case.text}
                for case in result.cases
                if not datasets or case.dataset in datasets
            ],
        }
        for item, _, results in items
        for result in results
    ]
    if datasets:
        judged = [each for each in judged if each["cases"]]
    return json_of(rows=rows, claims=judged, page=str(page))


def _blocks(table: Table, datasets: set[str]) -> Iterator[str]:
    for section in table.sections:
        for row in section.rows:
            texts = [cell.text for cell in row.cells[: section.texts]]
            if datasets & {text.partition(" (")[0] for text in texts}:
                header, lines = _by_group(section, row)
                note = _RATIOS if any(name.startswith("×") for name in header) else ""
                yield f"{', '.join(texts)}: {section.heading}\n{align(header, lines)}{note}"


def _by_group(section: Section, row: Row) -> tuple[list[str], list[list[str]]]:
    """A line for each group of columns, with a cell for each column that some group has."""
    spans = section.spans or tuple((name, 1) for name in section.columns[section.texts :])
    names = list(dict.fromkeys(section.columns[section.texts :])) if section.spans else ["measured"]
    lines, at = [], section.texts
    for group, width in spans:
        cells = dict(zip(section.columns[at : at + width], row.cells[at : at + width], strict=True))
        shown = cells.values() if not section.spans else (cells.get(name) for name in names)
        lines.append([group, *("" if cell is None else cell.text for cell in shown)])
        at += width
    return ["", *names], lines
