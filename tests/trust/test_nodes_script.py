"""The script that kills nodes works, and its promises hold in the small."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the extra cluster is not installed")

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "nodes.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.mark.parametrize("command", [("kills",), ("stops", "--longest", "3")])
def test_a_sweep_whose_nodes_are_disturbed_comes_to_the_same_numbers(command):
    words = [*command, "--smoke", "--times", "2", "--interval", "2"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, cwd=SCRIPT.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differences: none but times\n" in done.stdout
    assert "lost: 0\n" in done.stdout
    assert "doubled: 0\n" in done.stdout


def test_a_sweep_on_three_nodes_has_the_numbers_of_one_without_a_cluster():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "same", "--smoke"],
        capture_output=True,
        text=True,
        cwd=SCRIPT.parent,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differences: none but times\n" in done.stdout
    assert "processor time of all: " in done.stdout
