"""The tables of a benchmark, one module per subject."""

from __future__ import annotations

from collections.abc import Sequence

from svmbench.bench.bounds import JudgedBounds
from svmbench.bench.found import Found
from svmbench.bench.tables.bounds import bounds_table
from svmbench.bench.tables.epochs import epochs_table, physics_table
from svmbench.bench.tables.growth import growth_table
from svmbench.bench.tables.ratios import ablation_table, ahead_table, ratios_table
from svmbench.bench.tables.reading import reading_table, text_table
from svmbench.bench.tables.speed import seconds_table, self_stopped_table, virtual_best_table
from svmbench.report.overall import Share
from svmbench.report.table import Table

#: The programs of the table of ratios: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")


def build_tables(found: Found, judged: JudgedBounds, shares: Sequence[Share]) -> list[Table]:
    """Every table that has something to show."""
    tables = [
        ahead_table(found, judged.threshold),
        bounds_table(judged.results),
        ratios_table(found, LIBLINEAR, judged.threshold),
        seconds_table(found),
        self_stopped_table(found),
        ablation_table(found),
        epochs_table(found),
        text_table(found),
        reading_table(found),
        growth_table(found),
        physics_table(found),
        virtual_best_table(shares),
    ]
    return [table for table in tables if table.sections]
