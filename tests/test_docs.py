"""Every command the documentation shows is run, long ones without their work."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.reference import certified_optimum

ROOT = Path(__file__).resolve().parent.parent
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


COMMANDS = sorted({(page.relative_to(ROOT).as_posix(), c) for page in PAGES for c in shown(page)})


def test_commands_are_found():
    pages = {page for page, _ in COMMANDS}
    assert {"README.md", "CONTRIBUTING.md", "results/README.md"} <= pages
    assert ("README.md", "make tables") in COMMANDS
    assert ("README.md", "make test") in COMMANDS


@pytest.mark.parametrize(
    "command", sorted({c for _, c in COMMANDS if c.startswith("make")}), ids=str
)
def test_make_knows_its_targets(command):
    done = subprocess.run(
        [*shlex.split(command), "--dry-run"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command", sorted({c for _, c in COMMANDS if c.startswith("svmbench")}), ids=str
)
def test_svmbench_knows_its_commands(command, monkeypatch):
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(command)[1:]
    placeholder = any(re.search(r"\b[A-Z]{2,}\b", argument) for argument in arguments)
    if placeholder or len(arguments) == 1 or arguments[0] in ("report", "data"):
        arguments = [arguments[0], "--help"]
    elif arguments[0] == "run":
        arguments.append("--dry-run")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output


def test_the_example_of_a_new_solver_trains():
    page = (ROOT / "docs" / "adding-a-solver.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(code.group(1), names)
    problem = Problem(load("tiny-dense").train, 0.1)
    solver = names["Subgradient"]()
    solver.start(problem, 0)
    solver.advance(2000)
    optimum = certified_optimum(problem, 1e-6, 30.0)
    assert optimum.dual <= problem.primal(solver.w) <= 1.01 * optimum.primal
    assert solver.counters.presentations == 2000 * problem.data.n_samples


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
