"""``svmbench report``: tables and plots of a results folder."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options


@click.command("report", epilog=options.examples("svmbench report results/demo"))
@click.argument("folder", metavar="RESULTS", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Rewrite the tables, plots and page of RESULTS.

    RESULTS is a folder that svmbench run has written. The command reads config.yaml, runs.csv,
    traces.csv and environment.json there, and runs nothing. It writes tables/ as Markdown, CSV and
    LaTeX, plots/ as PNG, and report.html; if nothing has changed, it leaves them as they are.
    """
    from svmbench.report.made import MARK, written_before

    written = written_before(folder / MARK, [folder])
    if not written:
        # Deferred: pandas and matplotlib take longer to load than most commands to run.
        from svmbench.report.write import write_report

        written = write_report(folder)
    for path in written:
        click.echo(path)
