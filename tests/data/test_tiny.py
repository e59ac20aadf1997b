"""The tiny sets are what their script makes, and what their descriptions say."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from svmbench.bundled import bundled
from svmbench.data.libsvm import read_libsvm

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_tiny.py"
TINY = bundled("datasets") / "tiny"


@pytest.fixture(scope="module")
def script():
    """scripts/make_tiny.py as a module."""
    spec = importlib.util.spec_from_file_location("make_tiny", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_are_made_anew_byte_for_byte(script):
    made = script.contents()
    assert {path.name for path in TINY.glob("*.libsvm")} == set(made)
    for name, content in made.items():
        assert (TINY / name).read_bytes() == content, name
        assert len(content) < 100_000


def test_script_writes_where_it_is_told(script, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make_tiny.py", str(tmp_path / "out")])
    script.main()
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert written == script.contents()


def test_sparse_rows_have_unit_norm_or_none():
    data = read_libsvm(TINY / "tiny-sparse.libsvm")
    norms = np.sqrt(data.rows.norms2())
    assert np.count_nonzero(norms == 0.0) == 8
    assert norms[norms > 0.0] == pytest.approx(1.0, abs=1e-3)


def test_separable_rows_are_separable_and_dyadic():
    data = read_libsvm(TINY / "tiny-separable.libsvm")
    assert all(Fraction(float(v)) * 16 == round(float(v) * 16) for v in data.values)
    rows = np.array([data.rows.dot(column) for column in np.eye(20)]).T
    signed = rows * data.labels[:, None]
    w = np.zeros(20)  # the perceptron ends exactly when a hyperplane through 0 separates
    for _ in range(1000):
        wrong = np.flatnonzero(signed @ w <= 0.0)
        if len(wrong) == 0:
            break
        w += signed[wrong].sum(axis=0)
    assert np.all(signed @ w > 0.0)


@pytest.mark.parametrize("name", ["tiny-sparse", "tiny-dense"])
def test_labels_follow_from_the_rows_but_not_wholly(name):
    train = read_libsvm(TINY / f"{name}.libsvm")
    test = read_libsvm(TINY / f"{name}.t.libsvm", n_features=train.n_features)
    X, Z = (
        np.array([data.rows.dot(column) for column in np.eye(train.n_features)]).T
        for data in (train, test)
    )
    ridge = X.T @ X + np.eye(train.n_features)
    w = np.linalg.solve(ridge, X.T @ train.labels)
    share = np.mean(np.sign(Z @ w) == test.labels)
    most = max(np.mean(test.labels == 1), np.mean(test.labels == -1))
    assert most < share < 1.0
