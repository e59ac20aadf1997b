"""The JSON schema of configurations against the parser: both accept the same documents."""

import re

import pytest
from pydantic import ValidationError
from schema_documents import Documents

from svmbench.config import Sweep, sweep_schema
from svmbench.solvers.registry import solvers

BASE = {
    **{"version": 1, "name": "trial", "datasets": ["tiny-sparse"], "lambda": 0.01},
    **{"solvers": ["dcd"], "stop": {"max_epochs": 1}},
}
BASES = {"DatasetSpec": [{"name": "tiny-sparse"}, {"path": "mine"}], "Stop": [{"max_epochs": 1}]}

#: What the parser alone refuses: its message, and how configs/README.md calls the rule.
RULES = {
    "a valid integer": "3.0 is no whole number",
    "a fraction between 0 and 1, or a whole number": "3.0 is no whole number",
    "Input should be a valid tuple": "3.0 is no whole number",
    "Input should be 1": "3.0 is no whole number",
    "ascending": "rows ascend",
    "is another set of the catalogue": "names",
    "is a set of the catalogue": "names",
    "a second": "labels differ",
    "less than at_least": "at_most is not below at_least",
    "Input should be greater than or equal to 1048576": "a size has at least 1 MiB",
    "leave it out": "rules between a solver's parameters",
    "leave out eta or epochs": "rules between a solver's parameters",
    "cannot be read": "a plug-in can be read",
    "appears twice": "the ends of a logspace differ",
    "at most .*, a hundredth of the tightest accuracy": "the reference is tight enough",
}


@pytest.fixture(scope="module")
def documents():
    return Documents(sweep_schema(), BASES)


def of_keys(documents):
    for key, schema in documents.schema["properties"].items():
        if key != "solvers":
            for value in documents.candidates(schema):
                other = {"C": "lambda", "lambda": "C"}.get(key)
                yield {name: v for name, v in BASE.items() if name != other} | {key: value}
    yield BASE | {"reference": {"gap": 0.1}, "stop": {"accuracy": 0.1}}
    yield BASE | {"C": None}
    yield BASE | {"C": 1, "lambda": None}
    for stop in ({}, {"accuracy": []}, {"gap": None, "own": False}, {"own": True}):
        yield BASE | {"stop": stop}


def of_solvers(documents):
    for choice in documents.schema["properties"]["solvers"]["items"]["anyOf"]:
        if choice.get("title") == "program":
            continue  # it does not say whether a command can be run
        for value in documents.candidates(choice):
            solver = solvers()[value if isinstance(value, str) else value["name"]]
            fitting = {"loss": solver.losses[0], "bias": solver.biases[0]}
            if "none" not in solver.constraints:
                fitting["constraint"] = {"l1": 1.0}
            yield BASE | fitting | {"solvers": [value]}
    for name in solvers():
        for loss in ({}, "hinge", "squared-hinge", {"name": "smoothed-hinge"}, "logistic"):
            for bias in ("none", "free"):
                for constraint in (None, {"l1": 2}):
                    asked = {"loss": loss, "bias": bias, "constraint": constraint}
                    yield BASE | asked | {"solvers": [name]}
    yield BASE | {"solvers": ["dcd", "dcd"]}
    yield BASE | {"solvers": ["dcd", {"name": "dcd"}]}


@pytest.mark.slow
@pytest.mark.parametrize("made", [of_keys, of_solvers])
def test_schema_and_parser_agree(documents, made):
    accepted, rules, wrong = 0, set(), []
    for document in made(documents):
        reason = refusal(document)
        if documents.fits(document) == (reason is None):
            accepted += reason is None
            continue
        known = [rule for message, rule in RULES.items() if re.search(message, reason or "")]
        rules.update(known)
        if not known:
            wrong.append((document, reason or "only the parser accepts it"))
    assert wrong == []
    assert accepted > 200
    assert rules >= {"3.0 is no whole number", "labels differ" if made is of_solvers else "names"}


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        ({"command": "train {data} {model}", "model": "npz"}, True),
        (
            {"command": ["train", "{data}", "{model}"], "model": "npz", "reading": "cat {data}"},
            True,
        ),
        ({"name": "program", "command": "train {data} {model}", "model": "vw", "label": "x"}, True),
        ({"command": "train {data} {model}"}, False),
        ({"command": "train {data} {model}", "model": "pickle"}, False),
        ({"command": 3, "model": "npz"}, False),
        ({"command": "train {data} {model}", "model": "npz", "eta0": 1}, False),
    ],
)
def test_schema_and_parser_agree_on_programs(documents, entry, fits):
    document = BASE | {"solvers": [entry]}
    assert documents.fits(document) is fits
    assert (refusal(document) is None) is fits


def refusal(document):
    try:
        Sweep.model_validate(document)
    except ValidationError as error:
        return error.errors()[0]["msg"]
    return None
