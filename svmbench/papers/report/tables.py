"""A paper's tables: measured next to published numbers, in the paper's own layout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.claims.places import AXES
from svmbench.papers.likeness import stand_in_notes
from svmbench.papers.model import TableShape
from svmbench.papers.report.layout import (
    Key,
    Layout,
    Quoted,
    axis_name,
    axis_text,
    lay_out,
)
from svmbench.papers.report.numbers import (
    Number,
    number,
    published_text,
    range_text,
    ratio,
)
from svmbench.papers.results import ItemResults
from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.spelling import short
from svmbench.report.notices import notices, stand_in_warning
from svmbench.report.numbers import finite
from svmbench.report.questions import best_of
from svmbench.report.table import Agreement, Row, Section, Table, TableCell
from svmbench.report.tables.words import INTERVALS, RELAPSES, header, interval_notes, state_counts

#: Texts of cells that were not run, and that nothing was to be run for.
NOT_RUN, NOTHING = "not run", "—"

STAND_IN = "(STAND-IN)"
UNLIKE = "(STAND-IN, unlike)"

#: Names of the sides of a column; "ours" is what was measured, where something is published.
_MEASURED, _BOTH, _RANGE = "measured", "ours (published)", "range of the runs"

#: A number is near the published one up to this factor; the page prints the two differently.
NEAR = 1.15

#: How the source of a published number was obtained.
MARKS = {
    "seed": "printed in the paper itself",
    "read": "read in the publication or its released code",
}

_RATIOS = (
    "× NAME: the value over that of NAME, median over the repeats, pair by pair, with its 95 % "
    "interval once there are enough of them, and of processor times where runs had to wait for a "
    "processor; ≥, ≤: a bound, if one of the two was not reached. "
    "In brackets: published, from the machines of their day: compare the ratios. The interval of a "
    "number beside a published one is in the CSV, and on the page under the pointer. On the page "
    "green: within 15 % of the published number; amber: beyond. Seconds have no colour, nor has a "
    "row that is not like the set."
)
_LIMITS = (
    "A run that does not reach ε or diverges counts as +∞ in the median. ≥ T: not reached in the "
    "median when the limit T ended the runs. k of n: runs with a value."
)
_RELAPSES = f"{RELAPSES}."
_BOLD = (
    "Bold: the best median of a place, and every other that was not shown to be worse and whose "
    "interval meets that one's. If all may be the same, none is bold."
)

#: Notes of tables that are the same for all items: the page has them once.
READING = (INTERVALS, _RATIOS, _LIMITS, _RELAPSES, _BOLD)


def build_paper_table(source: ItemResults, number_of: int) -> tuple[Table, list[Quoted]]:
    shape = source.item.tables[number_of]
    builder = _Builder(source, shape, lay_out(source, shape))
    return builder.table(_file_name(source, number_of)), builder.layout.placed


def _file_name(source: ItemResults, number_of: int) -> str:
    """The paper's own numbers come first: table-2 and table-3, then table-further-1."""
    own = [name for name in source.item.also or (source.name,) if name.startswith("table-")]
    if number_of < len(own):
        return own[number_of]
    return f"table-further-{number_of + 1 - len(own)}" if own else f"table-{number_of + 1}"


@dataclass(frozen=True)
class _Field:
    """A column of numbers: a place on the column axes, a measure and a side of it."""

    key: Key
    asked: Asked
    side: str


