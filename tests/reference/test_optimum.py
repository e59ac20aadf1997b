import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, has_both_classes, labels, scaled, with_class
from svmbench.engine import methods
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import Loss, Problem
from svmbench.reference import optimum as references
from svmbench.reference.optimum import certified_optimum
from twins import objective as twin
from twins.exact import exact_dual
from twins.optimum import optimum, variant

pytestmark = pytest.mark.usefixtures("own_cache")


def made(loss="hinge", lam=0.01, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.5)
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=80) > 0, 1, -1)
    return Problem(dataset(X, y), lam, Loss(loss, 0.5))


def forbid_work(monkeypatch):
    def forbidden(*_):
        raise AssertionError("the optimum was sought again")

    monkeypatch.setattr(references, "_search", forbidden)


@pytest.mark.parametrize("loss", HINGES)
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
    assert found.dual == pytest.approx(dual, rel=1e-12, abs=0.0)
    short = np.maximum(0.0, 1.0 - y * (X @ found.w))
    losses = {
        "hinge": short,
        "squared-hinge": short**2 / 2,
        "smoothed-hinge": np.where(short >= 0.5, short - 0.25, short**2),
    }[loss]
    primal = lam / 2 * found.w @ found.w + losses.mean()
    assert found.primal == pytest.approx(primal, rel=1e-12, abs=0.0)


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


def test_a_search_in_vain_is_not_made_twice(monkeypatch):
    # No pair has a gap below zero by more than rounding.
    first = certified_optimum(made(), -1.0, 0.3)
    with monkeypatch.context() as patched:
        forbid_work(patched)
        assert certified_optimum(made(), -1.0, 0.3).dual == first.dual
        assert certified_optimum(made(), -1.0, 0.2).dual == first.dual
        with pytest.raises(AssertionError, match="sought again"):
            certified_optimum(made(), -1.0, 0.4)
    assert certified_optimum(made(), -1.0, 0.4).gap <= first.gap


def test_a_damaged_file_is_made_again(own_cache):
    certified_optimum(made(), 1e-8, 30.0)
    (path,) = (own_cache / "references").iterdir()
    path.write_bytes(path.read_bytes()[:200])
    assert certified_optimum(made(), 1e-8, 30.0).gap <= 1e-8


def test_a_stored_pair_is_certified_anew(own_cache):
    good = certified_optimum(made(), 1e-8, 30.0)
    (path,) = (own_cache / "references").iterdir()
    np.savez(
        path,
        schema_version=references.SCHEMA_VERSION,
        w=good.w,
        bias=0.0,
        alpha=good.alpha * 0.5,
        seconds=0.0,
    )
    found = certified_optimum(made(), 1e-8, 30.0)
    assert found.gap <= 1e-8
    assert np.isclose(found.dual, good.dual, rtol=1e-8)


def test_out_of_time_the_best_pair_is_returned_and_says_so():
    told = []
    # No pair has a gap below zero by more than rounding.
    found = certified_optimum(made(lam=1e-9), -1.0, 0.2, told.append)
    assert found.gap > -1.0
    assert found.dual <= found.primal * (1.0 + 1e-12)
    assert told[-1] <= found.gap
    assert told == sorted(told, reverse=True)


def test_features_of_very_different_scales_are_certified(monkeypatch):
    # Coordinate descent alone does not come near here: raw, unscaled columns.
    monkeypatch.setattr(references, "HEAD_START", 0.1)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 12)) * 10.0 ** rng.uniform(-2, 4, size=12)
    y = np.where(
        X @ (rng.normal(size=12) / np.abs(X).mean(axis=0)) + rng.normal(size=500) > 0, 1, -1
    )
    found = certified_optimum(Problem(dataset(X, y, "dense float64"), 1e-6), 1e-9, 30.0)
    assert found.gap <= 1e-9


