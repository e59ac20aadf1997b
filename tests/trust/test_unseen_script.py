"""The script that compares auto with its own methods runs, and makes the sets that it describes."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "champion" / "unseen.py"


@pytest.fixture(scope="module")
def unseen():
    spec = importlib.util.spec_from_file_location("unseen", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_compares_all_methods():
    arguments = ["breast", "--lam", "1e-4", "--repeats", "1", "--most", "1"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=True
    )
    first, last = done.stdout.splitlines()
    if "left out" in first:
        pytest.skip(first)
    for method in ("choose", "newton", "dual", "dual-newton"):
        assert f"{method} " in first
    assert last.startswith("largest ")


def test_generated_sets_are_as_described(unseen):
    skewed = unseen.skewed_scales()
    spread = np.ptp(np.log10(np.abs(skewed.values).max(axis=0)))
    assert 4.0 < spread < 7.0
    assert unseen.skewed_scales().values.tobytes() == skewed.values.tobytes()
    separable = unseen.separable()
    assert len(np.unique(separable.labels)) == 2
    w = np.linalg.lstsq(separable.values, separable.labels, rcond=None)[0]
    assert np.mean(separable.labels * (separable.values @ w) <= 0.0) < 0.05


def test_a_part_keeps_its_rows(unseen):
    X = np.zeros((3, 50))
    X[0, 1], X[1, 0], X[2, :2] = 2.0, 3.0, (4.0, 5.0)
    whole = unseen.sparse_set("s", X, np.ones(3))
    half = unseen.part(whole, "half", np.array([0, 2]))
    assert half.indptr.tolist() == [0, 1, 3]
    assert half.indices.tolist() == [1, 0, 1]
    assert half.values.tolist() == [2.0, 4.0, 5.0]
