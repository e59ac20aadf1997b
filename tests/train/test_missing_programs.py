"""Scripts that measure other programs say in one line which of them is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from svmbench.bundled import bundled

SCRIPTS = Path(__file__).parents[2] / "scripts" / "train"
ROWS = bundled("datasets") / "tiny" / "tiny-dense.libsvm"


@pytest.mark.parametrize("script", ["compare.py", "table.py"])
def test_a_missing_package_is_named(script):
    code = (
        "import runpy, sys\n"
        "sys.modules['liblinear'] = None\n"
        f"sys.path.insert(0, {str(SCRIPTS)!r})\n"
        f"runpy.run_path({str(SCRIPTS / script)!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ROWS],
        capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "liblinear is not installed; 'make .venv/.benching' installs it\n"


def test_a_missing_command_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPTS / "predictions.py", ROWS],
        capture_output=True, text=True, env=os.environ | {"PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("apt install liblinear-tools)")
