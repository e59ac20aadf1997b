"""``svmbench compare``: whether one set of results is slower than another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from svmbench.cli import options
from svmbench.cli.columns import align, printable
from svmbench.records.measures import TO_ACCURACY

if TYPE_CHECKING:
    from svmbench.report.comparison import Comparison

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

    Processor seconds scatter less than seconds on a machine that also does other work. Passes are
    seconds in units of one streaming read of the data on the same machine: compare these if
    the folders come from two machines.

    Exits with code 4 if B is slower than A in some case by more than the margin, or reaches the
    accuracy less often. All cases are judged together.
    """
    from svmbench.report.comparison import to_json

    if second is None and labels is None:
        raise click.UsageError("one folder and no labels; name a second folder or give --labels")
    comparison = _of_folders(Path(first), second, _Wanted(labels, metric, margin))
    click.echo(to_json(comparison) if as_json else text(comparison))
    return REGRESSION if comparison.regressions else 0


class _Wanted(NamedTuple):
    """What is to be compared, and the largest factor that counts as no difference."""

    labels: tuple[str, str] | None
    metric: str
    margin: float


def _of_folders(first: Path, second: str | None, wanted: _Wanted) -> Comparison:
    # Deferred: pandas takes longer to load than most commands to run.
    from svmbench.records.read import read_results
    from svmbench.report.comparison import Side, compare

    a = read_results(first)
    b = a if second is None else read_results(Path(second))
    left, right = wanted.labels or (None, None)
    return compare(Side(a, left), Side(b, right), wanted.metric, wanted.margin)


def text(comparison: Comparison) -> str:
    from svmbench.report.comparison import HEADER, rows, summary, title

    lines = [printable(title(comparison)), ""]
    lines += [printable(f"warning: {warning}") for warning in comparison.warnings]
    lines += [""] * bool(comparison.warnings)
    lines += [align(HEADER, rows(comparison)), "", summary(comparison), ""]
    return "\n".join([*lines, *map(printable, comparison.notes)])
