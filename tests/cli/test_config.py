"""``svmbench config``."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from svmbench.bundled import bundled
from svmbench.cli import main
from svmbench.config import dump_sweep, load_sweep


def output(*args):
    result = CliRunner().invoke(main, ["config", *args])
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_check_gives_both_bounds_of_a_rule_of_repeats(tmp_path):
    text = (bundled("configs") / "smoke.yaml").read_text()
    path = tmp_path / "rule.yaml"
    path.write_text(
        text.replace("repeats: 2", "repeats: {at_least: 3, until: decided, at_most: 9}")
    )
    counts = output("check", str(path)).partition("; ")[2]
    runs = int(counts.partition(" = ")[2].split()[0])
    assert " x 3 repeats = " in counts
    assert counts.endswith(f"; {3 * runs} at most, with 9 repeats if questions stay open\n")


def test_show_prints_a_configuration_that_means_the_same(tmp_path):
    sweep = load_sweep(bundled("configs") / "adult.yaml")
    shown = output("show", "adult")
    assert shown == dump_sweep(sweep)
    (tmp_path / "shown.yaml").write_text(shown)
    assert load_sweep(tmp_path / "shown.yaml") == sweep


@pytest.mark.parametrize("command", ["check", "show"])
def test_an_invalid_file_is_refused(command, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\nrepeats: 0\n")
    result = CliRunner().invoke(main, ["config", command, str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"svmbench: {path}:2:1: 'repeats' should be at least 1")


def test_configurations_are_read_without_docstrings(tmp_path):
    """As by `python -OO`."""
    path = tmp_path / "one.yaml"
    path.write_text(
        "version: 1\nname: one\ndatasets: [tiny-separable]\nlambda: [0.1]\nsolvers: [dcd]\n"
        "stop: {accuracy: [0.1], time_limit: 1.0}\n"
    )
    command = [sys.executable, "-OO", "-P", "-m", "svmbench", "config", "check", str(path)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
