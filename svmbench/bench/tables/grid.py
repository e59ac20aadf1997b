"""Tables made of records, one per number: the page, Markdown and the CSV have one source.

Their keys are the columns of the CSV, but for those that begin with an underscore, which only the
page needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from svmbench.bench.found import Found, stand_in_text
from svmbench.records.groups import Group, heading
from svmbench.records.spelling import short
from svmbench.report.table import Row, Section, Table, TableCell

Record = dict[str, Any]

#: The records below one heading, with the facts about them.
Part = tuple[str, str, Sequence[Record]]

#: Texts of the page by their heading, each from a record.
Texts = Mapping[str, Callable[[Record], str]]

#: The key whose values have a column each, the heading of a value, and the cell of a record.
Across = tuple[str, Callable[[Any], str], Callable[[Record], TableCell]]


def table_of(
    kind: str,
    title: str,
    parts: Sequence[Part],
    left: Texts,
    across: Across,
    right: Texts = {},  # noqa: B006, never changed
    *,
    notes: tuple[str, ...] = (),
    order: Sequence[Any] | None = None,
) -> Table:
    """A table of parts, without those that have no records."""
    parts = [part for part in parts if part[2]]
    records = [
        {key: value for key, value in one.items() if not key.startswith("_")}
        for _, _, those in parts
        for one in those
    ]
    sections = tuple(_section(part, left, across, right, order) for part in parts)
    return Table(kind, title, (), (), sections, notes, pd.DataFrame(records))


def _section(
    part: Part, left: Texts, across: Across, right: Texts, order: Sequence[Any] | None
) -> Section:
    """A line for each problem and each of the texts to the left; a column for each value across."""
    (name, facts, records), (key, head, cell) = part, across
    found = dict.fromkeys(one[key] for one in records)
    values = [each for each in order if each in found] if order else sorted(found, reverse=True)
    lines: dict[tuple[Any, ...], dict[Any, Record]] = {}
    for one in records:
        alike = one["set"], one["lambda"], *(text(one) for text in left.values())
        lines.setdefault(alike, {})[one[key]] = one
    rows: list[Row] = []
    for (_, _, *texts), those in lines.items():
        first = next(iter(those.values()))
        cells = (
            *map(TableCell, texts),
            *(cell(those[each]) if each in those else TableCell("–") for each in values),
            *(TableCell(text(first)) for text in right.values()),
        )
        rows.append(Row(cells, opens=not rows))
    return Section(name, facts, (*left, *map(head, values), *right), tuple(rows), len(left))


def starred(one: Record) -> str:
    """The set, marked if it was kept out of tuning."""
    marked = heading(one["set"], one["stand_in"])
    return f"{marked}*" if one["held_out"] else marked


def lambda_text(one: Record) -> str:
    return short(one["lambda"])


def epsilon_text(accuracy: float) -> str:
    return f"ε = {short(accuracy)}"


def source_text(found: Found, label: str, group: Group) -> str:
    """What the rows of a set were when they were measured, and the set's use, in words."""
    scale = stand_in_text(group)
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    return "; ".join(filter(None, [f"{label}: stand-in, {scale}" if scale else "", spec.use]))
