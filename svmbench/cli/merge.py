"""``svmbench merge``: published folders of several machines in one table."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options


@click.command("merge", epilog=options.examples("svmbench merge demo-laptop demo-server -o merged"))
@click.argument(
    "folders",
    metavar="FOLDER...",
    nargs=-1,
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("merged"),
    show_default=True,
    help="Folder to write.",
)
def command(folders: tuple[Path, ...], out: Path) -> None:
    """Compare published folders, each in a column of its own.

    FOLDER is one that `svmbench publish` has written. Nothing is pooled. A damaged or edited folder
    is refused. The command writes a page, and tables of the seconds and of the streaming
    passes.
    """
    from svmbench.report.sharing.merge import merge

    for path in merge(folders, out):
        click.echo(path)
