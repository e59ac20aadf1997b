"""The tables of epochs, and of the machine's limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, MachineBound, machine_bound, nanoseconds
from svmbench.bench.tables.columns import (
    KeyedColumns,
    TableColumn,
    TablePart,
    TableSpec,
    digits,
    samples_text,
)
from svmbench.records.groups import heading
from svmbench.records.statistics import median, median_interval
from svmbench.report.table import Table


@dataclass(frozen=True)
class _Epoch:
    """An epoch of one solver on one set."""

    epochs: dict[str, Any]
    label: str
    how: str
    samples: list[float]
    bound: MachineBound | None

    @property
    def interval(self) -> tuple[float, float, float]:
        """Interval of the median, and its coverage."""
        return median_interval(self.samples) if self.samples else (math.nan,) * 3

    @property
    def over_bound(self) -> float:
        """The champion's epoch over its bound; nan if one is unknown."""
        ours = list(nanoseconds(self.epochs, champion()).values())
        return median(ours) / self.bound.least if ours and self.bound else math.nan


def _core(bound: MachineBound | None) -> str:
    return f"{bound.core:.2g} ({bound.level})" if bound and bound.core else "–"


_EPOCHS: TableSpec[_Epoch] = TableSpec(
    "epochs",
    "Nanoseconds per stored nonzero of one epoch",
    (
        TableColumn("set", "", lambda one: one.epochs["set"]),
        TableColumn("stand_in", "", lambda one: one.epochs["stand_in"]),
        TableColumn("", "set", lambda one: heading(one.epochs["set"], one.epochs["stand_in"])),
        TableColumn("storage", "storage", lambda one: one.epochs["storage"]),
        TableColumn("label", "", lambda one: one.label),
        TableColumn("ns_per_nonzero", "", lambda one: median(one.samples)),
        TableColumn("ns_low", "", lambda one: one.interval[0]),
        TableColumn("ns_high", "", lambda one: one.interval[1]),
        TableColumn("coverage", "", lambda one: one.interval[2]),
        TableColumn("how", "", lambda one: one.how),
    ),
    KeyedColumns(
        lambda one: one.label,
        str,
        lambda one: samples_text(one.samples),
        lambda one: one.epochs["set"],
        descending=False,
    ),
    (
        TableColumn(
            "stream_bound_ns",
            "stream bound",
            lambda one: one.bound.stream if one.bound else math.nan,
            digits(2),
        ),
        TableColumn("core_bound_ns", "", lambda one: one.bound.core if one.bound else math.nan),
        TableColumn("", "core bound", lambda one: one.bound, _core),
        TableColumn(
            "",
            "champion / bound",
            lambda one: one.over_bound,
            lambda value: "–" if math.isnan(value) else f"{value:.3g}×",
        ),
    ),
    texts=2,
    notes=(
        "An epoch that leaves no row out, over the stored nonzeros; median with the interval of "
        "the repeats. For our solvers, the epochs after the first; for programs from outside, a "
        "run of some passes minus a shorter one, in which they may leave rows out from the second "
        "pass on.",
        "Stream bound: bytes of a stored entry over the streaming speed of one core, measured once "
        "on this machine. Core bound: a gather and a gathered addition at the level of the memory "
        "that w would fit in if its columns were drawn evenly; uneven columns, and rows that need "
        "no addition, can go below it.",
    ),
    recorded=lambda one: bool(one.samples),
)


def epochs_table(found: Found) -> Table:
    """Nanoseconds per nonzero of each solver on each set, next to the bounds of the machine."""
    return _EPOCHS.table([TablePart("Epochs", "", list(_epochs(found)))])


def _epochs(found: Found) -> Iterator[_Epoch]:
    for epochs in found.epochs.values():
        bound = machine_bound(found.physics, epochs)
        for entry in epochs["epochs"]:
            samples = list(nanoseconds(epochs, entry["label"]).values())
            yield _Epoch(epochs, entry["label"], entry["how"], samples, bound)


def physics_table(found: Found) -> Table:
    """Gathers from each level of memory, and the speed of sequential reading."""
    physics = found.physics
    stream = physics.get("stream_gb_per_second", [])
    grid: TableSpec[dict[str, Any]] = TableSpec(
        "physics",
        "The limits of this machine",
        (
            TableColumn("level", "table in", lambda gather: gather["level"]),
            TableColumn(
                "table_bytes",
                "KiB",
                lambda gather: gather["bytes"],
                lambda size: f"{size / 1024:,.0f}",
            ),
            TableColumn("", "gather, ns", lambda gather: gather["sum_ns"], samples_text),
            TableColumn("", "gathered addition, ns", lambda gather: gather["add_ns"], samples_text),
            TableColumn("gather_ns", "", lambda gather: median(gather["sum_ns"])),
            TableColumn("gather_add_ns", "", lambda gather: median(gather["add_ns"])),
            TableColumn("stream_gb_per_second", "", lambda gather: median(stream)),
        ),
    )
    facts = f"one core reads {samples_text(stream)} GB/s sequentially"
    return grid.table([TablePart("Gathers of a double", facts, physics.get("gathers", []))])
