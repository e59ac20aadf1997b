import numpy as np
import pytest

from problems import dataset, dense, labels
from svmbench import reference
from svmbench.problem import LOSSES, Loss, Problem
from svmbench.reference import certified_optimum


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))


def made(loss="hinge", lam=0.01, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.5)
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=80) > 0, 1, -1)
    return Problem(dataset(X, y), lam, Loss(loss, 0.5))


def forbid_work(monkeypatch):
    def forbidden(*_):
        raise AssertionError("the optimum was sought again")

    monkeypatch.setattr(reference, "_search", forbidden)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_holds_by_plain_arithmetic(loss):
    problem = made(loss)
    found = certified_optimum(problem, 1e-9, 30.0)
    assert found.gap <= 1e-9
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    nu, upper = {
        "hinge": (0.0, 1.0),
        "squared-hinge": (1.0, np.inf),
        "smoothed-hinge": (0.5, 1.0),
    }[loss]
    assert np.all((found.alpha >= 0.0) & (found.alpha <= upper))
    w_alpha = X.T @ (found.alpha * y) / (lam * len(y))
    dual = np.mean(found.alpha - nu * found.alpha**2 / 2) - lam / 2 * w_alpha @ w_alpha
    assert np.isclose(found.dual, dual, rtol=1e-12)
    short = np.maximum(0.0, 1.0 - y * (X @ found.w))
    losses = {
        "hinge": short,
        "squared-hinge": short**2 / 2,
        "smoothed-hinge": np.where(short >= 0.5, short - 0.25, short**2),
    }[loss]
    assert np.isclose(found.primal, lam / 2 * found.w @ found.w + losses.mean(), rtol=1e-12)


def test_a_good_enough_reference_is_not_sought_again(monkeypatch):
    first = certified_optimum(made(), 1e-8, 30.0)
    forbid_work(monkeypatch)
    again = certified_optimum(made(), 1e-7, 30.0)
    assert (again.primal, again.dual) == (first.primal, first.dual)


@pytest.mark.parametrize("change", [{"lam": 0.02}, {"loss": "squared-hinge"}])
def test_another_problem_has_another_reference(change, monkeypatch):
    certified_optimum(made(), 1e-8, 30.0)
    forbid_work(monkeypatch)
    with pytest.raises(AssertionError):
        certified_optimum(made(**change), 1e-8, 30.0)


def test_a_tighter_gap_is_sought(monkeypatch):
    certified_optimum(made(), 1e-3, 30.0)
    assert certified_optimum(made(), 1e-9, 30.0).gap <= 1e-9


def test_a_damaged_file_is_made_again(tmp_path):
    certified_optimum(made(), 1e-8, 30.0)
    (path,) = (tmp_path / "references").iterdir()
    path.write_bytes(path.read_bytes()[:200])
    assert certified_optimum(made(), 1e-8, 30.0).gap <= 1e-8


def test_a_stored_pair_is_certified_anew(tmp_path):
    good = certified_optimum(made(), 1e-8, 30.0)
    (path,) = (tmp_path / "references").iterdir()
    np.savez(path, schema_version=1, w=good.w, alpha=good.alpha * 0.5, seconds=0.0)
    found = certified_optimum(made(), 1e-8, 30.0)
    assert found.gap <= 1e-8
    assert np.isclose(found.dual, good.dual, rtol=1e-8)


def test_out_of_time_the_best_pair_is_returned_and_says_so():
    told = []
    # No pair has a gap below zero by more than rounding.
    found = certified_optimum(made(lam=1e-9), -1.0, 0.2, told.append)
    assert found.gap > -1.0
    assert found.dual <= found.primal * (1.0 + 1e-12)
    assert told[-1] == found.gap
    assert told == sorted(told, reverse=True)


def test_features_of_very_different_scales_are_certified(monkeypatch):
    # Coordinate descent alone does not come near here: raw, unscaled columns.
    monkeypatch.setattr(reference, "HEAD_START", 0.1)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 12)) * 10.0 ** rng.uniform(-2, 4, size=12)
    y = np.where(
        X @ (rng.normal(size=12) / np.abs(X).mean(axis=0)) + rng.normal(size=500) > 0, 1, -1
    )
    found = certified_optimum(Problem(dataset(X, y, "dense float64"), 1e-6), 1e-9, 30.0)
    assert found.gap <= 1e-9
