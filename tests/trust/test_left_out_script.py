"""The script that chooses the constants of auto without a set changes and restores them."""

import argparse
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "champion" / "left_out.py"


@pytest.fixture(scope="module")
def left_out():
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("left_out", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(SCRIPT.parent))
    return module


@pytest.fixture
def pretended(left_out, monkeypatch):
    """Sets on which one constant halves every time but on c, where it doubles it."""
    given = argparse.Namespace(sets=[], lam=[], margin=0.02, most=1.0)
    sets = left_out.Sets(given)
    sets.problems = {(name, 1e-4): None for name in "abc"}
    gains = {"a": {"PASSES_A_STEP": 0.5}, "b": {"PASSES_A_STEP": 0.5}, "c": {"PASSES_A_STEP": 9.0}}

    def ratio(where, change):
        found = 1.0
        for name, _ in change:
            found *= gains[where[0]].get(name, 1.0)
        return found

    monkeypatch.setattr(sets, "ratio", ratio)
    return sets


def test_constants_are_changed_for_a_run_only(left_out):
    before = [constant.present for constant in left_out.CONSTANTS]
    with left_out.with_values({"SLOWING": 7.0}):
        assert left_out.choice.SLOWING == 7.0
        changed = [constant.present for constant in left_out.CONSTANTS]
        assert sum(a != b for a, b in zip(before, changed, strict=True)) == 1
    assert [constant.present for constant in left_out.CONSTANTS] == before


def test_no_constant_has_a_value_twice(left_out):
    names = [constant.name for constant in left_out.CONSTANTS]
    assert len(set(names)) == len(names)
    for constant in left_out.CONSTANTS:
        assert constant.present not in constant.others, constant.name


def test_a_set_has_no_say_in_its_own_constants(left_out, pretended):
    assert [name for name, _ in pretended.chosen("c")] == ["PASSES_A_STEP"]
    assert pretended.chosen("a") == left_out.only()
    assert pretended.chosen("b") == left_out.only()


@pytest.mark.usefixtures("real_data")
def test_it_prints_both_tables(tmp_path):
    table = tmp_path / "table.md"
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "heart_scale", "--lam", "1e-4", "--repeats", "1",
         "--out", str(table)], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert table.read_text() in done.stdout
    assert "| `SLOWING` = 2 | 1: " in done.stdout
    # No other set has a say, so nothing is changed.
    assert "| heart_scale | as they are | 0.0001: 1.00 |" in done.stdout


def test_the_page_has_every_constant_with_its_value_and_the_others_tried(left_out):
    page = (SCRIPT.parents[2] / "docs" / "champion-constants.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` = (\S+) \| [^|]+ \| (\S+): [^;|]+; (\S+): ", page, re.MULTILINE)
    assert {name: tuple(map(float, values)) for name, *values in rows} == {
        constant.name: (pytest.approx(constant.present, abs=5e-4), *constant.others)
        for constant in left_out.CONSTANTS
    }
    assert len(rows) == len(left_out.CONSTANTS)
