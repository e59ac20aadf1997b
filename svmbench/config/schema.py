"""The JSON schema of configurations: the models', and the rules that their validators add.

Some rules have no form in a JSON schema; configs/README.md lists them.
"""

from __future__ import annotations

from typing import Any

from svmbench.config.sweep import Sweep
from svmbench.data import catalogue
from svmbench.solvers.checked import LARGEST_COUNT, json_schema
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver, solvers

Schema = dict[str, Any]

_NULL: Schema = {"type": "null"}


def sweep_schema() -> Schema:
    """JSON schema of a configuration, with the parameters of every solver there is."""
    schema = Sweep.model_json_schema()
    schema["description"] = "A configuration of svmbench."
    properties, definitions = schema["properties"], schema["$defs"]
    for name in ("Parameters", "SolverSpec"):
        definitions.pop(name)
    choices: list[Schema] = [{"enum": list(solvers())}]
    choices += [_solver(name, properties, definitions) for name in solvers()]
    choices.append(_program(definitions))
    properties["solvers"] |= {"items": {"anyOf": choices}, "uniqueItems": True}
    names = catalogue.names()
    properties["datasets"]["items"]["anyOf"][0] = {"enum": names}
    properties["datasets"]["uniqueItems"] = True
    definitions["LossSpec"] |= {
        "if": {"properties": {"name": {"const": "smoothed-hinge"}}, "required": ["name"]},
        "else": {"properties": {"gamma": _NULL}},
    }
    schema["oneOf"] = [
        {"required": [one], "properties": {one: {"not": _NULL}, other: _NULL}}
        for one, other in (("lambda", "C"), ("C", "lambda"))
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _solver(name: str, properties: Schema, definitions: Schema) -> Schema:
    """A solver with its parameters and a label."""
    solver = find_solver(name)
    parameters = json_schema(solver.schema, ref_template="#/$defs/{model}")
    definitions |= parameters.pop("$defs", {})
    for each in parameters["properties"].values():
        for arm in (each, *each.get("anyOf", [])):
            if arm.get("type") == "integer":
                arm.setdefault("maximum", LARGEST_COUNT)
    label = definitions["DatasetSpec"]["properties"]["label"]["anyOf"][0]
    text = {"type": "string", "pattern": label["pattern"]}
    return parameters | {
        "title": solver.name,
        "description": solver.summary,
        "properties": {
            "name": {"const": name},
            "label": {
                "anyOf": [text, _NULL],
                "description": "Name of its row; derived unless set.",
            },
            **parameters["properties"],
        },
        "required": ["name", *parameters.get("required", [])],
    }


def _program(definitions: Schema) -> Schema:
    """A program with its command; the parser finds out whether the command can be run."""
    program = _solver(ForeignProgram.name, {}, definitions)
    words: Schema = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    program["properties"]["command"] |= words
    program["properties"]["reading"] |= {"anyOf": [*words["anyOf"], _NULL]}
    for key in ("type", "items"):
        program["properties"]["command"].pop(key, None)
    return program | {"required": ["command", "model"]}
