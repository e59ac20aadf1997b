"""The tables of reading texts, and of the time from a text to weights of an accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from svmbench.bench.found import Found, grouped, mb_per_second, total_seconds
from svmbench.bench.tables.columns import TableColumn, TablePart, TableSpec, digits, samples_text
from svmbench.records.groups import heading, short
from svmbench.records.statistics import median
from svmbench.report.table import Table

#: The repeats of one reader or program on one set.
_Repeats = Sequence[dict[str, Any]]


def _middle(key: str) -> Callable[[_Repeats], float]:
    """Median over the repeats that have a value; +inf if none has."""

    def value(repeats: _Repeats) -> float:
        known = [each[key] for each in repeats if each[key] is not None]
        return median(known) if known else math.inf

    return value


def _parts(
    found: Found, results: _Repeats, facts: Callable[[Found, str], str]
) -> Iterator[TablePart[_Repeats]]:
    for label, of_set in grouped(results, lambda result: str(result["set"])).items():
        rows = list(grouped(of_set, lambda result: str(result["label"])).values())
        yield TablePart(heading(label, of_set[0]["stand_in"]), facts(found, label), rows)


_READING: TableSpec[_Repeats] = TableSpec(
    "reading",
    "Reading a text",
    (
        TableColumn("set", "", lambda one: one[0]["set"]),
        TableColumn("reader", "reader", lambda one: one[0]["label"]),
        TableColumn("", "MB/s", lambda one: list(map(mb_per_second, one)), samples_text),
        TableColumn("mb_per_second", "", lambda one: median(list(map(mb_per_second, one)))),
        TableColumn("repeats", "", len),
        TableColumn("text_mb", "", lambda one: one[0]["text_bytes"] / 1e6),
        TableColumn("arrays_mb", "arrays, MB", lambda one: one[0]["array_bytes"] / 1e6, digits(3)),
        TableColumn(
            "peak_over_arrays",
            "peak memory / arrays",
            lambda one: median([each["peak_bytes"] / each["array_bytes"] for each in one]),
            digits(3),
        ),
    ),
    notes=(
        "A text in the system's file cache, read by a separate process into rows that can be "
        "trained on. svmbench: including hash, compact storage and checks. liblinear: the reader "
        "of its Python package, which is in Python; the one in C is not part of it. Peak memory: "
        "beyond what the process held before.",
    ),
)


def reading_table(found: Found) -> Table:
    """MB/s and memory of each reader on each text."""
    return _READING.table(_parts(found, found.readings, _text_facts))


def _text_facts(found: Found, label: str) -> str:
    """Size of a set's text, and how long its cached rows take to open."""
    size = next(each["text_bytes"] for each in found.readings if each["set"] == label)
    said = [f"{size / 1e6:.3g} MB of text"]
    for opened in (each for each in found.openings if each["set"] == label):
        said.append(f"opened from the cache in {1e3 * median(opened['seconds']):.2g} ms")
    return "; ".join(said)


_TEXT: tuple[TableColumn[_Repeats], ...] = (
    TableColumn("set", "", lambda one: one[0]["set"]),
    TableColumn("program", "program", lambda one: one[0]["label"]),
    TableColumn("", "seconds in all", lambda one: list(map(total_seconds, one)), samples_text),
    TableColumn("total_seconds", "", lambda one: median(list(map(total_seconds, one)))),
    TableColumn("repeats", "", len),
    TableColumn("read_seconds", "reading", _middle("read_seconds"), digits(3)),
    TableColumn("convert_seconds", "converting", _middle("convert_seconds"), digits(2)),
    TableColumn("train_seconds", "training", _middle("train_seconds"), digits(3)),
)


def text_table(found: Found) -> Table:
    """Seconds from each text to the accuracy, by program."""
    part = found.plan.profile.text
    facts = f"λ = {short(part.lambda_)}, ε = {short(part.accuracy)}" if part else ""
    grid = TableSpec(
        "text",
        f"From a text to the accuracy ({facts})",
        _TEXT,
        notes=(
            "Reading, conversion of the rows and training in one process. Oracle stop: the first "
            "checkpoint with the accuracy; for programs from outside, the loosest of the "
            "ladder's tolerances that has it, and only that run counts.",
        ),
    )
    return grid.table(_parts(found, found.texts, lambda found, label: ""))
