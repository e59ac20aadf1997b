"""``svmbench solvers``: what there is, and every parameter of each."""

from __future__ import annotations

import inspect
import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

from svmbench.cli.columns import align

if TYPE_CHECKING:
    from svmbench.solvers.base import Solver

LIMITS = {
    "exclusiveMinimum": ">",
    "minimum": ">=",
    "exclusiveMaximum": "<",
    "maximum": "<=",
}


@click.command(name="solvers")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(name: str | None, as_json: bool) -> None:
    """List the solvers, or all there is to know of the one called NAME."""
    from svmbench.solvers.registry import find_solver, solvers

    if name is not None:
        facts = describe(find_solver(name))
        click.echo(_json(facts) if as_json else page(facts))
        return
    every = [describe(solver) for solver in solvers().values()]
    click.echo(_json(every) if as_json else listing(every))


def describe(solver: type[Solver]) -> dict[str, Any]:
    """What there is to know of a solver, as plain data.

    Parameters of the schema are given by name, each with type, default, range, unit,
    description and the source of its default.
    """
    properties = solver.schema.model_json_schema()["properties"]
    return {
        "name": solver.name,
        "summary": solver.summary,
        "description": inspect.getdoc(solver) or "",
        "source": solver.source,
        "losses": list(solver.losses),
        "step": solver.step,
        "horizon": solver.horizon,
        "kernels": list(solver.kernels),
        "parameters": {name: _parameter(facts) for name, facts in properties.items()},
    }


def listing(every: list[dict[str, Any]]) -> str:
    """One line a solver."""
    header = ("name", "losses", "step", "horizon", "precision", "summary")
    rows = [
        (
            facts["name"],
            ", ".join(facts["losses"]),
            facts["step"],
            facts["horizon"],
            facts["parameters"]["precision"]["type"],
            facts["summary"],
        )
        for facts in every
    ]
    return align(header, rows)


def page(facts: dict[str, Any]) -> str:
    """One solver in full."""
    lines = [
        f"{facts['name']}: {facts['summary']}",
        "",
        facts["description"],
        "",
        f"source   {facts['source']}",
        f"losses   {', '.join(facts['losses'])}",
        f"step     {facts['step']}",
        f"horizon  {facts['horizon']}",
        "",
        "Parameters",
    ]
    for name, parameter in facts["parameters"].items():
        unit = f" {parameter['unit']}" if parameter["unit"] else ""
        limits = f", {parameter['range']}{unit}" if parameter["range"] else ""
        default = f"default {_plain(parameter['default'])}{unit}"
        body = f"{parameter['description']} (default: {parameter['source']})"
        lines += ["", f"  {name}: {parameter['type']}{limits}; {default}"]
        lines += textwrap.wrap(body, 84, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


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


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
