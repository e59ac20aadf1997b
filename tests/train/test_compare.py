"""The script that times programs side by side, in small."""

import subprocess
import sys
from pathlib import Path

import pytest

from svmbench.bundled import bundled

pytest.importorskip("liblinear")
SCRIPT = Path(__file__).parents[2] / "scripts" / "train" / "compare.py"


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
