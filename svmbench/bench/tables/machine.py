"""The tables of the measurements outside the sweeps: epochs, texts, growth and the machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from svmbench.bench.champion import champion
from svmbench.bench.floor import MachineFloor, machine_floor
from svmbench.bench.found import Found, Measured, middle
from svmbench.bench.growth import steps
from svmbench.bench.tables.columns import (
    REPEATS,
    KeyedColumns,
    TableColumn,
    TablePart,
    TableSpec,
    digits,
    fact,
    name_columns,
    number_columns,
    over_arrays,
    parts_of,
    samples_text,
)
from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.samples import samples
from svmbench.records.spelling import short
from svmbench.records.statistics import median, median_interval
from svmbench.report.table import Table


@dataclass(frozen=True)
class _Epoch:
    """An epoch of one solver on one set."""

    part: Measured
    group: Group
    floor: MachineFloor | None

    @property
    def samples(self) -> list[float]:
        return list(samples(self.group, self.part.asked()).values())

    @property
    def interval(self) -> tuple[float, float, float]:
        """Interval of the median, and its coverage."""
        return median_interval(self.samples) if self.samples else (math.nan,) * 3

    @property
    def over_floor(self) -> float:
        """The champion's epoch over its floor; nan if one is unknown."""
        ours = [group for group in self.part.groups if group.label == champion()]
        if not ours or self.floor is None:
            return math.nan
        return middle(ours[0], "ns_per_nonzero") / self.floor.least


def _core(floor: MachineFloor | None) -> str:
    return f"{floor.core:.2g} ({floor.level})" if floor and floor.core else "–"


_EPOCHS: TableSpec[_Epoch] = TableSpec(
    "epochs",
    "Nanoseconds per stored nonzero of one epoch",
    (
        TableColumn("set", "", lambda one: one.part.set),
        TableColumn("stand_in", "", lambda one: one.group.stand_in),
        TableColumn("", "set", lambda one: heading(one.part.set, one.group.stand_in)),
        TableColumn("storage", "storage", lambda one: one.group.runs["storage"].iloc[0]),
        TableColumn("label", "", lambda one: one.group.label),
        TableColumn("ns_per_nonzero", "", lambda one: middle(one.group, "ns_per_nonzero")),
        TableColumn("ns_low", "", lambda one: one.interval[0]),
        TableColumn("ns_high", "", lambda one: one.interval[1]),
        TableColumn("coverage", "", lambda one: one.interval[2]),
        TableColumn("how", "", lambda one: one.group.runs["how"].iloc[0]),
    ),
    KeyedColumns(
        lambda one: one.group.label,
        str,
        lambda one: samples_text(one.samples),
        lambda one: one.part.set,
        descending=False,
    ),
    (
        TableColumn(
            "stream_ns",
            "stream time",
            lambda one: one.floor.stream if one.floor else math.nan,
            digits(2),
        ),
        TableColumn("core_ns", "", lambda one: one.floor.core if one.floor else math.nan),
        TableColumn("", "core time", lambda one: one.floor, _core),
        TableColumn(
            "",
            "champion / floor",
            lambda one: one.over_floor,
            lambda value: "–" if math.isnan(value) else f"{value:.3g}×",
        ),
    ),
    texts=2,
    notes=(
        "An epoch that leaves no row out, over the stored nonzeros; median with the interval of "
        "the repeats. For our solvers, the epochs after the first; for programs from outside, a "
        "run of some passes minus a shorter one, in which they may leave rows out from the second "
        "pass on.",
        "Stream time: bytes of a stored entry over the streaming speed of one core, measured once "
        "on this machine. Core time: a gather and a gathered addition at the level of the memory "
        "that w would fit in if its columns were drawn evenly; uneven columns, and rows that need "
        "no addition, can go below it. Floor: the larger of the two.",
    ),
    recorded=lambda one: bool(one.samples),
)


def epochs_table(found: Found) -> Table:
    """Nanoseconds per nonzero of each solver on each set, next to the floor on this machine."""
    rows = [
        _Epoch(part, group, machine_floor(found.gathers, group))
        for part in found.of_kind("epochs")
        for group in part.groups
    ]
    return _EPOCHS.table([TablePart("Epochs", "", rows)])


_PHYSICS: TableSpec[Group] = TableSpec(
    "physics",
    "The limits of this machine",
    (
        TableColumn("level", "table in", lambda group: group.label),
        fact("table_bytes", "KiB", lambda size: f"{size / 1024:,.0f}"),
        *number_columns("gather_ns", "gather, ns"),
        *number_columns("gather_add_ns", "gathered addition, ns"),
        TableColumn("stream_gb_per_second", "", lambda g: middle(g, "stream_gb_per_second")),
    ),
)


