"""Rows merged or in another order: the same problem, certificate and model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import dataset, dense
from svmbench.data.derived import with_constant
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Problem
from svmbench.train import classes
from svmbench.train.arranged import MISPREDICTION, MOST_DIFFERENT, arranged, by_length, merged
from svmbench.train.classes import train
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


def test_equal_rows_are_trained_on_once():
    examples = drawn()
    fits = train(examples, Objective("logistic")).fits
    assert len(fits[0].alpha) == len(merged(examples, Objective("logistic")).labels) < 45


@pytest.mark.parametrize(
    "examples",
    [drawn(80), drawn(row_weights=np.full(90, 1e308))],
    ids=["few-are-equal", "sums-overflow"],
)
def test_other_rows_are_left_as_they_are(examples):
    assert merged(examples, Objective("logistic")) is examples


def test_what_auto_trains_on_is_left_as_it_is():
    examples = drawn()
    for bias in ("none", "regularised"):
        assert merged(examples, Objective(bias=bias)) is examples
        weighted = Examples(examples.rows, examples.labels, class_weights={1: 2.0})
        assert merged(weighted, Objective(bias=bias)) is not weighted
    assert merged(examples, Objective(bias="free")) is not examples


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


def test_a_start_of_other_rows_is_ignored():
    examples = drawn()
    hinge = train(examples, Objective())  # of all rows
    found = train(examples, Objective("logistic"), 1e-8, start=hinge)
    assert found.gap <= 1e-8
    again = train(examples, Objective("logistic"), 1e-8, start=found)
    assert again.fits[0].method == "start"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("storage", ["uint16+ones", "uint16+float32", "int32+float64"])
def test_rows_of_many_lengths_are_sorted_by_them(storage, weighted):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((200, 12)) < rng.random((200, 1)), rng.random((200, 12)) + 0.5, 0.0)
    labels = rng.integers(1, 4, size=200)
    weights = np.arange(1.0, 201.0) if weighted else None
    found = by_length(Examples(dataset(X, np.ones(200), storage), labels, weights))
    order = np.argsort((X != 0.0).sum(axis=1), kind="stable")
    assert np.array_equal(dense(found.rows), dense(dataset(X, np.ones(200), storage))[order])
    assert np.array_equal(found.labels, labels[order])
    if weighted:
        assert np.array_equal(found.row_weights, weights[order])
    assert by_length(found) is found


@pytest.mark.parametrize("storage", ["uint16+float64", "dense float64"])
def test_rows_of_few_lengths_or_long_ones_stay_in_their_order(storage):
    X = np.ones((60, 2 * MISPREDICTION))
    X[::2, 0] = 0.0
    examples = Examples(dataset(X, np.ones(60), storage), np.arange(60) % 2)
    assert by_length(examples) is examples


def test_rows_longer_than_the_longest_that_are_told_apart_are_sorted(monkeypatch):
    monkeypatch.setattr("svmbench.train.arranged._LONGEST", 3)
    X = np.tri(8)[[7, 1, 6, 0, 5, 2]]
    found = by_length(Examples(dataset(X, np.ones(6)), np.arange(6) % 2))
    assert dense(found.rows).sum(axis=1).tolist() == [1.0, 2.0, 8.0, 7.0, 6.0, 3.0]


def test_no_entries_stay_in_their_order():
    examples = Examples(dataset(np.zeros((4, 2)), np.ones(4)), np.arange(4) % 2)
    assert dense(by_length(examples).rows).sum() == 0.0


@pytest.mark.parametrize(("free", "kept"), [(100, True), (10**9, False), (None, False)])
def test_rows_that_memory_has_no_room_to_copy_stay_as_they_are(monkeypatch, free, kept):
    monkeypatch.setattr("svmbench.train.arranged.SMALL_BYTES", 0)
    monkeypatch.setattr("svmbench.train.arranged.available_memory", lambda: free)
    examples = drawn()
    assert (arranged(examples, Objective("logistic")) is examples) == kept
