"""Rows merged or in another order: the same problem, certificate and model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import dataset
from svmbench.data.derived import with_constant
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Problem
from svmbench.train import classes
from svmbench.train.classes import MOST_DIFFERENT, merged, train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.path import grid, path

BIASES = ("none", "regularised", "free")


def drawn(distinct=20, m=90, k=2, seed=0, **weights):
    """Examples whose rows and labels are drawn from a few, in any order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(distinct, 4)) * (rng.random((distinct, 4)) < 0.7)
    labels = np.arange(distinct) % k
    X[:, 0] += labels
    # Each class is there, and some rows are in two classes.
    chosen = np.append(np.arange(k), rng.integers(0, distinct, size=m - k))
    of_row = np.where(rng.random(m) < 0.1, rng.integers(0, k, size=m), labels[chosen])
    of_row[:k] = np.arange(k)
    return Examples(dataset(X[chosen], np.ones(m), "uint16+float64"), of_row, **weights)


def as_given(monkeypatch):
    monkeypatch.setattr(classes, "arranged", lambda examples, objective: examples)


@given(st.integers(2, 20), st.integers(2, 4), st.integers(0, 999), st.booleans())
def test_a_row_s_weight_is_the_sum_of_those_of_its_equals(distinct, k, seed, weighted):
    given_ = drawn(max(distinct, k), 90, k, seed)
    weights = np.random.default_rng(seed).integers(1, 5, size=90) / 4.0
    examples = Examples(given_.rows, given_.labels, weights if weighted else None)
    found = merged(examples, Objective("logistic"))
    if found is examples:
        return
    assert len(found.labels) <= MOST_DIFFERENT * len(examples.labels)
    expected, result = {}, {}
    for sums, each in ((expected, examples), (result, found)):
        indptr, rows = each.rows.indptr, each.rows
        counts = np.ones(len(each.labels)) if each.row_weights is None else each.row_weights
        for i, (label, count) in enumerate(zip(each.labels, counts, strict=True)):
            part = slice(indptr[i], indptr[i + 1])
            key = label, rows.indices[part].tobytes(), rows.values[part].tobytes()
            sums[key] = sums.get(key, 0.0) + count
    assert result == expected
    assert len(result) == len(found.labels)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@pytest.mark.parametrize("weights", ["none", "rows", "classes"])
def test_the_certificate_is_that_of_all_rows(monkeypatch, loss, bias, k, weights):
    kinds = {
        "none": {},
        "rows": {"row_weights": np.random.default_rng(1).exponential(size=90) + 0.1},
        "classes": {"class_weights": {1: 3.0}},
    }
    examples, objective = drawn(k=k, **kinds[weights]), Objective(loss, 0.5, bias)
    found = train(examples, objective, 1e-9)
    as_given(monkeypatch)
    tight = train(examples, objective, 1e-9)
    for label, one, other in zip(found.model.labels, found.fits, tight.fits, strict=False):
        rows, counts = examples.against_rest(label)
        if bias == "regularised":
            rows = with_constant(rows, 1.0)
        C = objective.C
        if counts is not None:
            C, counts = C * counts.mean(), counts / counts.mean()
        lam = Objective(loss, C, bias).regularisation(90)
        kind = "free" if bias == "free" else "none"
        whole = Problem(rows, lam, objective.as_loss(), kind, row_weights=counts)
        assert one.primal == pytest.approx(whole.primal(one.w, one.bias), rel=1e-12)
        assert one.lam == pytest.approx(other.lam, rel=1e-15)
        assert one.dual <= other.primal
        assert other.dual <= one.primal
        assert one.gap <= 1e-9


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_path_of_arranged_rows_begins_each_fit_from_the_last(monkeypatch, loss):
    examples, objective = drawn(), Objective(loss, bias="free")
    values = grid(examples, objective)
    ways = [list(path(examples, objective, values, 1e-6))]
    as_given(monkeypatch)
    ways.append(list(path(examples, objective, values, 1e-6)))
    assert len(ways[0]) == len(ways[1])
    for one, other in zip(*ways, strict=True):
        assert one.fits[0].dual <= other.fits[0].primal
        assert other.fits[0].dual <= one.fits[0].primal
        assert one.gap <= 1e-6