def physics_table(found: Found) -> Table:
    """Gathers from each level of memory, and the speed of sequential reading."""
    gathers = found.gathers
    stream = samples_text(list(gathers[0].runs["stream_gb_per_second"])) if gathers else ""
    facts = f"one core reads {stream} GB/s sequentially"
    return _PHYSICS.table([TablePart("Gathers of a double", facts, gathers)])


_READING: TableSpec[Group] = TableSpec(
    "reading",
    "Reading a text",
    (
        *name_columns("reader"),
        *number_columns("mb_per_second", "MB/s"),
        REPEATS,
        TableColumn("text_mb", "", lambda group: middle(group, "text_bytes") / 1e6),
        TableColumn(
            "arrays_mb", "arrays, MB", lambda group: middle(group, "array_bytes") / 1e6, digits(3)
        ),
        TableColumn("peak_over_arrays", "peak memory / arrays", over_arrays, digits(3)),
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
    opened = {part.part: part.groups[0] for part in found.of_kind("opening")}

    def facts(part: Measured) -> str:
        said = [f"{middle(part.groups[0], 'text_bytes') / 1e6:.3g} MB of text"]
        if part.part in opened:
            seconds = middle(opened[part.part], "seconds")
            said.append(f"opened from the cache in {1e3 * seconds:.2g} ms")
        return "; ".join(said)

    return _READING.table(parts_of(found, "reading", lambda part: part.groups, facts))


def _known(name: str) -> Callable[[Group], float]:
    """Median over the repeats that have a value; +inf if none has."""

    def value(group: Group) -> float:
        found = middle(group, name)
        return math.inf if math.isnan(found) else found

    return value


def text_table(found: Found) -> Table:
    """Seconds from each text to the accuracy, by program."""
    part = found.plan.profile.text
    facts = f"λ = {short(part.lambda_)}, ε = {short(part.accuracy)}" if part else ""
    accuracy = part.accuracy if part else 0.0

    def seconds(group: Group) -> list[float]:
        return list(samples(group, Asked("seconds", accuracy)).values())

    grid: TableSpec[Group] = TableSpec(
        "text",
        f"From a text to the accuracy ({facts})",
        (
            *name_columns("program"),
            TableColumn("", "seconds in all", seconds, samples_text),
            TableColumn("total_seconds", "", lambda group: median(seconds(group))),
            REPEATS,
            *(
                TableColumn(f"{name}_seconds", words, _known(f"{column}_seconds"), digits(count))
                for name, column, words, count in (
                    ("read", "read", "reading", 3),
                    ("convert", "convert", "converting", 2),
                    ("train", "fit", "training", 3),
                )
            ),
        ),
        notes=(
            "Reading, conversion of the rows and training in one process. Oracle stop: the first "
            "checkpoint with the accuracy; for programs from outside, the loosest of the "
            "ladder's tolerances that has it, and only that run counts.",
        ),
    )
    return grid.table(parts_of(found, "text", lambda part: part.groups, lambda part: ""))


_GROWTH: TableSpec[Group] = TableSpec(
    "growth",
    "Growth with m and d",
    (
        TableColumn("rows", "", lambda group: group.dataset),
        TableColumn("", "m x d", lambda group: group.label),
        fact("m", ""),
        fact("d", ""),
        fact("nnz", ""),
        fact("array_bytes", "MiB", lambda size: f"{size / 2**20:.0f}"),
        *number_columns("seconds_per_epoch", "seconds per epoch"),
        TableColumn(
            "ns_per_nonzero", "ns per nonzero", lambda g: middle(g, "ns_per_nonzero"), digits(3)
        ),
        TableColumn("peak_over_arrays", "peak memory / arrays", over_arrays, digits(3)),
    ),
    notes=(
        "Generated rows: normal values, columns drawn evenly. Sizes are multiples of "
        "the last cache. Peak memory: of rows and solver together, beyond what the process held "
        "before.",
    ),
)


def growth_table(found: Found) -> Table:
    """Seconds of an epoch, and memory, at each size of rows."""
    return _GROWTH.table(parts_of(found, "growth", lambda part: part.groups, _growth_facts))


def _growth_facts(part: Measured) -> str:
    grown = (
        f"{short(step.grown, 3)} times the entries along {step.axis}: "
        f"{step.slowed:.3g} times the seconds"
        for step in steps(part.rows)
    )
    return "; ".join([part.groups[0].runs["storage"].iloc[0], *grown])
