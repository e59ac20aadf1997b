"""``svmbench solvers``."""

import inspect
import json

import pytest
from click.testing import CliRunner

import plugins
from svmbench.cli import main
from svmbench.cli.solvers import FAMILIES
from svmbench.names import BIASES, CONSTRAINTS, LOSSES
from svmbench.solvers import registry
from svmbench.solvers.checked import json_schema
from svmbench.solvers.registry import solvers

OURS = {
    name: solver
    for name, solver in solvers().items()
    if solver.__module__.startswith("svmbench.solvers.")
}


def invoke(*args):
    return CliRunner().invoke(main, ["solvers", *args], prog_name="svmbench")


def output(*args):
    result = invoke(*args)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def names(*args):
    return {facts["name"] for facts in json.loads(output(*args, "--json"))}


@pytest.fixture
def plug_in(monkeypatch):
    """A plug-in beside ours that says no more than it must."""
    every = solvers() | {"idle": plugins.Idle}
    monkeypatch.setattr(registry, "solvers", lambda: every)
    return plugins.Idle


@pytest.mark.parametrize(
    ("option", "choices", "attribute"),
    [
        ("--loss", LOSSES, "losses"),
        ("--bias", BIASES, "biases"),
        ("--constraint", CONSTRAINTS, "constraints"),
    ],
)
def test_choices_leave_those_that_apply(option, choices, attribute):
    for choice in choices:
        able = {name for name, solver in solvers().items() if choice in getattr(solver, attribute)}
        assert names(option, choice) == able


def test_choices_hold_together(plug_in):
    assert names("--family", "dual", "--loss", "smoothed-hinge") >= {"asdca", "dcd", "sdca"}
    assert names("--family", "second-order", "--loss", "hinge").isdisjoint({"newton", "dcd"})
    assert names("--family", "plug-in") == {"idle"} | (set(solvers()) - set(OURS))
    assert set.union(*(names("--family", family) for family in FAMILIES)) == set(OURS)


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["pegasus"], "unknown solver 'pegasus'; did you mean 'pegasos'?"),
        (["mine.py", "--check"], "mine.py: a file, not a solver; add --plugin mine.py"),
        (["dcd", "--loss", "hinge"], "NAME and a filter exclude each other"),
    ],
)
def test_what_cannot_be_told_is_answered_in_one_line(args, hint):
    result = invoke(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert hint in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", solvers())
def test_page_tells_everything(name):
    page = output(name)
    words = " ".join(page.split())
    solver = solvers()[name]
    assert solver.source in words
    for line in inspect.cleandoc(solver.mathematics).splitlines():
        assert f"\n  {line}\n" in page
    for sentence in (*solver.reconstructed, *solver.unstated):
        assert f"- {sentence}" in words
    for key, facts in json_schema(solver.schema)["properties"].items():
        assert f" {key}: " in words
        assert f"{facts['description']} (default: {facts['source']})" in words


def test_what_has_to_be_installed_is_told(monkeypatch):
    monkeypatch.setattr(registry, "solvers", lambda: {"foreign": plugins.Foreign})
    assert "\n  missing     the package 'foreign' is not installed; pip" in output("foreign")


def test_json_says_the_same():
    every = json.loads(output("--json"))
    assert [facts["name"] for facts in every] == list(solvers())
    facts = json.loads(output("sgd-m", "--json"))
    assert facts == every[list(solvers()).index("sgd-m")]
    schedule = facts["parameters"]["schedule"]
    assert (schedule["type"], schedule["default"]) == ("4/9 | blocks", "4/9")
    assert (facts["family"], facts["own_stop"]) == ("stochastic", True)
    assert (facts["biases"], facts["constraints"]) == (["none"], ["none"])
    assert facts["mathematics"].startswith("problem  min P(w)")
    assert len(facts["reconstructed"]) == 1
    assert len(facts["unstated"]) == 1
