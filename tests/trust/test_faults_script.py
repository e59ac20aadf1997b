"""The script that makes faults works, and its promises hold in the small."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "faults.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def faults(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, cwd=SCRIPT.parent
    )


def test_a_sweep_that_is_killed_again_and_again_comes_to_the_same_numbers():
    done = faults("kills", "--smoke", "--times", "3", "--interval", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 3\n" in done.stdout
    assert "differences: none but times\n" in done.stdout
    assert "lost: 0\n" in done.stdout
