"""The table of an epoch's seconds and memory as rows grow."""

from __future__ import annotations

from typing import Any

from svmbench.bench.found import Found, memory_share, steps
from svmbench.bench.tables.columns import TableColumn, TablePart, TableSpec, digits, samples_text
from svmbench.records.groups import short
from svmbench.records.statistics import median
from svmbench.report.table import Table

_GROWTH: TableSpec[dict[str, Any]] = TableSpec(
    "growth",
    "Growth with m and d",
    (
        TableColumn("rows", "", lambda point: point["label"]),
        TableColumn("", "m x d", lambda point: f"{point['m']:,} x {point['d']:,}"),
        TableColumn("m", "", lambda point: point["m"]),
        TableColumn("d", "", lambda point: point["d"]),
        TableColumn("nnz", "", lambda point: point["nnz"]),
        TableColumn(
            "array_bytes",
            "MiB",
            lambda point: point["array_bytes"],
            lambda size: f"{size / 2**20:.0f}",
        ),
        TableColumn(
            "", "seconds per epoch", lambda point: point["seconds_per_epoch"], samples_text
        ),
        TableColumn("seconds_per_epoch", "", lambda point: median(point["seconds_per_epoch"])),
        TableColumn(
            "ns_per_nonzero",
            "ns per nonzero",
            lambda point: median(point["seconds_per_epoch"]) / point["nnz"] * 1e9,
            digits(3),
        ),
        TableColumn("peak_over_arrays", "peak memory / arrays", memory_share, digits(3)),
    ),
    notes=(
        "Generated rows: normal values, columns drawn evenly. Sizes are multiples of "
        "the last cache. Peak memory: of rows and solver together, beyond what the process held "
        "before.",
    ),
)


def growth_table(found: Found) -> Table:
    """Seconds of an epoch, and memory, at each size of rows."""
    return _GROWTH.table(
        TablePart(name, "; ".join(filter(None, [points[0]["storage"], _steps(points)])), points)
        for name, points in found.growth.items()
    )


def _steps(points: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"{short(step.grown, 3)} times the entries along {step.axis}: "
        f"{step.slowed:.3g} times the seconds"
        for step in steps(points)
    )
