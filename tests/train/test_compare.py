"""The script that times programs side by side, in small."""

import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from problems import dataset
from svmbench.bundled import bundled
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

pytest.importorskip("liblinear")
SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "compare.py"
TABLE = SCRIPT.with_name("table.py")

SLOW = """
import sys, time
from functools import partial
from table import Entry, _command, measure, table
slow = Entry("fit", "d", "hinge", "none", "slow", lambda limit: time.sleep(60))
wait = [sys.executable, "-c", "import time; time.sleep(60)"]
command = Entry("fit", "d", "hinge", "none", "slow command", partial(_command, wait))
measure([slow, command], time.monotonic() + 100.0, 1.0, 3)
print("\\n".join(table([slow, command])))
"""


@pytest.mark.parametrize(
    ("loss", "programs"),
    [
        ("hinge", ["svmbench", "LIBLINEAR -s 3", "LinearSVC"]),
        ("logistic", ["svmbench", "LIBLINEAR -s 0", "LIBLINEAR -s 7", "LogisticRegression"]),
    ],
)
def test_every_program_has_its_line(loss, programs):
    rows = bundled("datasets") / "tiny" / "tiny-dense.libsvm"
    done = subprocess.run(
        [sys.executable, SCRIPT, rows, "--loss", loss, "--tol", "0.01", "--repeats", "1"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for program in programs:
        assert any(line.startswith(program) for line in done.stdout.splitlines()), program


def test_the_table_has_every_need_within_its_budget():
    rows = bundled("datasets") / "tiny" / "tiny-dense.libsvm"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, TABLE, rows, "--loss", "squared-hinge", "--tol", "0.01", "--repeats", "1",
         "--budget", "3m"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begun < 200.0
    lines = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    found = {(line[0].strip("| "), line[4].split(",")[0]) for line in lines}
    assert {("text", "svmbench train"), ("fit", "svmbench"), ("C", "svmbench --cv")} <= found
    assert {("fit", "LIBLINEAR -s 1"), ("fit", "LIBLINEAR -s 2"), ("fit", "LinearSVC")} <= found
    assert {("C", "LIBLINEAR -C -v 5 -s 2"), ("C", "GridSearchCV(LinearSVC)")} <= found
    ours = {line[0]: line[7] for line in lines if line[4].startswith("svmbench")}
    assert set(ours.values()) == {"1.0 |"}


@pytest.mark.parametrize(
    ("loss", "bias", "programs"),
    [
        ("hinge", "regularised", {"LIBLINEAR -s 3", "LinearSVC"}),
        ("hinge", "free", set()),
        ("squared-hinge", "regularised", {"LIBLINEAR -s 1", "LIBLINEAR -s 2", "LinearSVC"}),
        ("squared-hinge", "free", {"LIBLINEAR -s 2"}),
        ("logistic", "regularised", {"LIBLINEAR -s 0", "LIBLINEAR -s 7"}),
        (
            "logistic", "free",
            {"LIBLINEAR -s 0", "LogisticRegression lbfgs", "LogisticRegression newton-cg"},
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("classes", [2, 3])
def test_every_program_that_knows_the_bias_reaches_the_optimum(loss, bias, programs, classes):
    compare = runpy.run_path(str(SCRIPT))
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) + 1.0
    labels = np.digitize(rows[:, 0] + rng.normal(size=60), np.arange(1, classes))
    examples, objective = Examples(dataset(rows, np.ones(60)), labels), Objective(loss, 1.0, bias)
    problems, found = (compare[name](examples, objective) for name in ("problems", "programs"))
    assert set(found) == programs
    duals = [fit.dual for fit in train(examples, objective, 1e-4).fits]
    for name, fit in found.items():
        assert compare["needed"](fit, problems, duals, 1e-3) is not None, name


def test_what_exceeds_its_share_is_shown_as_longer():
    done = subprocess.run(
        [sys.executable, "-c", SLOW], cwd=TABLE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "| fit | d | hinge | none | slow | over 1 | 0 |" in done.stdout
    assert "| fit | d | hinge | none | slow command | over 1 | 0 |" in done.stdout
