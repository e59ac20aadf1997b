"""``svmbench compare``: whether one set of results is slower than another."""

from __future__ import annotations

import math
from pathlib import Path

import click

from svmbench.cli import options
from svmbench.cli.columns import align, printable
from svmbench.records.measures import TO_ACCURACY

REGRESSION = 4


@click.command(
    "compare",
    epilog=options.examples(
        "svmbench compare results/demo --labels sgd-s dcd",
        "svmbench compare results/old results/new --threshold 1.1",
    ),
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option(
    "--labels",
    nargs=2,
    metavar="X Y",
    help="Compare label Y with label X, both of the folder A; with two folders, Y of B with X "
    "of A.",
)
@click.option(
    "--metric",
    type=click.Choice(TO_ACCURACY),
    default="seconds",
    show_default=True,
    help="Cost of reaching each accuracy.",
)
@click.option(
    "--threshold",
    "margin",
    type=options.Number(min=1.0, max=math.inf, max_open=True),
    default=1.05,
    show_default=True,
    help="Largest factor that counts as no difference.",
)
@options.as_json
def command(
    first: str,
    second: str | None,
    labels: tuple[str, str] | None,
    metric: str,
    margin: float,
    as_json: bool,
) -> int:
    """Compare two results folders, or two labels of one.

    B is compared with A. Two folders contain one configuration that was run twice: by two versions,
    builds or machines. A case is a data set, a lambda, an accuracy and a label. Repeats of the same
    number are paired. Folders from different times share the seeds but not the state of the
    machine, so their intervals are wider. One folder alone needs --labels: two solvers of one
    sweep, whose runs were interleaved, are compared.

    Processor seconds scatter less than seconds on a machine that also does other work.

    Exits with code 4 if B is slower than A in some case by more than the margin, or reaches the
    accuracy less often. All cases are judged together.
    """
    # Deferred: pandas takes longer to load than most commands to run.
    from svmbench.records.read import read_results
    from svmbench.report.comparison import HEADER, compare, rows, summary, title, to_json
    from svmbench.report.comparison.cases import Side

    if second is None and labels is None:
        raise click.UsageError("one folder and no labels; name a second folder or give --labels")
    a = read_results(Path(first))
    b = a if second is None else read_results(Path(second))
    left, right = labels or (None, None)
    found = compare(Side(a, left), Side(b, right), metric, margin)
    lines = [to_json(found)]
    if not as_json:
        warnings = [printable(f"warning: {warning}") for warning in found.warnings]
        lines = [printable(title(found)), "", *warnings, *[""] * bool(warnings)]
        lines += [align(HEADER, rows(found)), "", summary(found), "", *map(printable, found.notes)]
    click.echo("\n".join(lines))
    return REGRESSION if found.regressions else 0
