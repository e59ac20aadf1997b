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


def lines_of(*arguments):
    """What the script prints for one set; the test is skipped where the set is missing."""
    given = ["breast", "--lam", "1e-4", "--repeats", "1", "--most", "1", *arguments]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *given], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if "is not installed" not in line]
    if "left out" in lines[0]:
        pytest.skip(lines[0])
    return lines


def test_it_compares_all_methods(tmp_path):
    table = tmp_path / "table.md"
    lines = lines_of("--counts", "--out", str(table))
    assert table.read_text().splitlines() == lines[1:]
    heads, cells = ([cell.strip() for cell in lines[k].split("|")[1:-1]] for k in (1, 3))
    assert len(heads) == len(cells)
    row = dict(zip(heads, cells, strict=True))
    for method in ("choose", "newton", "dual", "dual-newton"):
        assert row[f"{method}, work"] == "-" or float(row[f"{method}, work"]) > 0.0
    assert float(row["auto over best own, work"]) >= 1.0
    assert lines[-1].startswith("auto over its best own, work: largest ")


def test_peers_take_turns_with_it():
    lines = lines_of("--peers", "linear-svc", "--minutes", "0.1")
    assert "linear-svc over auto" in lines[1]
    assert lines[-1].startswith("auto over its best own, seconds: largest ")


def test_a_peer_that_takes_too_long_or_never_gets_there_has_no_time(unseen):
    problem = unseen.Problem(unseen.separable(), 1e-4)
    assert unseen.of_peer("liblinear", problem, -1.0, 0, 8.0, 20.0) == (np.inf, np.inf)
    assert unseen.of_peer("liblinear", problem, 2.0, 0, np.inf, 0.0) == (np.inf, np.inf)
    seconds, horizon = unseen.of_peer("liblinear", problem, 2.0, 0, np.inf, 30.0)
    assert (0.0 < seconds < 30.0, horizon) == (True, 8.0)


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
