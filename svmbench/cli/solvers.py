"""``svmbench solvers``: list the solvers, or describe one in full."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli import completion, options
from svmbench.cli.columns import WIDTH
from svmbench.cli.solver_text import (
    FAMILIES,
    PLUG_IN,
    describe,
    group_of,
    listing,
    page,
    wrapped,
)
from svmbench.names import BIASES, CONSTRAINTS, LOSSES
from svmbench.records.spelling import counted

if TYPE_CHECKING:
    from svmbench.solvers.base import Solver
    from svmbench.verify.checked import Checked


@click.command(
    name="solvers",
    epilog=options.examples(
        "svmbench solvers --loss squared-hinge",
        "svmbench solvers sgd-m",
        "svmbench solvers mine --check --plugin my_solver.py",
    ),
)
@click.argument("name", required=False, shell_complete=completion.solver_names)
@click.option("--loss", type=click.Choice(LOSSES), help="Only solvers for this loss.")
@click.option("--bias", type=click.Choice(BIASES), help="Only solvers for this bias.")
@click.option(
    "--constraint", type=click.Choice(CONSTRAINTS), help="Only solvers for this constraint."
)
@click.option(
    "--family", type=click.Choice([*FAMILIES, PLUG_IN]), help="Only solvers of this family."
)
@click.option(
    "--check",
    is_flag=True,
    help="Train NAME on small problems, and check that it keeps the contract of solvers.",
)
@options.plugins
@options.as_json
def command(
    name: str | None,
    loss: str | None,
    bias: str | None,
    constraint: str | None,
    family: str | None,
    check: bool,
    plugins: tuple[Path, ...],
    as_json: bool,
) -> int:
    """List the solvers, or describe the solver NAME in full.

    The description has the solver's mathematics, every parameter with default and source, and the
    details that are reconstructed or that the sources leave open. Solvers of a file given by
    --plugin are listed too.

    With --check, NAME is trained on small problems instead, and every line says what holds or what
    is wrong. Exits with code 1 if something is wrong, 2 if there is no such solver, and 3 if
    it is not installed.
    """
    from svmbench.solvers.registry import find_solver, solvers

    asked = {"losses": loss, "biases": bias, "constraints": constraint}
    if name is not None:
        if family or any(asked.values()):
            raise click.UsageError("NAME and a filter exclude each other; leave one of them out")
        if check:
            return _check(find_solver(name), as_json)
        facts = describe(find_solver(name))
        click.echo(_json(facts) if as_json else page(facts))
        return 0
    if check:
        raise click.UsageError("--check needs the NAME of a solver")
    found = [
        facts
        for facts in map(describe, solvers().values())
        if all(choice is None or choice in facts[what] for what, choice in asked.items())
        and family in (None, group_of(facts))
    ]
    if as_json:
        click.echo(_json(found))
    elif found:
        click.echo(listing(found))
    else:
        click.echo("no solver matches; drop a filter")
    return 0


def _check(solver: type[Solver], as_json: bool) -> int:
    """Print a line per check of the contract and a verdict; return the exit code."""
    from svmbench.errors import ConfigError, DataError
    from svmbench.solvers.program import ForeignProgram
    from svmbench.verify.checked import run_checks
    from svmbench.verify.contract import expected_checks, left_out

    if solver is ForeignProgram:
        raise ConfigError("a program is checked by its runs; name a solver of a file or package")
    if missing := solver.missing():
        raise DataError(f"{solver.name}: {missing}")
    results = []
    for result in run_checks(solver, slow=_say_slow):
        results.append(result)
        if not as_json:
            click.echo(_check_line(result))
    wrong = sum(bool(result.wrong) for result in results)
    unasked = left_out(solver)
    if unasked and not as_json:
        text = f"left out, as it is declared foreign: {'; '.join(unasked)}"
        click.echo(textwrap.fill(text, WIDTH, subsequent_indent=" " * 7))
    if as_json:
        click.echo(_json([vars(result) for result in results]))
    elif wrong:
        skipped = expected_checks(solver) - len(results)
        rest = f"; {counted(skipped, 'more check')} when that is mended" if skipped else ""
        click.echo(f"{solver.name}: {wrong} of {counted(len(results), 'check')} failed{rest}")
    else:
        part = "checked part of the " if unasked else ""
        click.echo(f"{solver.name}: keeps the {part}contract of solvers")
    return 1 if wrong else 0


def _say_slow(what: str) -> None:
    click.echo(f"checking for some seconds: {what}", err=True)


def _check_line(result: Checked) -> str:
    if result.wrong:
        return f"FAILS  {result.what}\n" + "\n".join(wrapped(result.wrong, " " * 7, 7))
    kinds = f" ({counted(result.kinds, 'kind')} of problem)" if result.kinds else ""
    return f"holds  {result.what}{kinds}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
