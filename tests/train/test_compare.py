"""The script that times programs side by side, in small."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from svmbench.bundled import bundled

pytest.importorskip("liblinear")
SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "compare.py"
TABLE = SCRIPT.with_name("table.py")

SLOW = """
import sys, time
from functools import partial
from table import Entry, _command, measure, table
slow = Entry("fit", "d", "hinge", "slow", lambda limit: time.sleep(60))
wait = [sys.executable, "-c", "import time; time.sleep(60)"]
command = Entry("fit", "d", "hinge", "slow command", partial(_command, wait))
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
    found = {(line[0].strip("| "), line[3].split(",")[0]) for line in lines}
    assert {("text", "svmbench train"), ("fit", "svmbench"), ("C", "svmbench --cv")} <= found
    assert {("fit", "LIBLINEAR -s 1"), ("fit", "LIBLINEAR -s 2"), ("fit", "LinearSVC")} <= found
    assert {("C", "LIBLINEAR -C -v 5 -s 2"), ("C", "GridSearchCV(LinearSVC)")} <= found
    ours = {line[0]: line[6] for line in lines if line[3].startswith("svmbench")}
    assert set(ours.values()) == {"1.0 |"}


def test_what_exceeds_its_share_is_shown_as_longer():
    done = subprocess.run(
        [sys.executable, "-c", SLOW], cwd=TABLE.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "| fit | d | hinge | slow | over 1 | 0 |" in done.stdout
    assert "| fit | d | hinge | slow command | over 1 | 0 |" in done.stdout
