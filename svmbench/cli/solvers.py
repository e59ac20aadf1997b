"""``svmbench solvers``: list the solvers, or describe one in full."""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import svmbench.solvers
from svmbench.cli import options
from svmbench.cli.columns import WIDTH, align
from svmbench.names import BIASES, CONSTRAINTS, HINGES, LOSSES
from svmbench.records.spelling import as_written, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svmbench.solvers.base import Solver
    from svmbench.verify.checked import Checked


LIMITS = {
    "exclusiveMinimum": ">",
    "minimum": ">=",
    "exclusiveMaximum": "<",
    "maximum": "<=",
}

FOLDERS = [found.name for found in pkgutil.iter_modules(svmbench.solvers.__path__) if found.ispkg]
FAMILIES = [folder.replace("_", "-") for folder in FOLDERS]
PLUG_IN = "plug-in"

HORIZONS = {
    "none": "one run serves every accuracy",
    "steps": "it must know its last step in advance; one run per length, judged at its end",
    "accuracy": "it must know the accuracy in advance; one run per accuracy, judged at its end",
}

LADDERS = {
    "steps": "rerun with more and more steps until a run is accurate enough",
    "accuracy": "rerun with tighter and tighter tolerances until a run is accurate enough",
}

LEGEND = (
    "losses: hinges stands for hinge, squared-hinge and smoothed-hinge, all for these and "
    "logistic, unsmoothed for all but smoothed-hinge. bias: none (w alone) or "
    "free (w with an unregularised b). constraint: none, or l1 (w kept in the ball "
    "‖w‖₁ ≤ z). precision: bits of a weight. own stop: whether it has a stopping rule of its "
    "own. horizon: what it must know in advance about the end of a run, the number of steps or "
    "the accuracy. source: first author and year, or ours. In full: svmbench solvers NAME."
)

NOTATION = (
    "m rows xᵢ of d features with labels yᵢ = ±1; sᵢ = yᵢ w·xᵢ, with a bias "
    "yᵢ (w·xᵢ + b); nᵢ = ‖xᵢ‖²; nnz is the number of nonzeros; loss' = dloss/ds; [A] is 1 "
    "where A holds, else 0; ν is 0 for the hinge, 1 for the squared hinge, γ for the smoothed "
    "one; w(α) = 1/(λm) Σ αᵢ yᵢ xᵢ; P* is the least P, and D(α) ≤ P* ≤ P(w) for every w "
    "and every feasible α."
)


def describe(solver: type[Solver]) -> dict[str, Any]:
    """Full description of a solver, as plain data.

    Its parameters are listed by name, each with type, default, range, unit, description and
    the source of its default. The family of a plug-in is its package.
    """
    from svmbench.solvers.base import Solver
    from svmbench.solvers.checked import json_schema

    properties = json_schema(solver.schema)["properties"]
    return {
        "name": solver.name,
        "summary": solver.summary,
        "family": _family(solver),
        "description": inspect.cleandoc(solver.__doc__ or ""),  # not that of a base class
        "mathematics": inspect.cleandoc(solver.mathematics),
        "source": solver.source,
        "losses": list(solver.losses),
        "biases": list(solver.biases),
        "constraints": list(solver.constraints),
        "step": solver.step,
        "own_stop": solver.stopped is not Solver.stopped,
        "horizon": solver.horizon,
        "horizon_parameter": solver.horizon_parameter or None,
        "anytime": solver.anytime,
        "ladder": solver.ladder,
        "kernels": list(solver.kernels_used()),
        "missing": solver.missing(),
        "parameters": {name: _parameter(facts) for name, facts in properties.items()},
        "reconstructed": list(solver.reconstructed),
        "unstated": list(solver.unstated),
    }


def listing(found: Sequence[dict[str, Any]]) -> str:
    """The list of solvers by family: a line of facts and a line of summary per solver."""
    header = (
        "name",
        "losses",
        "bias",
        "constraint",
        "precision",
        "own stop",
        "horizon",
        "source",
    )
    heads, *rows = align(header, [_row(facts) for facts in found]).splitlines()
    lines = [f"  {heads}"]
    for group in [*FAMILIES, PLUG_IN]:
        members = [place for place, facts in enumerate(found) if group_of(facts) == group]
        if members:
            lines += ["", heading_of(group)]
        for place in members:
            lines += [f"  {rows[place]}", f"      {found[place]['summary']}"]
    return "\n".join([*lines, "", *textwrap.wrap(LEGEND, WIDTH)])


