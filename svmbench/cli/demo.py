"""``svmbench demo``: a first sweep, in seconds and without a network."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options
from svmbench.cli.run import command as run


@click.command(name="demo")
@options.out_folder("results/demo")
@options.quiet
@click.pass_context
def command(ctx: click.Context, out: Path | None, quiet: bool) -> int:
    """Compare four solvers on a small data set, in seconds.

    The same as "svmbench run demo". It prints who is fastest and writes a page with tables and
    plots.
    """
    from svmbench.bundled import bundled

    # Not by its name: the present folder may have a file of that name.
    code: int = ctx.invoke(run, config=bundled("configs") / "demo.yaml", out=out, quiet=quiet)
    return code
