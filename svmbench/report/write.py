"""Writes a report: the tables and plots of a results folder, and the page that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from svmbench.durable import require_own, write_text
from svmbench.records.read import Results, read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.made import MARK, remember
from svmbench.report.markup import write_tables
from svmbench.report.plots import write_plots
from svmbench.report.profiles import draw_profile, write_profile_table
from svmbench.report.tables import build_tables


def write_report(folder: Path) -> list[Path]:
    """Rewrite tables/, plots/ and report.html from the files of a results folder."""
    results = read_results(folder)
    for own in ("tables", "plots"):
        require_own(folder / own)
    curves = CurveTable(results)
    pictures = [*write_plots(results, curves), *draw_profile(results)]
    written = [*pictures, *write_numbers(results, curves, pictures)]
    remember(folder / MARK, [folder], written)
    return written


def write_numbers(results: Results, curves: CurveTable, pictures: Sequence[Path]) -> list[Path]:
    """Write the tables, and the page with these pictures."""
    tables, page = build_tables(results), results.folder / "report.html"
    written = write_tables(tables, results.folder / "tables") + write_profile_table(results)
    write_text(page, to_html(results, tables, curves, pictures))
    return [*written, page]
