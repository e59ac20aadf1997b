"""The table of an epoch's seconds and memory as rows grow."""

from __future__ import annotations

from typing import Any

from svmbench.bench.found import Found, memory_share, steps
from svmbench.bench.tables.columns import Column, Grid, Part, digits, samples_text
from svmbench.records.groups import short
from svmbench.records.statistics import median
from svmbench.report.table import Table

_GROWTH: Grid[dict[str, Any]] = Grid(
    "growth",
    "Growth with m and d",
    (
        Column("rows", "", lambda point: point["label"]),
        Column("", "m x d", lambda point: f"{point['m']:,} x {point['d']:,}"),
        Column("m", "", lambda point: point["m"]),
        Column("d", "", lambda point: point["d"]),
        Column("nnz", "", lambda point: point["nnz"]),
        Column("array_bytes", "MiB", lambda point: point["array_bytes"],
               lambda size: f"{size / 2**20:.0f}"),
        Column("", "seconds per epoch", lambda point: point["seconds_per_epoch"], samples_text),
        Column("seconds_per_epoch", "", lambda point: median(point["seconds_per_epoch"])),
        Column("ns_per_nonzero", "ns per nonzero",
               lambda point: median(point["seconds_per_epoch"]) / point["nnz"] * 1e9, digits(3)),
        Column("peak_over_arrays", "peak memory / arrays", memory_share, digits(3)),
    ),
    notes=(
        "Generated rows: normal values, columns drawn evenly. Sizes are multiples of "
        "the last cache. Peak memory: of rows and solver together, beyond what the process held "
        "before.",
    ),
)  # fmt: skip


def growth_table(found: Found) -> Table:
    """Seconds of an epoch, and memory, at each size of rows."""
    return _GROWTH.table(
        Part(name, "; ".join(filter(None, [points[0]["storage"], _steps(points)])), points)
        for name, points in found.growth.items()
    )


def _steps(points: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{short(step.grown, 3)} times the entries along {step.axis}: "
        f"{step.slowed:.3g} times the seconds"
        for step in steps(points)
    )
