"""``svmbench solvers``."""

import inspect
import json

import pytest
from click.testing import CliRunner

import plugins
from svmbench.cli import main
from svmbench.cli.solver_text import FAMILIES, describe
from svmbench.names import BIASES, CONSTRAINTS, LOSSES
from svmbench.solvers import registry
from svmbench.solvers.checked import json_schema, precisions_of
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


def test_listing_has_each_solver_in_columns_with_its_summary_below():
    lines = output().splitlines()
    header = lines[0]
    places = {line.split()[0]: place for place, line in enumerate(lines) if line[2:3].strip()}

    def cell(line, column):
        return line[header.index(column) :].split("  ")[0].strip()

    for name, solver in OURS.items():
        line, below = lines[places[name] : places[name] + 2]
        assert below.strip() == solver.summary
        assert cell(line, "bias") == ", ".join(solver.biases)
        assert cell(line, "constraint") == ", ".join(solver.constraints)
        precisions = precisions_of(solver.schema)
        assert cell(line, "precision") == ", ".join(p.removeprefix("float") for p in precisions)
        assert cell(line, "horizon") == solver.horizon
    assert cell(lines[places["ipm"]], "losses") == "hinges"
    assert cell(lines[places["dcd"]], "losses") == "all"
    assert cell(lines[places["sgd-qn"]], "losses") == "all"
    assert cell(lines[places["snapml"]], "losses") == "unsmoothed"
    assert cell(lines[places["newton"]], "losses") == "squared"
    assert cell(lines[places["dcd"]], "own stop") == "yes"
    assert cell(lines[places["sgd-r"]], "own stop") == "no"
    assert cell(lines[places["sgd-m"]], "source") == "Panagiotakopoulos 2013"
    assert cell(lines[places["smo"]], "source") == "Platt 1999"
    assert cell(lines[places["auto"]], "source") == "ours"
    assert max(map(len, lines)) <= 120


def test_listing_names_author_and_year_once(plug_in, monkeypatch):
    monkeypatch.setattr(plug_in, "source", "Polyak 1964")
    (line,) = (line for line in output().splitlines() if line.split()[:1] == ["idle"])
    assert line.endswith(" Polyak 1964")


def test_listing_is_by_families_and_says_what_they_are():
    lines = output().splitlines()
    ocas = lines.index(
        "cutting-plane: Methods that bound the objective from below by cutting planes."
    )
    dual = lines.index("dual: Methods that move the dual variables.")
    end = lines.index("", ocas)
    assert [line.split()[0] for line in lines[ocas + 1 : end : 2]] == ["ocas", "svmperf"]
    assert dual > end
    assert lines[dual + 1].split()[0] == "asdca"


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


def test_nothing_that_applies_is_said():
    impossible = ("--family", "cutting-plane", "--loss", "smoothed-hinge")
    assert output(*impossible) == "no solver matches; drop a filter\n"
    assert json.loads(output(*impossible, "--json")) == []


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


@pytest.mark.parametrize("name", OURS)
def test_a_solver_of_ours_states_its_mathematics(name):
    solver = OURS[name]
    lines = inspect.cleandoc(solver.mathematics).splitlines()
    assert lines, f"{name} has no mathematics"
    assert max(map(len, lines)) <= 88
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("name", OURS)
def test_what_the_sources_lack_is_in_sentences(name):
    for sentences in (OURS[name].reconstructed, OURS[name].unstated):
        assert isinstance(sentences, tuple)
        assert len(set(sentences)) == len(sentences)
        for sentence in sentences:
            assert sentence == " ".join(sentence.split())
            assert sentence.endswith(".")


def test_page_tells_type_range_unit_and_default():
    page = output("dcd")
    assert "\n  tolerance: number, > 0; default 0.1\n" in page
    assert "\n  shrinking: boolean; default true\n" in page
    assert "\n  restore_after: number, > 0 epochs; default 20.0 epochs\n" in page
    assert "\n  precision: float64 | float32; default float64\n" in page
    assert "\n  epsilon: number | null, > 0; default null\n" in output("sgd-s")


def test_page_explains_the_horizon():
    assert "\n  horizon     none: one run serves every accuracy\n" in output("dcd")
    words = " ".join(output("mpu").split())
    assert "horizon accuracy: it must know the accuracy in advance; one run per" in words
    assert "accuracy, judged at every checkpoint; parameter delta " in words
    words = " ".join(output("linear-svc").split())
    assert "horizon accuracy: rerun with tighter and tighter tolerances until" in words
    words = " ".join(output("sgd-classifier").split())
    assert "horizon steps: rerun with more and more steps until" in words
    words = " ".join(output("sdca").split())
    assert "horizon none: one run serves every accuracy; steps with output average or" in words
    assert "; parameter epochs " in words


def test_a_plug_in_that_says_little_is_listed_and_told(plug_in):
    lines = output().splitlines()
    heading = lines.index("plug-in: Solvers of other packages and files.")
    assert any(line.split()[:1] == ["idle"] for line in lines[heading:])
    page = output("idle")
    assert page.startswith("idle: stays at zero\n")
    assert "\n  family      plugins\n" in page
    for title in ("Mathematics", "notation", "Reconstructed", "Left open"):
        assert title not in page
    assert "\n\n\n" not in page


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


def test_a_solver_without_a_docstring_has_no_description():
    class Silent(plugins.Idle):
        pass

    assert describe(Silent)["description"] == ""
    assert describe(plugins.Idle)["description"].startswith("Never moves")
