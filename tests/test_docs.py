"""Every command the documentation shows is tried; of some, only the name and the options."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.config import Stop, Sweep, SweepReference, load_sweep
from svmbench.names import LOSSES
from svmbench.solvers import registry
from svmbench.solvers.checked import names_of
from svmbench.solvers.program import ProgramParameters

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "docs" / "plugin-template"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("*/README.md")),
]


COMMAND = re.compile(r"(svmbench|make) [a-z]")


def shown(page):
    """Commands of a page: in code blocks, fenced or indented, and between backquotes."""
    fenced = False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            command = line.split(" # ")[0].strip()
            if COMMAND.match(command):
                yield command
        else:
            yield from (
                quoted for quoted in re.findall(r"`([^`]+)`", line) if COMMAND.match(quoted)
            )


# The template's commands need it installed, which a test of their own does.
COMMANDS = sorted(
    {
        (page.relative_to(ROOT).as_posix(), command)
        for page in PAGES
        if page.parent != TEMPLATE
        for command in shown(page)
    }
)


@pytest.mark.parametrize(
    "command", sorted({c for _, c in COMMANDS if c.startswith("make")}), ids=str
)
def test_make_knows_its_targets(command):
    done = subprocess.run(
        [*shlex.split(command), "--dry-run"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def scripts_shown():
    """Commands that run a script; tests of their own run them in small."""
    script = r"python\s+(scripts/(?:train|trust)/\S+\.py[^`#\n]*)"
    for page in PAGES:
        text = page.read_text()
        found = re.findall(rf"^    (?:\S*/)?{script}", text, re.MULTILINE)
        yield from found + re.findall(rf"`(?:\S*/)?{script}`", text)


SCRIPTS = sorted({" ".join(command.split()) for command in scripts_shown()})


def run_script(words, monkeypatch):
    """Run a script in this process, which has its imports; a program would find its neighbours."""
    if "liblinear" in (ROOT / words[0]).read_text():
        pytest.importorskip("liblinear")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.syspath_prepend(Path(words[0]).parent)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # or table.py would begin again with it
    monkeypatch.setattr(sys, "argv", words)
    runpy.run_path(words[0], run_name="__main__")


@pytest.mark.parametrize("command", SCRIPTS, ids=str)
def test_scripts_know_their_options(command, monkeypatch, capsys):
    """Tests of their own start them as programs."""
    words = shlex.split(command)
    with pytest.raises(SystemExit) as ended:
        run_script([*words, "--help"], monkeypatch)
    said = capsys.readouterr()
    assert not ended.value.code, said.err
    for option in (word for word in words if word.startswith("--")):
        assert re.search(rf"{option}\b", said.out), option


def write_described(folder):
    """Write the files that the page on new solvers describes; return its configurations."""
    page = (ROOT / "docs" / "adding-a-solver.md").read_text()
    words = ["new-solver", "my-solver", "--quiet", "-o", str(folder / "my_solver.py")]
    assert CliRunner().invoke(main, words).exit_code == 0
    configs = []
    for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        name = re.search(r"^name: (\S+)$", text, re.MULTILINE)[1]
        configs.append(folder / f"{name}.yaml")
        configs[-1].write_text(text)
    return configs


@pytest.fixture
def no_files():
    """Forget the single files that a test has loaded."""
    yield
    registry.forget_files()


def command_of(arguments):
    """The command that these words begin with, and the words that name it."""
    command, names = main, []
    while isinstance(command, click.Group) and len(names) < len(arguments):
        names.append(arguments[len(names)])
        command = command.get_command(None, names[-1])
        assert command is not None, names
    return command, names


def unknown_options(arguments):
    """The options among these words that their command does not have."""
    command, _ = command_of(arguments)
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    return {word.split("=")[0] for word in arguments if word.startswith("-")} - known


@pytest.mark.parametrize(
    "command", sorted({c for _, c in COMMANDS if c.startswith("svmbench")}), ids=str
)
def test_svmbench_knows_its_commands(command, monkeypatch, tmp_path, no_files):
    monkeypatch.chdir(ROOT)
    if "my_" in command:  # a file that the page describes
        write_described(tmp_path)
        monkeypatch.chdir(tmp_path)
    arguments = shlex.split(command)[1:]
    assert unknown_options(arguments) == set()
    placeholder = any(re.search(r"\b[A-Z]{2,}\b", argument) for argument in arguments)
    if (
        placeholder
        or len(arguments) == 1
        or arguments[0]
        in (
            "report",
            "plot",
            "compare",
            "data",
            "verify",
            "train",
            "predict",
            "publish",
            "table",
            "new-solver",
        )
        or (arguments[0] == "cluster" and (arguments[1] == "train" or len(arguments) == 2))
    ):
        arguments = [*command_of(arguments)[1], "--help"]
    elif "--check" in arguments:
        arguments.remove("--check")  # tests/verify/test_contract.py does it with this file
    elif arguments[0] in ("run", "papers", "bench"):
        if "--cluster" in arguments:  # tests/cli/test_cluster.py has one
            at = arguments.index("--cluster")
            del arguments[at : at + 2]
        arguments.append("--dry-run")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_the_described_configurations_run(tmp_path, no_files):
    programs = {"programs": "liblinear-train"}
    for config in write_described(tmp_path):
        if not shutil.which(programs.get(config.stem, sys.executable)):
            continue  # that program is not installed; tests/solvers/test_program.py uses its own
        folder = tmp_path / config.stem
        command = [sys.executable, "-P", "-m", "svmbench", "run", config, "--out", folder]
        done = subprocess.run([*command, "--quiet"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        runs = pd.read_csv(folder / "runs.csv")
        for _, ends in runs.groupby(["dataset", "label"]):
            assert (ends["accuracy"] <= load_sweep(config).stop.accuracy[-1]).any()
        assert set(runs["state"]) == {"converged"}


@pytest.mark.slow
def test_the_template_of_a_plug_in_installs_and_runs(tmp_path):
    site = tmp_path / "site"
    source = tmp_path / "source"
    shutil.copytree(TEMPLATE, source)  # a build leaves files beside its sources
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = os.environ | {"PYTHONPATH": str(site)}

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, "-P", "-m", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python(*install, "--target", str(site), str(source))
    commands = list(shown(TEMPLATE / "README.md"))
    assert "eta0" in python(*shlex.split(commands[0]))
    assert commands[1:] == ["svmbench run compare.yaml"]
    python("svmbench", "run", str(source / "compare.yaml"))
    runs = pd.read_csv(tmp_path / "results" / "compare" / "runs.csv")
    ends = runs[runs["solver"] == "subgradient"].set_index(["dataset", "lambda"])
    assert (ends["state"] != "failed").all()
    assert (ends.loc[("tiny-dense", 0.1), "accuracy"] <= 0.01).all()


def keys_of(page):
    """The keys of a page, with what they mean."""
    table = page.split("| key | meaning |\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^\| `([\w.]+)` \| (.*) \|$", table, re.MULTILINE))


def test_every_key_of_a_configuration_is_described():
    described = keys_of((ROOT / "configs" / "README.md").read_text(encoding="utf-8"))
    parts = {"stop": Stop, "reference": SweepReference}
    keys = {field.alias or name for name, field in Sweep.model_fields.items()} - parts.keys()
    keys |= {f"{name}.{key}" for name, part in parts.items() for key in part.model_fields}
    assert set(described) == keys
    assert [loss for loss in LOSSES if loss not in described["loss"]] == []


def test_every_key_of_a_program_is_described():
    described = keys_of((ROOT / "docs" / "adding-a-solver.md").read_text(encoding="utf-8"))
    assert set(described) == set(names_of(ProgramParameters)) - {"precision"} | {"label"}


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def anchors(page):
    """What links to the headings of a page end with: lower case, no punctuation, hyphens."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}


def test_links_into_pages_lead_to_headings():
    pages = [*PAGES, ROOT / "CHANGELOG.md", *ROOT.glob("results/snapshots/*/README.md")]
    links = [
        (page, page.parent / target if target else page, anchor)
        for page in pages
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text())
    ]
    assert len(links) > 60
    lost = [
        f"{page.name}: {target.name}#{anchor}"
        for page, target, anchor in links
        if anchor not in anchors(target)
    ]
    assert lost == []


def test_the_layers_of_the_design_are_those_of_the_contract():
    table = re.findall(r"^\| (`.*?`) \|", section("Imports"), re.MULTILINE)
    drawn = [re.findall(r"`(\w+)", row) for row in table]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract, _ = project["tool"]["importlinter"]["contracts"]
    assert drawn == [row.split(" | ") for row in contract["layers"]]


def section(title):
    """A section of the page on the design."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]