def page(facts: dict[str, Any]) -> str:
    lines = [f"{facts['name']}: {facts['summary']}", "", facts["description"]]
    if facts["mathematics"]:
        lines += ["", "Mathematics", "", textwrap.indent(facts["mathematics"], "  "), ""]
        lines += wrapped(f"notation {NOTATION}", "  ", 11)
    lines += ["", "Facts", ""]
    for what, text in facts_of(facts).items():
        lines += wrapped(f"{what:<12}{text}", "  ", 14)
    lines += ["", "Parameters"]
    for name, parameter in facts["parameters"].items():
        unit = f" {parameter['unit']}" if parameter["unit"] else ""
        limits = f", {parameter['range']}{unit}" if parameter["range"] else ""
        default = f"default {as_written(parameter['default'])}"
        default += unit if parameter["default"] is not None else ""
        body = f"{parameter['description']} (default: {parameter['source']})"
        lines += ["", f"  {name}: {parameter['type']}{limits}; {default}"]
        lines += wrapped(body, "    ", 4)
    for title, what in (
        ("Reconstructed", "reconstructed"),
        ("Left open by the sources", "unstated"),
    ):
        if facts[what]:
            lines += ["", title, ""]
        for sentence in facts[what]:
            lines += wrapped(f"- {sentence}", "  ", 4)
    return "\n".join(lines)


def facts_of(facts: dict[str, Any]) -> dict[str, str]:
    shown = {
        "source": facts["source"],
        "family": facts["family"],
        "losses": ", ".join(facts["losses"]),
        "bias": ", ".join(facts["biases"]),
        "constraint": ", ".join(facts["constraints"]),
        "precision": facts["parameters"]["precision"]["type"],
        "step": facts["step"],
        "own stop": "yes" if facts["own_stop"] else "no",
        "horizon": _horizon(facts),
        "kernels": ", ".join(facts["kernels"]),
        "missing": facts["missing"],
    }
    return {what: text for what, text in shown.items() if text}


#: Words for sets of losses.
_ALIKE = {
    frozenset(HINGES): "hinges",
    frozenset(LOSSES): "all",
    frozenset(LOSSES) - {"smoothed-hinge"}: "unsmoothed",
}


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    losses = [loss.removesuffix("-hinge") for loss in facts["losses"]]
    return (
        facts["name"],
        _ALIKE.get(frozenset(facts["losses"]), ", ".join(losses)),
        ", ".join(facts["biases"]),
        ", ".join(facts["constraints"]),
        facts["parameters"]["precision"]["type"].replace(" | ", ", ").replace("float", ""),
        "yes" if facts["own_stop"] else "no",
        facts["horizon"],
        _cited(facts["source"]),
    )


def _cited(source: str) -> str:
    """First author and year, or ours; the whole source if it has no year."""
    name = re.split(r",| and | \(| (?=(?:19|20)\d\d\b)", source)[0]
    year = re.search(r"\b(19|20)\d\d\b", source)
    return name if name == "ours" else f"{name} {year[0]}" if year else source


def _horizon(facts: dict[str, Any]) -> str:
    horizon = facts["horizon"]
    text = f"{horizon}: {LADDERS[horizon] if facts['ladder'] else HORIZONS[horizon]}"
    if facts["anytime"]:
        text = text.replace("at its end", "at every checkpoint")
    if horizon != "none":
        return f"{text}; parameter {facts['horizon_parameter']}"
    return text


def _family(solver: type[Solver]) -> str:
    from svmbench.solvers.single_file import file_of

    if (path := file_of(solver)) is not None:
        return path.name
    place = f"{svmbench.solvers.__name__}."
    within = solver.__module__.removeprefix(place).partition(".")[0]
    return within.replace("_", "-") if solver.__module__.startswith(place) else within


def group_of(facts: dict[str, Any]) -> str:
    """The family under which a solver is listed."""
    return facts["family"] if facts["family"] in FAMILIES else PLUG_IN


def heading_of(group: str) -> str:
    """A family's name and the first line of its package's docstring."""
    if group == PLUG_IN:
        return f"{PLUG_IN}: Solvers of other packages and files."
    folder = FOLDERS[FAMILIES.index(group)]
    package = import_module(f"{svmbench.solvers.__name__}.{folder}")
    return f"{group}: {(package.__doc__ or '').partition(chr(10))[0]}"


def wrapped(text: str, first: str, later: int) -> list[str]:
    """The lines of a text, with ``first`` before it and ``later`` blanks before further lines."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _parameter(facts: dict[str, Any]) -> dict[str, Any]:
    kinds = facts.get("anyOf", [facts])
    return {
        "type": " | ".join(_kind(kind) for kind in kinds),
        "default": facts.get("default"),
        "range": " and ".join(
            f"{sign} {kind[limit]:g}"
            for kind in kinds
            for limit, sign in LIMITS.items()
            if limit in kind
        ),
        "unit": facts.get("unit", ""),
        "description": facts.get("description", ""),
        "source": facts.get("source", ""),
    }


def _kind(kind: dict[str, Any]) -> str:
    if "const" in kind:
        return str(kind["const"])
    if "enum" in kind:
        return " | ".join(str(choice) for choice in kind["enum"])
    return str(kind.get("type", "any"))


@click.command(
    name="solvers",
    epilog=options.examples(
        "svmbench solvers --loss squared-hinge",
        "svmbench solvers sgd-m",
        "svmbench solvers mine --check --plugin my_solver.py",
    ),
)
@click.argument("name", required=False, shell_complete=options.solver_names)
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
