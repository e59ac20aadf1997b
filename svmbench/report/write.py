"""Writes a report: every table and plot of a results folder."""

from __future__ import annotations

from pathlib import Path

from svmbench.durable import write_text
from svmbench.report.markup import to_csv, to_latex, to_markdown
from svmbench.report.plots import write_plots
from svmbench.report.read import read_results
from svmbench.report.tables import build_tables


def write_report(folder: Path) -> list[Path]:
    """Write tables/ and plots/ of a results folder anew, from the files that lie there.

    Parameters
    ----------
    folder : Path
        ``results/NAME``, with config.yaml, runs.csv and traces.csv.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    DataError
        When a file is missing or cannot be read, or has another schema version.
    """
    results = read_results(folder)
    written = []
    for table in build_tables(results):
        for suffix, render in (("md", to_markdown), ("csv", to_csv), ("tex", to_latex)):
            path = folder / "tables" / f"{table.kind}.{suffix}"
            write_text(path, render(table))
            written.append(path)
    return written + write_plots(results)
