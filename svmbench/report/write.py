"""Writes a report: the tables and plots of a results folder, and the page that shows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from svmbench.durable import require_own, write_text
from svmbench.records.read import Results, read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.interactive import page_curves
from svmbench.report.made import remember
from svmbench.report.markup import write_tables
from svmbench.report.parallel import at_once
from svmbench.report.plots import plots
from svmbench.report.profiles import write_profiles
from svmbench.report.tables import build_tables


def write_report(folder: Path, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Rewrite tables/, plots/ and report.html from the files of a results folder.

    Raises DataError if a file is missing or cannot be read, or has another schema version.
    """
    results = read_results(folder)
    for own in ("tables", "plots"):
        require_own(folder / own)
    written = write_results(results, formats)
    remember(folder, formats, written)
    return written


def write_results(results: Results, formats: tuple[str, ...]) -> list[Path]:
    """Write tables, plots and page of results into their folder."""
    import matplotlib.backends.backend_agg  # noqa: F401 - once, before processes are copied

    folder, curves = results.folder, CurveTable(results)
    drawing: list[Callable[[], list[Path]]]
    drawing = [*plots(results, curves, formats), partial(write_profiles, results, formats)]
    with at_once(drawing) as drawn:
        tables = build_tables(results)
        written = write_tables(tables, folder / "tables")
        interactive = page_curves(results, curves)
        written += drawn()
    page = folder / "report.html"
    write_text(page, to_html(results, tables, interactive, written))
    return [*written, page]
