"""The script that makes faults works, and its promises hold in the small."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "trust" / "faults.py"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def faults(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, cwd=SCRIPT.parent
    )


@pytest.mark.slow
def test_a_sweep_that_is_killed_again_and_again_comes_to_the_same_numbers():
    done = faults("kills", "--smoke", "--times", "3", "--interval", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "faults: 3\n" in done.stdout
    assert "differences: none but times\n" in done.stdout
    assert "lost: 0\n" in done.stdout


def test_the_documentation_shows_commands_that_there_are(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    main = importlib.import_module("faults").main
    page = (SCRIPT.parents[2] / "docs" / "trust-faults.md").read_text()
    shown = re.findall(r"python scripts/trust/faults\.py ([^`\n]+)", page)
    assert {command.split()[0] for command in shown} == set(main.commands)
    for command in shown:
        result = CliRunner().invoke(main, [*command.split(), "--help"])
        assert result.exit_code == 0, result.output
