"""The cells of a paper's tables: measured, expected and published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from svmbench.claims.measured import MeasuredRow, fills
from svmbench.claims.places import AXES, same
from svmbench.papers.model import Item, TableShape
from svmbench.papers.published import Published, PublishedValue
from svmbench.papers.results import ItemResults
from svmbench.records.spelling import short

Value = str | float
Key = tuple[Value, ...]

#: Order of numbers on an axis: False for ascending, True for descending.
_DESCENDING = {"lambda": True, "C": False, "m": False}


def axes_of(row: MeasuredRow) -> dict[str, Value]:
    return _alike({name: row.axis(name) for name in AXES})


def _alike(place: Mapping[str, Value]) -> dict[str, Value]:
    """A place whose numbers have nine digits: those that are meant to be the same are equal."""
    return {
        name: value if isinstance(value, str) else float(f"{value:.9g}")
        for name, value in place.items()
    }


@dataclass(frozen=True)
class Quoted:
    value: PublishedValue
    published: Published

    def place(self) -> dict[str, Value]:
        given = self.value.model_dump(by_alias=True, exclude={"measure", "value"})
        return _alike({name: value for name, value in given.items() if value is not None})


@dataclass
class Layout:
    rows: list[Key]  # rows, columns: values on the shape's axes, in order
    columns: list[Key]
    # by (row, column): the rows of the runs there
    measured: dict[tuple[Key, Key], list[MeasuredRow]] = field(default_factory=dict)
    # by (row, column, name of the measure's column): the published values
    quoted: dict[tuple[Key, Key, str], list[Quoted]] = field(default_factory=dict)
    # (row, column) of the cells that the sweeps ask for
    expected: set[tuple[Key, Key]] = field(default_factory=set)
    # the published values that have a place here
    placed: list[Quoted] = field(default_factory=list)


def quotations(item: Item) -> list[Quoted]:
    return [Quoted(value, published) for published in item.published for value in published.values]


def lay_out(source: ItemResults, shape: TableShape) -> Layout:
    """Find a table's cells.

    A published value goes into the one cell that agrees with its place. If there is none, it
    opens a row or a column, whose other axes are those of the cells that it agrees with except
    for the solver.
    """
    measured = [row for row in source.rows if row.lies_in(shape.of)]
    slots = [slot for slot in source.slots if _within(slot, shape)]
    missing = [slot for slot in slots if not any(fills(row, slot) for row in measured)]
    places = [*map(axes_of, measured), *map(_alike, missing)]
    needed = (*shape.rows, *shape.columns)
    # A cell of a sweep in C does not know its lambda: it has no place until it is run.
    places = [place for place in places if all(name in place for name in needed)]
    quoted = list(_placed(source, shape, places))
    every = [*places, *(place for _, place in quoted)]
    order = _orders([*map(_alike, slots), *every], needed)
    layout = Layout(_keys(every, shape.rows, order), _keys(every, shape.columns, order))

    def cell_of(place: Mapping[str, Value]) -> tuple[Key, Key]:
        return tuple(place[name] for name in shape.rows), tuple(
            place[name] for name in shape.columns
        )

    for row in measured:
        cell = cell_of(axes_of(row))
        layout.measured.setdefault(cell, []).append(row)
        layout.expected.add(cell)
    for place in places:
        layout.expected.add(cell_of(place))
    for value, place in quoted:
        row_key, column_key = cell_of(place)
        at = (row_key, column_key, value.value.measure.column)
        layout.quoted.setdefault(at, []).append(value)
        layout.placed.append(value)
    return layout


def _within(place: Mapping[str, Value], shape: TableShape) -> bool:
    return all(
        name not in place or any(same(place[name], value) for value in values)
        for name, values in shape.of.given.items()
    )


def _placed(
    source: ItemResults, shape: TableShape, places: Sequence[Mapping[str, Value]]
) -> Iterator[tuple[Quoted, dict[str, Value]]]:
    needed = (*shape.rows, *shape.columns)
    measures = {measure.column for measure in shape.measures}
    others = [*map(_alike, source.slots), *map(axes_of, source.rows)]
    others = [place for place in others if not _within(place, shape)]
    for quoted in quotations(source.item):
        given = quoted.place()
        if quoted.value.measure.column not in measures or not _within(given, shape):
            continue
        agreeing = [place for place in places if _agrees(place, given)]
        if not agreeing:
            solverless = {name: value for name, value in given.items() if name != "solver"}
            agreeing = [{**p, **given} for p in places if _agrees(p, solverless)]
            if not agreeing and any(_agrees(place, solverless) for place in others):
                continue  # it belongs to another table
        candidates = {tuple(place.get(name, "") for name in needed) for place in agreeing}
        if not candidates:
            candidates = {tuple(_only(places, name, given) for name in needed)}
        if len(candidates) == 1:
            yield quoted, dict(zip(needed, candidates.pop(), strict=True))


def _agrees(place: Mapping[str, Value], given: Mapping[str, Value]) -> bool:
    return all(name not in place or place[name] == value for name, value in given.items())


def _only(places: Sequence[Mapping[str, Value]], name: str, given: Mapping[str, Value]) -> Value:
    """The value on an axis: given, or the only one there is; otherwise blank."""
    if name in given:
        return given[name]
    values = {place[name] for place in places if name in place}
    return values.pop() if len(values) == 1 else ""


def _orders(places: Sequence[Mapping[str, Value]], axes: Iterable[str]) -> dict[str, list[Value]]:
    """The values of each axis in order: that of the configuration; numbers by size."""
    orders: dict[str, list[Value]] = {}
    for name in axes:
        values = list(dict.fromkeys(place[name] for place in places if name in place))
        if name in _DESCENDING:
            numbers = [value for value in values if not isinstance(value, str)]
            texts = [value for value in values if isinstance(value, str)]
            values = [*sorted(numbers, reverse=_DESCENDING[name]), *texts]
        orders[name] = values
    return orders


def _keys(
    places: Iterable[Mapping[str, Value]], axes: Sequence[str], orders: dict[str, list[Value]]
) -> list[Key]:
    keys = {tuple(place[name] for name in axes) for place in places}
    return sorted(
        keys, key=lambda key: [orders[n].index(v) for n, v in zip(axes, key, strict=True)]
    )


def axis_text(name: str, value: Value) -> str:
    """A value as a row's or a column's name."""
    if isinstance(value, str):
        return value or "–"
    if name == "m":
        return f"{value:,.0f}"
    return short(value, 4, plain_from=0.1 if name == "lambda" else 1e-3)


def axis_name(name: str) -> str:
    """An axis as a column's heading."""
    return {"lambda": "λ", "dataset": "data set"}.get(name, name)
