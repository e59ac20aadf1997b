"""``svmbench publish``: a folder of results for a static host or a pull request."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options


@click.command("publish", epilog=options.examples("svmbench publish results/demo -o demo-laptop"))
@click.argument("folder", metavar="RESULTS", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write.  [default: RESULTS-published]",
)
@click.option("--weights", is_flag=True, help="Also copy the weights that runs have kept.")
def command(folder: Path, out: Path | None, weights: bool) -> None:
    """Copy what others need of RESULTS, with a hash of each file.

    The copy has the page (also as index.html), tables, plots, environment, configuration and the
    trace of every run. Any static host can serve it. Results that contradict
    themselves are refused, as by `svmbench verify`.
    """
    from svmbench.durable import resolved
    from svmbench.report.publish import publish

    place = resolved(folder)
    # Nothing can be put beside . and .. under these names.
    beside = place if folder.name in ("", "..") else folder
    target = out or beside.with_name(f"{place.name}-published")
    click.echo(publish(folder, target, weights))