@dataclass(frozen=True)
class _Builder:
    source: ItemResults
    shape: TableShape
    layout: Layout

    def table(self, kind: str) -> Table:
        item, paper = self.source.item, self.source.paper
        fields = self._fields()
        return Table(
            kind=kind,
            title=f"{paper.title}: {item.number}",
            header=tuple(
                dict.fromkeys(line for r in self.source.results.values() for line in header(r))
            ),
            warnings=tuple(self._warnings()),
            sections=(self._section(fields),),
            notes=tuple(dict.fromkeys(self._notes(fields))),
            records=pd.DataFrame(
                list(self._records()), columns=None if self.layout.rows else ["measured"]
            ),
        )

    # ------------------------------------------------------------ columns

    def _fields(self) -> list[_Field]:
        found = []
        for key in self.layout.columns:
            for asked in self.shape.measures:
                wanted = any(at[1] == key for at in self.layout.expected)
                quoted = any(at[1] == key and at[2] == asked.column for at in self.layout.quoted)
                sides = [_BOTH if quoted else _MEASURED] * (wanted or quoted)
                sides += [_RANGE] * (
                    wanted and self.shape.ranges and asked.measure.taken == "at end"
                )
                # Counts can be compared as they are; of times only the ratios can.
                if asked.measure.cost and asked.measure.per_machine and self._has_ratio(key):
                    sides += [f"× {self.shape.against}"] * (wanted or quoted)
                found += [_Field(key, asked, side) for side in sides]
        return found

    def _has_ratio(self, key: Key) -> bool:
        against = self.shape.against
        if against is None or "solver" not in (*self.shape.rows, *self.shape.columns):
            return False
        if "solver" in self.shape.columns:
            return key[self.shape.columns.index("solver")] != against
        return True

    def _heading(self, field: _Field) -> str:
        parts = [
            axis_text(name, value)
            for name, value in zip(self.shape.columns, field.key, strict=True)
        ]
        if "dataset" in self.shape.columns and self._column_stands_in(field.key):
            parts[self.shape.columns.index("dataset")] += f" {STAND_IN}"
        for at, name in enumerate(self.shape.columns):
            if name in ("lambda", "C", "m"):
                parts[at] = f"{axis_name(name)} = {parts[at]}"
        several = len(self.shape.measures) > 1 or not parts
        return ", ".join([*parts, *[field.asked.heading] * several])

    def _column_stands_in(self, key: Key) -> bool:
        found = [row for at, rows in self.layout.measured.items() if at[1] == key for row in rows]
        return any(row.group.stand_in for row in found)

    # ------------------------------------------------------------ cells

    def _section(self, fields: Sequence[_Field]) -> Section:
        shape, item = self.shape, self.source.item
        groups: list[tuple[str, int]] = []
        for field in fields:
            name = self._heading(field)
            if groups and groups[-1][0] == name:
                groups[-1] = (name, groups[-1][1] + 1)
            else:
                groups.append((name, 1))
        spanned = {field.side for field in fields} != {_MEASURED}
        texts = [axis_name(name) for name in shape.rows]
        names = [field.side if spanned else self._heading(field) for field in fields]
        rows = []
        last: Key | None = None
        for key in self.layout.rows:
            opens = last is None or (len(key) > 1 and key[0] != last[0])
            cells = [self._cell(key, field) for field in fields]
            faded = bool(found := self._in_row(key)) and all(map(self._unlike, found))
            rows.append(Row((*self._head(key), *cells), opens, faded=faded))
            last = key
        return Section(
            heading=". ".join(filter(None, [item.title.rstrip("."), shape.title])),
            facts="; ".join([*(asked.heading for asked in shape.measures), *self._not_run()]),
            columns=(*texts, *names),
            rows=tuple(rows),
            texts=len(texts),
            spans=tuple(groups) if spanned else (),
        )

    def _not_run(self) -> Iterator[str]:
        missing = len(self.layout.expected - set(self.layout.measured))
        if missing:
            yield f"{missing} of {len(self.layout.expected)} cells not run"

    def _head(self, key: Key) -> list[TableCell]:
        texts = [axis_text(name, value) for name, value in zip(self.shape.rows, key, strict=True)]
        found = self._in_row(key)
        marked = [row.group.stand_in for row in found]
        if any(marked) and "dataset" not in self.shape.columns:
            at = self.shape.rows.index("dataset") if "dataset" in self.shape.rows else -1
            mark = UNLIKE if all(map(self._unlike, found)) else STAND_IN
            texts[at] += f" {mark}" if all(marked) else " (in part STAND-IN)"
        elif fewer := {self._rows_of(row) for row in found if self._has_fewer_rows(row)}:
            at = self.shape.rows.index("dataset") if "dataset" in self.shape.rows else -1
            texts[at] += f" (only {', '.join(f'{m:,}' for m in sorted(fewer))} rows)"
        return [TableCell(text) for text in texts]

    def _in_row(self, key: Key) -> list[MeasuredRow]:
        return [row for at, rows in self.layout.measured.items() if at[0] == key for row in rows]

    def _unlike(self, row: MeasuredRow) -> bool:
        """Whether the rows are not like those of the paper, or fewer."""
        if row.group.stand_in:
            return bool(self.source.likeness[row.group.dataset].words)
        return self._has_fewer_rows(row)

    def _has_fewer_rows(self, row: MeasuredRow) -> bool:
        least = [claim.least_rows.get(row.group.dataset, 0) for claim in self.source.item.claims]
        return not row.group.stand_in and self._rows_of(row) < max(least, default=0)

    @staticmethod
    def _rows_of(row: MeasuredRow) -> int:
        return int(row.group.runs["m"].iloc[0])

    def _cell(self, row: Key, field: _Field) -> TableCell:
        at = (row, field.key)
        if field.side in (_MEASURED, _BOTH):
            quoted = self.layout.quoted.get((*at, field.asked.column), [])
            texts = [published_text(field.asked, each.value.value) for each in quoted]
            cell = _beside(self._measured_cell(at, field.asked), "; ".join(texts))
            return replace(cell, agrees=self._agrees(at, field.asked))
        if field.side == _RANGE:
            members = self.layout.measured.get(at, [])
            return TableCell(
                "; ".join(range_text(each, field.asked) for each in members) or NOTHING
            )
        found = self._ratio(at, field.asked)
        quotient = self._published_ratio(at, field.asked)
        cell = _beside(
            TableCell(found.text, value=_sortable(found.found.median)),
            "" if math.isnan(quotient) else _factor(quotient),
        )
        like = not any(map(self._unlike, self.layout.measured.get(at, [])))
        return replace(cell, agrees=_agreement(found.found.median, quotient) if like else "")

    def _agrees(self, at: tuple[Key, Key], asked: Asked) -> Agreement:
        """How near a measured number is to the published one, on rows like those of the paper."""
        members = self.layout.measured.get(at, [])
        if len(members) != 1 or self._unlike(members[0]) or asked.measure.per_machine:
            return ""
        return _agreement(number(members[0], asked).found.median, self._published_number(at, asked))

    def _measured_cell(self, at: tuple[Key, Key], asked: Asked) -> TableCell:
        members = self.layout.measured.get(at, [])
        if not members:
            # Without a number of ours, it is not sorted by a published one.
            text = NOT_RUN if at in self.layout.expected else NOTHING
            return TableCell(text, value=math.nan)
        found = [number(row, asked) for row in members]
        text = "; ".join(dict.fromkeys(each.text for each in found))
        best = len(members) == 1 and (asked.column, members[0].group) in self._best
        hints = "; ".join(filter(None, [each.hint for each in found]))
        return TableCell(text, best, _sortable(found[0].found.median), hints)

    def _axes(self, at: tuple[Key, Key]) -> dict[str, str | float]:
        return dict(zip((*self.shape.rows, *self.shape.columns), (*at[0], *at[1]), strict=True))

    @cached_property
    def _best(self) -> set[tuple[str, Group]]:
        """What is bold, by the rule of a sweep's tables: columns of measures, and rows."""
        places: dict[tuple[Asked, str], list[Group]] = {}
        for at, rows in self.layout.measured.items():
            axes = self._axes(at)
            if axes.pop("solver", None) is None or len(rows) != 1 or self._unlike(rows[0]):
                continue
            for asked in self.shape.measures:
                if not asked.measure.setting:
                    place = "; ".join(axis_text(name, value) for name, value in axes.items())
                    places.setdefault((asked, place), []).append(rows[0].group)
        asked_of = [(asked, groups) for (asked, _), groups in places.items()]
        bold = zip(asked_of, best_of(asked_of), strict=True)
        return {(asked.column, group) for (asked, _), best in bold for group in best}

    # ------------------------------------------------------------ ratios

    def _against(self, at: tuple[Key, Key]) -> tuple[Key, Key] | None:
        """The cell of the solver that this one is compared with."""
        against = self.shape.against
        place = self._axes(at)
        if against is None or "solver" not in place or place["solver"] == against:
            return None
        place["solver"] = against
        return (
            tuple(place[name] for name in self.shape.rows),
            tuple(place[name] for name in self.shape.columns),
        )

    def _ratio(self, at: tuple[Key, Key], asked: Asked) -> Number:
        other = self._against(at)
        own = self.layout.measured.get(at, [])
        rivals = self.layout.measured.get(other, []) if other else []
        if len(own) != 1 or len(rivals) != 1:
            return Number(NOTHING)
        return ratio(own[0], rivals[0], asked)

    def _published_ratio(self, at: tuple[Key, Key], asked: Asked) -> float:
        other = self._against(at)
        own, rival = (
            self._published_number(cell, asked) if cell else math.nan for cell in (at, other)
        )
        return own / rival if rival > 0 else math.nan

    def _published_number(self, at: tuple[Key, Key], asked: Asked) -> float:
        quoted = self.layout.quoted.get((*at, asked.column), [])
        numbers = [each.value.value for each in quoted if not isinstance(each.value.value, str)]
        return float(numbers[0]) if numbers else math.nan

    # ------------------------------------------------------------ words

    def _warnings(self) -> Iterator[str]:
        if names := self.source.stand_ins():
            yield stand_in_warning(names)
        for key, results in self.source.results.items():
            prefix = f"{key}: " if len(self.source.item.sweeps) > 1 else ""
            for notice in notices(results, in_a_paper=True):
                yield prefix + notice.text

    def _numbers(self) -> Iterator[tuple[MeasuredRow, Asked, Number]]:
        for rows in self.layout.measured.values():
            for row in rows:
                for asked in self.shape.measures:
                    yield row, asked, number(row, asked)

    def _notes(self, fields: Sequence[_Field]) -> Iterator[str]:
        found = list(self._numbers())
        coverages = {
            len(each.found.samples): each.found.coverage
            for _, _, each in found
            if each.found.samples
        }
        if coverages:
            yield from interval_notes(coverages)
        for each in dict.fromkeys(
            (q.published.source, q.published.mark) for q in self.layout.placed
        ):
            yield f"Published: {each[0]}, {MARKS[each[1]]}."
        for published in self.source.item.published:
            if why := published.not_available:
                yield f"Published numbers not available ({published.source}): {why}"
        if any(field.side.startswith("×") for field in fields):
            yield _RATIOS
        if any(each.limit for _, _, each in found):
            yield _LIMITS
        if any("†" in each.text for _, _, each in found):
            yield _RELAPSES
        if self._best:
            yield _BOLD
        yield from stand_in_notes(self.source, [row for row, _, _ in found])
        yield from self.source.item.notes

    # ------------------------------------------------------------ records

    def _records(self) -> Iterator[dict[str, Any]]:
        """One per cell and row of the runs; one if there is a cell but no row."""
        for row in self.layout.rows:
            for column in self.layout.columns:
                at = (row, column)
                known = at in self.layout.expected or any(q[:2] == at for q in self.layout.quoted)
                if known:
                    members: list[MeasuredRow | None] = [*self.layout.measured.get(at, [])]
                    for member in members or [None]:
                        yield self._record(at, member)

    def _record(self, at: tuple[Key, Key], row: MeasuredRow | None) -> dict[str, Any]:
        record: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "paper": self.source.paper.key,
            "item": self.source.name,
        }
        place: dict[str, Any] = dict.fromkeys(AXES)
        place |= {name: value for name, value in self._axes(at).items() if value != ""}
        place |= {name: row.axis(name) for name in AXES} if row else {}
        record |= place
        record["stand_in"] = row.group.stand_in if row else None
        record["measured"] = row is not None
        record["runs"] = len(row.group.repeats) if row else 0
        record |= state_counts(row.group) if row else {"states": ""}
        for asked in self.shape.measures:
            record |= self._values(at, row, asked)
        return record

    def _values(self, at: tuple[Key, Key], row: MeasuredRow | None, asked: Asked) -> dict[str, Any]:
        shown = number(row, asked) if row else Number("")
        found = shown.found
        quoted = self.layout.quoted.get((*at, asked.column), [])
        values = [each.value.value for each in quoted]
        texts = [value for value in values if isinstance(value, str)]
        record: dict[str, Any] = {
            "median": finite(found.median),
            "low": finite(found.low),
            "high": finite(found.high),
            "interval_coverage": found.coverage,
            "reached": shown.reached,
            "at_least": finite(shown.at_least),
            "limit": shown.limit.replace("≥ ", ""),
            "published": self._published_number(at, asked),
            "published_text": "; ".join(texts),
            "published_source": "; ".join(dict.fromkeys(q.published.source for q in quoted)),
            "published_mark": "; ".join(dict.fromkeys(q.published.mark for q in quoted)),
        }
        if self.shape.against is not None and asked.measure.cost:
            quotient = self._ratio(at, asked).found
            record |= {
                "ratio": finite(quotient.median),
                "ratio_low": finite(quotient.low),
                "ratio_high": finite(quotient.high),
                "published_ratio": self._published_ratio(at, asked),
            }
        return {f"{asked.column}_{name}": value for name, value in record.items()}


def _agreement(ours: float, published: float) -> Agreement:
    if not (math.isfinite(ours) and math.isfinite(published) and ours > 0.0 and published > 0.0):
        return ""
    return "near" if max(ours / published, published / ours) <= NEAR else "far"


def _beside(cell: TableCell, published: str) -> TableCell:
    """What is published in brackets beside a number; what follows that becomes a remark."""
    if not published:
        return cell
    number = re.split(r" \[|, ", cell.text, maxsplit=1)[0]
    hint = "; ".join(filter(None, [cell.text if cell.text != number else "", cell.hint]))
    ours = "" if cell.text == NOTHING else f"{number} "
    return replace(cell, text=f"{ours}({published})", hint=hint)


def _factor(value: float) -> str:
    return short(value, 3) if value < 1000 else f"{value:.0f}"


def _sortable(value: float) -> float | None:
    """The number to sort a cell by, if it is not the first one of its text."""
    return None if math.isfinite(value) else value
