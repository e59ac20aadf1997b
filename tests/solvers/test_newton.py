"""newton: the certified optima of both losses, and one step of `smooth.newton` at a time."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from problems import PROBLEMS, at_start, has_both_classes, with_class
from svmbench.config.files import load_sweep
from svmbench.errors import ConfigError
from svmbench.names import BIASES
from svmbench.problem import relative_gap
from svmbench.solvers.second_order import newton as module
from svmbench.solvers.second_order import smooth
from svmbench.solvers.second_order.newton import Newton
from twins.optimum import optimum

started = partial(at_start, Newton)
every_loss = pytest.mark.parametrize("loss", smooth.LOSSES)


def gap_of(problem, run):
    return relative_gap(problem.primal(run.w, run.bias), run.dual())


@every_loss
@pytest.mark.parametrize(
    ("name", "bias"),
    [
        (name, bias)
        for name, problem in PROBLEMS.items()
        for bias in BIASES
        if bias == "none" or has_both_classes(problem)
    ],
)
def test_stops_at_a_certified_gap_and_near_an_independent_optimum(name, bias, loss):
    problem = with_class(PROBLEMS[name], loss, bias)
    run, best = started(problem, tolerance=1e-8), optimum(problem)
    run.halts = True
    run.advance(100)
    assert run.stopped
    assert gap_of(problem, run) <= 1e-8
    assert problem.feasible(run.alpha)
    assert run.dual() <= best.upper * (1.0 + 1e-12)
    assert problem.primal(run.w, run.bias) <= best.upper * (1.0 + 2e-8)
    # lam/2 ||w - w*||^2 is at most what P exceeds P* by.
    np.testing.assert_allclose(run.w, best.w, rtol=0.0, atol=2e-3)


def test_a_gap_that_problem_denies_is_no_reason_to_stop(monkeypatch):
    monkeypatch.setattr(module, "relative_gap", lambda primal, dual: math.inf)
    run = started(with_class(PROBLEMS["sparse"], "logistic"))
    run.advance(100)
    assert run.exhausted
    assert not run.stopped


@pytest.mark.parametrize(
    ("problem", "refused"),
    [
        ("loss: hinge", "loss hinge, only logistic, squared-hinge"),
        ("loss: squared-hinge\nconstraint: {l1: 1.0}", "constraint l1, only none"),
    ],
)
def test_other_problems_are_refused(problem, refused, tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text(
        f"version: 1\nname: refused\ndatasets: [tiny-sparse]\nlambda: 1e-3\n{problem}\n"
        "solvers: [newton]\nstop: {max_epochs: 1}\n"
    )
    with pytest.raises(ConfigError, match=f"newton cannot train the {refused}; drop"):
        load_sweep(path)
