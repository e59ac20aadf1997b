"""``svmbench table``: one small table of results for a paper or a terminal."""

from __future__ import annotations

from pathlib import Path

import click

from svmbench.cli import options
from svmbench.cli.plot import names_in


@click.command(
    "table",
    epilog=options.examples(
        "svmbench table results/demo",
        "svmbench table results/adult --accuracy 1e-3 --solvers dcd,auto --width 3.3in -o t.tex",
    ),
)
@click.argument("folder", metavar="RESULTS", type=click.Path(file_okay=False, path_type=Path))
@click.option("--accuracy", type=options.Number(), help="The accuracy ε.  [default: the tightest]")
@click.option("--solvers", metavar="A,B", help="Solvers by label, in this order.  [default: all]")
@click.option("--datasets", metavar="X,Y", help="Data sets, in this order.  [default: all]")
@click.option("--width", help="Most width in LaTeX, such as 84mm.  [default: a column]")
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write: .tex or .md.  [default: print Markdown]",
)
@options.as_json
def command(
    folder: Path,
    accuracy: float | None,
    solvers: str | None,
    datasets: str | None,
    width: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show the seconds of RESULTS to one accuracy, solvers by sets.

    RESULTS is a folder that svmbench run has written. A cell is a median. The LaTeX table fits the
    column of a paper.
    """
    from svmbench.durable import write_text
    from svmbench.errors import ConfigError
    from svmbench.records.read import read_results
    from svmbench.report import compact

    if out is not None and out.suffix not in (".tex", ".md"):
        raise ConfigError(f"{out}: ends in neither .tex nor .md; choose one of them")
    if width is not None and (out is None or out.suffix != ".tex"):
        raise ConfigError("--width is for LaTeX; add -o FILE.tex, or leave it out")
    if out is not None and as_json:
        raise ConfigError("--json prints, and -o writes a .tex or .md; leave one of them out")
    found = compact.compact_table(
        read_results(folder), accuracy, names_in(solvers), names_in(datasets)
    )
    if as_json:
        click.echo(compact.as_json(found))
    elif out is None:
        click.echo(compact.as_markdown(found), nl=False)
    else:
        latex = out.suffix == ".tex"
        write_text(
            options.target(out),
            compact.as_latex(found, width) if latex else compact.as_markdown(found),
        )
        click.echo(out)
