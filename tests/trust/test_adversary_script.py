"""The script that draws problems to make auto choose badly runs, and a seed gives its problems."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "champion" / "adversary.py"


@pytest.fixture
def adversary(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    return importlib.import_module("adversary")


def test_a_seed_gives_the_same_problem_of_each_kind_and_another_seed_another(
    adversary, monkeypatch
):
    monkeypatch.setattr(adversary, "ROWS", (500.0, 600.0))
    for kind, make in enumerate(adversary.KINDS):
        first, again, other = (adversary.drawn(kind, seed) for seed in (1, 1, 2))
        assert first.data.name == make.__name__.replace("_", " ")
        assert (first.lam, first.data.nnz) == (again.lam, again.data.nnz)
        assert np.array_equal(first.data.labels, again.data.labels)
        assert (first.lam, first.data.nnz) != (other.lam, other.data.nnz)
        assert 1e-7 <= first.lam <= 1e-3
        assert 500 <= first.data.n_samples <= 3000  # wide problems have their own sizes


def test_it_compares_all_methods(tmp_path):
    table = tmp_path / "table.md"
    command = [sys.executable, str(SCRIPT), "2", "--kinds", "skewed", "--repeats", "1"]
    done = subprocess.run(
        [*command, "--out", str(table)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines[0].split("|")) == len(lines[2].split("|"))
    assert lines[2].startswith("| skewed scales, 2 | ")
    assert any(line.startswith("auto over its best own, work: median 1.") for line in lines)
    assert [line for line in table.read_text().splitlines() if line] == [
        line for line in lines if line
    ]