@pytest.mark.parametrize("radius", [np.inf, 1.0])
@pytest.mark.parametrize("scale", [1e14, 1e15, 1e16])
def test_the_lower_bound_of_huge_rows_is_no_more_than_its_alpha_proves(scale, radius):
    problem = Problem(scaled(60, scale), 1.0 / 60.0, l1_radius=radius)
    found = certified_optimum(problem, 1e-6, 1.0)
    assert 0.0 <= found.dual <= exact_dual(problem, found.alpha)
    again = certified_optimum(problem, 1e-6, 1.0)  # as read from disk
    assert (again.primal, again.dual, again.gap) == (found.primal, found.dual, found.gap)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_every_class_is_certified_with_few_features_and_with_many(
    few, loss, bias, constraint, monkeypatch
):
    for module in (methods, references):
        monkeypatch.setattr(module, "INTERIOR_FEATURES", 2000 if few else 5)
    monkeypatch.setattr(references, "FIRST_FEATURES", 3)
    problem = with_class(made(loss), loss, bias)
    if constraint == "l1":
        size = float(np.abs(optimum(problem).w).sum())
        # so small that a working set of at most five features holds all that have weights
        problem = with_class(problem, loss, bias, 0.3 * size)
    found = certified_optimum(problem, 1e-8, 30.0)
    assert found.gap <= 1e-8
    best = optimum(problem)
    assert found.primal >= best.lower * (1.0 - 1e-12)
    assert found.dual <= best.upper * (1.0 + 1e-12)
    X, y = dense(problem.data), labels(problem.data)
    P = twin.primal(X, y, problem.lam, problem.loss, found.w, found.bias)
    D = twin.dual(X, y, problem.lam, problem.loss, found.alpha, problem.l1_radius)
    assert found.primal == pytest.approx(P, rel=1e-12, abs=0.0)
    assert found.dual == pytest.approx(D, rel=1e-11, abs=0.0)
    assert problem.admits(found.w)
    assert (found.bias == 0.0) == (bias == "none")
    again = certified_optimum(problem, 1e-8, 30.0)
    assert again.w.tobytes() == found.w.tobytes()
    assert (again.bias, again.primal, again.dual) == (found.bias, found.primal, found.dual)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_edge_problems_have_references(name, constraint, bias, few, monkeypatch):
    for module in (methods, references):
        monkeypatch.setattr(module, "INTERIOR_FEATURES", 2000 if few else 1)
    if bias == "free" and not has_both_classes(PROBLEMS[name]):
        with pytest.raises(ValueError, match="one class only"):
            variant(PROBLEMS[name], "hinge", bias, constraint)
        return
    problem = variant(PROBLEMS[name], "hinge", bias, constraint)
    # a gap that is out of reach of the slowest way in so short a time need not be reached
    found = certified_optimum(problem, 1e-6, 5.0 if few or constraint == "none" else 0.3)
    best = optimum(problem)
    assert best.lower - 1e-12 <= found.primal < np.inf
    assert -np.inf < found.dual <= best.upper + 1e-12
    if few or constraint == "none":
        assert found.primal - found.dual <= 1e-6 * max(found.dual, 1e-3)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("bias", BIASES)
def test_without_any_time_the_bounds_are_valid_all_the_same(bias, constraint):
    problem = variant(PROBLEMS["sparse"], "hinge", bias, constraint)
    found = certified_optimum(problem, 1e-8, 0.0)
    best = optimum(problem)
    assert found.primal >= best.lower * (1.0 - 1e-12)
    assert 0.0 <= found.dual <= best.upper * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("loss", "bias", "radius"),
    [
        *(("hinge", "none", np.inf), ("hinge", "free", np.inf), ("hinge", "none", 1.0)),
        *(("squared-hinge", "none", np.inf), ("logistic", "none", np.inf)),
    ],
)
def test_nothing_is_said_of_overflow_within_a_search(loss, bias, radius):
    """Warnings are errors in these tests."""
    data = dataset([[1e300, 0.0], [-1e300, 1e300]], [1, -1], "dense float64")
    problem = Problem(data, 0.1, Loss(loss), bias, radius)
    assert certified_optimum(problem, 1e-5, 0.2).dual >= 0.0
