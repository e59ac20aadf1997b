"""Training of one or several classes: where it runs, and how it ends early."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from problems import dataset
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.train import classes
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective


def examples(k):
    rng = np.random.default_rng(0)
    labels = np.arange(60) % k
    X = rng.normal(size=(60, 4)) + labels[:, None]
    return Examples(dataset(X, np.ones(60), "dense float64"), labels)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("bias", ["none", "regularised", "free"])
def test_very_many_empty_columns_are_left_out_of_training(monkeypatch, k, bias):
    columns, far = np.array([5, 70_000, 4_000_000]), 5_000_000
    rng = np.random.default_rng(2)
    labels = np.arange(60) % k
    X = rng.normal(size=(60, 3)) + labels[:, None]
    few = dataset(X, np.ones(60), "uint16+float64")
    numbers = columns[few.indices].astype(np.int32)
    wide = replace(few, n_features=far, indices=numbers)
    lengths, fitted = set(), classes.fit

    def noted(problem, *rest, **how):
        lengths.add(problem.data.n_features)
        return fitted(problem, *rest, **how)

    monkeypatch.setattr(classes, "fit", noted)
    objective = Objective(C=0.1, bias=bias)
    of_few, of_wide = (train(Examples(rows, labels), objective) for rows in (few, wide))
    assert lengths == {3 + (bias == "regularised")}
    weights = of_wide.model.weights
    assert weights.shape == (1 if k == 2 else 3, far)
    assert np.array_equal(weights[:, columns], of_few.model.weights)
    assert np.count_nonzero(weights) == np.count_nonzero(of_few.model.weights)
    assert np.array_equal(of_wide.model.biases, of_few.model.biases)
    assert [each.dual for each in of_wide.fits] == [each.dual for each in of_few.fits]
    # A path begins each fit from the one before.
    again = train(Examples(wide, labels), replace(objective, C=0.2), start=of_wide)
    assert again.gap <= 1e-4


def test_an_error_in_one_thread_gives_up_the_others(monkeypatch):
    began, ended = threading.Event(), []

    def fails(problem, tolerance, effort, **options):
        if problem.data.labels[0] == 1:
            began.wait(5.0)
            raise KeyboardInterrupt
        began.set()
        try:
            return fit(problem, 1e-15, Effort(given_up=lambda: _waited(effort.given_up)))
        finally:
            ended.append(effort.given_up())

    def _waited(given_up):
        for _ in range(500):
            if given_up():
                return True
            threading.Event().wait(0.01)
        return False

    monkeypatch.setattr(classes, "fit", fails)
    with pytest.raises(KeyboardInterrupt):
        train(examples(3), Objective("squared-hinge", 1e6), effort=Effort(threads=3))
    assert ended
    assert all(ended)
