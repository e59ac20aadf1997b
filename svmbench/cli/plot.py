"""``svmbench plot``: a figure of results in the size and format that a paper or a talk needs."""

from __future__ import annotations

import re
from pathlib import Path

import click

from svmbench.cli import options

#: Names between commas; a label may have commas within brackets of either kind.
_NAMES = re.compile(r"(?:[^,()\[\]]|\([^)]*\)|\[[^\]]*\])+")


def names_in(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in _NAMES.findall(text or ""))


@click.command(
    "plot",
    epilog=options.examples(
        "svmbench plot results/demo -o fig.pdf",
        "svmbench plot results/smoke --datasets tiny-dense,tiny-sparse --width 6.9in -o fig.pdf",
        "svmbench plot results/adult --lambda 1e-4 --solvers dcd,auto --style slides -o fig.png",
    ),
)
@click.argument("folder", metavar="RESULTS", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--x",
    default="seconds",
    show_default=True,
    help="Horizontal axis: seconds, seconds_after_setup, epochs, steps, presentations or percent.",
)
@click.option(
    "--y",
    default="suboptimality",
    show_default=True,
    help="Vertical axis (suboptimality is the accuracy ε): suboptimality, primal, J, "
    "sum-objective, gap, train-error, test-error or test-accuracy.",
)
@click.option("--solvers", metavar="A,B", help="Solvers or labels to draw.  [default: all]")
@click.option(
    "--datasets", "--dataset", metavar="A,B", help="Data sets, a panel each.  [default: all]"
)
@click.option("--lambda", "lam", type=options.Number(), help="The only λ to draw.  [default: all]")
@click.option(
    "--style",
    default="paper",
    show_default=True,
    help="Sizes of text and lines: paper, slides or page.",
)
@click.option(
    "--width",
    metavar="WIDTH",
    help="Such as 5in or 84mm.  [default: 3.3in, slides 9in; with several panels 7in, slides 13in]",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("figure.pdf"),
    show_default=True,
    help="File to write: .pdf, .png or .svg.",
)
def command(
    folder: Path,
    x: str,
    y: str,
    solvers: str | None,
    datasets: str | None,
    lam: float | None,
    style: str,
    width: str | None,
    out: Path,
) -> None:
    """Draw the curves of RESULTS, with a panel for each data set and λ.

    RESULTS is a folder that svmbench run has written. The curves are medians of the repeats, with
    bands from the 10 to the 90 % quantile. A dot ends a curve that reached its accuracy, a ring one
    that a limit ended, a cross one that diverged. `svmbench.load_results(RESULTS).plot(...)` draws
    the same in Python.
    """
    # Deferred: pandas and matplotlib take longer to load than most commands to run.
    from svmbench.records.read import read_results
    from svmbench.report.single import FigureRequest, format_of, single_figure

    format_of(out)
    asked = FigureRequest(x, y, names_in(solvers), names_in(datasets), lam, style, width)
    click.echo(single_figure(read_results(folder), asked).save(out))
