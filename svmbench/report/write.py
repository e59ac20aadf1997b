"""Writes a report: the tables and plots of a results folder, and the page that shows them."""

from __future__ import annotations

from pathlib import Path

from svmbench.durable import require_own, write_text
from svmbench.records.read import read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.interactive import page_curves
from svmbench.report.made import remember
from svmbench.report.markup import write_tables
from svmbench.report.plots import write_plots
from svmbench.report.profiles import write_profiles
from svmbench.report.tables import build_tables


def write_report(folder: Path) -> list[Path]:
    """Rewrite tables/, plots/ and report.html from the files of a results folder.

    Raises DataError if a file is missing or cannot be read, or has another schema version.
    """
    results = read_results(folder)
    for own in ("tables", "plots"):
        require_own(folder / own)
    curves, tables = CurveTable(results), build_tables(results)
    written = [
        *write_tables(tables, folder / "tables"),
        *write_plots(results, curves),
        *write_profiles(results),
    ]
    page = folder / "report.html"
    write_text(page, to_html(results, tables, page_curves(results, curves), written))
    written.append(page)
    remember(folder, written)
    return written
