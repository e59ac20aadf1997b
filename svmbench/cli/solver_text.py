"""What is said of solvers: their facts, from their classes, as plain data and as text."""

from __future__ import annotations

import inspect
import pkgutil
import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Any

import svmbench.solvers
from svmbench.cli.columns import WIDTH, align
from svmbench.names import HINGES, LOSSES
from svmbench.records.spelling import as_written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svmbench.solvers.base import Solver

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
