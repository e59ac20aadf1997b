"""``svmbench compare``: whether one set of results is slower than another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import options
from svmbench.cli.columns import align

if TYPE_CHECKING:
    from svmbench.report.comparison import Comparison

REGRESSION = 4


@click.command("compare")
@click.argument("first", type=click.Path(file_okay=False, path_type=Path))
@click.argument("second", type=click.Path(file_okay=False, path_type=Path), required=False)
@click.option(
    "--labels",
    nargs=2,
    metavar="A B",
    help="Compare label B with label A: within FIRST, or of SECOND with FIRST.",
)
@click.option(
    "--metric",
    type=click.Choice(["seconds", "cpu_seconds", "passes", "epochs"]),
    default="seconds",
    show_default=True,
    help="What it took to reach each accuracy.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(min=1.0),
    default=1.05,
    show_default=True,
    help="Factor up to which a difference does not count.",
)
@options.as_json
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the comparison to this Markdown file as well.",
)
def compare_command(
    first: Path,
    second: Path | None,
    labels: tuple[str, str] | None,
    metric: Any,
    threshold: float,
    as_json: bool,
    out: Path | None,
) -> int:
    """Compare the results folder [SECOND] with FIRST, or two labels within FIRST.

    Two folders hold one configuration run twice: by two versions, builds or machines. Cells
    match by data set, label, lambda and accuracy, and their repeats are paired by number.
    With --labels and FIRST alone, two solvers of one sweep are compared, which were measured
    interleaved; only that keeps a drifting machine out of the comparison.

    Processor seconds scatter less than seconds on a machine that does other work too. Passes are
    seconds in units of one streaming read of the data on the same machine: compare these where
    the folders come from two machines.

    Leaves with code 4 if B is significantly slower than A in some cell, by more than the
    threshold, or arrives less often; "significantly" is over all cells together.
    """
    if second is None and labels is None:
        raise click.UsageError("one folder and no labels; name a second folder or give --labels")
    # Deferred: pandas takes longer to load than most commands to run.
    from svmbench.durable import write_text
    from svmbench.records.read import read_results
    from svmbench.report.comparison import Side, compare, to_json, to_markdown

    a = read_results(first)
    b = a if second is None else read_results(second)
    left, right = labels or (None, None)
    comparison = compare(Side(a, left), Side(b, right), metric, threshold)
    click.echo(to_json(comparison) if as_json else text(comparison))
    if out is not None:
        write_text(out, to_markdown(comparison))
    return REGRESSION if comparison.regressions else 0


def text(comparison: Comparison) -> str:
    """The comparison for a terminal."""
    from svmbench.report.comparison import HEADER, rows, summary, title

    lines = [title(comparison), ""]
    lines += [f"warning: {warning}" for warning in comparison.warnings]
    lines += [""] * bool(comparison.warnings)
    lines += [align(HEADER, rows(comparison)), "", summary(comparison), ""]
    return "\n".join([*lines, *comparison.notes])


command = compare_command
