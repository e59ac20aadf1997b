"""Inputs on which svmbench gave a wrong answer or an unkind one: input, what is right, and why."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

from svmbench.cli import main


class Case(NamedTuple):
    """A command on a file of this text, its exit code, and what it says (a pattern) or must not."""

    why: str
    text: str
    command: str
    code: int
    says: str
    never: str = "Traceback"


def rows(*columns, seed=1):
    """Rows of which the first column tells the class in 97 of 100."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([column(rng) for column in columns])
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(len(X)) > 0, 1, -1)
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{v:.7g}" for j, v in enumerate(row)) + "\n"
        for label, row in zip(y, X, strict=True)
    )


def normal(rng):
    return rng.standard_normal(400)


def incomes(rng):
    return rng.uniform(12e3, 60e3, 400).round(2)


UNSCALED = rows(*[normal] * 10, incomes)
BLANK = "0   21:1.00   42:1.00   63: .50\n1   21:0.25 42: 1\n"
FROM_0 = "1 0:1 2:.5\n-1 0:-1 1:.5\n1 0:2\n-1 1:1 2:-1\n"

CASES = [
    Case(
        "an income beside numbers near 1 led the choice of C to 47 % errors, status 0",
        UNSCALED, "train DATA --cv 4", 0, r"column 11 has values up to .* --scale", r"4\d\.\d+%\)",
    ),
    Case("columns are scaled on request", UNSCALED, "train DATA --scale", 0, "columns scaled"),
    Case("values of C can be given", UNSCALED, "train DATA --cv 3 --Cs 1,10", 0, "C = 10?,"),
    Case(
        "a useless model is called that",
        "1 1:1\n-1 1:1\n-1 1:1\n", "train DATA", 0, "no fewer than with class -1",
    ),
    Case("LIBLINEAR reads a blank after the colon", BLANK, "train DATA", 0, "2 rows, 63 features"),
    Case("LIBLINEAR reads a sign", "+1 +1:1\n-1 +2:1\n", "train DATA", 0, "2 rows, 2 features"),
    Case("an index 0 names the remedy", FROM_0, "train DATA", 3, ":1:3: index 0; .*--zero-based"),
    Case("indices from 0", FROM_0, "train DATA --zero-based", 0, "4 rows, 3 features"),
    Case("a CSV is called that", "income,label\n1,2\n", "train DATA", 3, "this looks like CSV"),
    Case(
        "text of six digits is kept in doubles where the tolerance is below their rounding",
        rows(normal, normal), "train DATA --tol 1e-9", 0, "float64", "as stored",
    ),
    Case(
        "no folder is made in silence",
        BLANK, "train DATA -o missing/model", 2, "there is no folder missing; make it",
    ),
    Case(
        "rounding that no method undoes is named",
        "1 1:1e9 2:1\n-1 1:1e9 2:1.0001\n1 1:-1e9 2:1\n", "train DATA --tol 1e-18 -C 1e3", 1,
        r"not proven to 1e-18: the rounding of these rows allows a gap of",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_case_from_the_field(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").write_text(case.text)
    result = CliRunner().invoke(main, case.command.replace("DATA", "data").split())
    assert result.exit_code == case.code, result.output
    assert re.search(case.says, result.output), result.output
    assert not re.search(case.never, result.output), result.output


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("run sweep.yaml --out there", "runs.csv"),
        ("papers --out there --list", ""),
        ("papers --out there --dry-run", "index.html"),
        ("bench smoke --out there --dry-run", "index.html"),
    ],
)
def test_what_others_have_written_is_not_replaced(command, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sweep.yaml").write_text(
        "version: 1\nname: s\ndatasets: [tiny-sparse]\nlambda: 1e-2\nsolvers: [dcd]\n"
        "stop: {accuracy: 1e-1, max_epochs: 5, time_limit: 5s}\nrepeats: 1\n"
    )
    Path("there").mkdir()
    if name:
        Path("there", name).write_text("mine")
    result = CliRunner().invoke(main, command.split())
    assert result.exit_code == (2 if name else 0), result.output
    assert ("does not replace it" in result.output) == bool(name)
    assert not name or Path("there", name).read_text() == "mine"


def test_a_problem_that_is_solved_at_0_has_no_curve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    Path("rows").write_text("1\n-1\n1\n")
    Path("sweep.yaml").write_text(
        "version: 1\nname: s\ndatasets: [{path: rows}]\nlambda: 1e-1\nsolvers: [dcd, sdca]\n"
        "stop: {accuracy: 1e-1, max_epochs: 5, time_limit: 5s}\nrepeats: 1\nplots: []\n"
    )
    assert CliRunner().invoke(main, ["run", "sweep.yaml"]).exit_code == 0
    result = CliRunner().invoke(main, ["plot", "results/s"])
    assert result.exit_code == 2
    assert "solved before the first step, at w = 0, by all of dcd, sdca" in result.output


@pytest.mark.parametrize("name", ["SIGHUP", "SIGQUIT"])
def test_a_hang_up_ends_like_ctrl_c(name, tmp_path):
    (tmp_path / "rows").write_text(UNSCALED)
    (tmp_path / "sweep.yaml").write_text(
        "version: 1\nname: s\ndatasets: [{path: rows}]\nlambda: 1e-3\nsolvers: [pegasos]\n"
        "stop: {accuracy: 1e-12, max_epochs: 1e8, time_limit: 10m}\nrepeats: 1\nplots: []\n"
    )
    command = [sys.executable, "-P", "-m", "svmbench", "run", "sweep.yaml"]
    environment = {**os.environ, "SVMBENCH_CACHE": str(tmp_path / "cache")}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL),  # nohup's is not
    )  # fmt: skip
    while not list(tmp_path.glob("results/s/runs/*.part")):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(getattr(signal, name))
    assert "interrupted" in process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert not list((tmp_path / "results").rglob("*.tmp"))
