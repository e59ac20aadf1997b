"""The JSON schema of configurations: the models', and the rules that their validators add.

Some rules have no form in a JSON schema; configs/README.md lists them.
"""

from __future__ import annotations

import sys
from typing import Any

from svmbench.config.stop import LIMITS, TARGETS
from svmbench.config.sweep import Sweep
from svmbench.data import catalogue
from svmbench.names import BIASES, CONSTRAINTS, LOSSES
from svmbench.solvers.base import Solver
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
    definitions["DatasetSpec"]["anyOf"] = _named_or_own(names)
    definitions["LossSpec"] |= {
        "if": {"properties": {"name": {"const": "smoothed-hinge"}}, "required": ["name"]},
        "else": {"properties": {"gamma": _NULL}},
    }
    definitions["Stop"] |= _ends()
    schema["oneOf"] = [
        {"required": [one], "properties": {one: {"not": _NULL}, other: _NULL}}
        for one, other in (("lambda", "C"), ("C", "lambda"))
    ]
    schema["allOf"] = _trainable()
    _bound_numbers(schema)
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


def _named_or_own(names: list[str]) -> list[Schema]:
    """A data set of the catalogue, of which that knows features and test file; or a path."""
    number = {"not": {"type": "string"}}
    named = {"name": {"enum": names}, "path": _NULL, "features": _NULL, "test": number}
    named["zero_based"] = {"const": False}
    own = {"path": {"type": "string"}, "name": {"not": {"enum": names}}}
    return [
        {"required": ["name"], "properties": named},
        {"required": ["path"], "properties": own},
    ]


def _ends() -> Schema:
    """An end beside the time limit, and what a relative limit needs."""
    given = {"anyOf": [{"type": "number"}, {"type": "array", "minItems": 1}]}
    accuracy = {"required": ["accuracy"], "properties": {"accuracy": given}}
    others: list[Schema] = [
        {"required": [key], "properties": {key: {"not": _NULL}}}
        for key in (*TARGETS, *LIMITS)
        if key not in ("accuracy", "own")
    ]
    own = {"required": ["own"], "properties": {"own": {"const": True}}}
    return {
        "anyOf": [accuracy, *others, own],
        "if": {"required": ["relative_limit"], "properties": {"relative_limit": {"not": _NULL}}},
        "then": accuracy,
    }


def _trainable() -> list[Schema]:
    """For each loss, bias and constraint: the solvers that can train it."""
    rules = []
    known: dict[str, type[Solver]] = {**solvers(), ForeignProgram.name: ForeignProgram}
    for loss in LOSSES:
        named: Schema = {"required": ["name"], "properties": {"name": {"const": loss}}}
        named["type"] = "object"
        given: Schema = {"anyOf": [{"const": loss}, named]}
        if loss == "hinge":
            given["anyOf"].append({"type": "object", "not": {"required": ["name"]}})
        able = [name for name, solver in known.items() if loss in solver.losses]
        rules.append(_only("loss", given, able, default=loss == "hinge"))
    for bias in BIASES:
        able = [name for name, solver in known.items() if bias in solver.biases]
        rules.append(_only("bias", {"const": bias}, able, default=bias == "none"))
    for constraint in CONSTRAINTS:
        able = [name for name, solver in known.items() if constraint in solver.constraints]
        given = _NULL if constraint == "none" else {"type": "object"}
        rules.append(_only("constraint", given, able, default=constraint == "none"))
    return rules


def _only(key: str, given: Schema, able: list[str], *, default: bool) -> Schema:
    """If a key has such a value, solvers are among those able to train it."""
    named = {"type": "object", "properties": {"name": {"enum": able}}}
    return {
        "if": {"properties": {key: given}} | ({} if default else {"required": [key]}),
        "then": {"properties": {"solvers": {"items": {"anyOf": [{"enum": able}, named]}}}},
    }


def _bound_numbers(schema: Any) -> None:
    """State the range of double precision wherever no narrower one is stated."""
    if isinstance(schema, list):
        for each in schema:
            _bound_numbers(each)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "number":
        largest = sys.float_info.max
        if "maximum" not in schema and "exclusiveMaximum" not in schema:
            schema["maximum"] = largest
        if "minimum" not in schema and "exclusiveMinimum" not in schema:
            schema["minimum"] = -largest
    for each in schema.values():
        _bound_numbers(each)
