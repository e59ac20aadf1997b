"""sdca against its twin, dcd without shrinking, and what the theory says of its iterates."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    all_losses,
    assert_close,
    at_start,
    dense,
    dyadic_problems,
    every_precision,
    every_problem,
    labels,
    ordinary_problems,
    with_loss,
)
from svmbench.errors import ConfigError
from svmbench.names import HINGES, LOSSES
from svmbench.problem import Loss, Problem
from svmbench.solvers.checked import checked, names_of
from svmbench.solvers.dual.dcd import Dcd, DcdParameters
from svmbench.solvers.dual.sdca import Sdca, SdcaParameters
from twins import objective
from twins.iterates import chosen, output
from twins.optimum import optimum
from twins.sdca import Sdca as Twin

ACCURACY = {"float64": 1e-6, "float32": 1e-4}
SAMPLINGS = ("random", "perm", "fixed", "cyclic")
OUTPUTS = ("last", "average", "random")
WITH_HORIZON = ("average", "random")
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_hinge = pytest.mark.parametrize("loss", HINGES)
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS)
started = partial(at_start, Sdca)


def twin_of(problem, seed=1, sampling="random"):
    X, y = dense(problem.data), labels(problem.data)
    return Twin(X, y, problem.lam, problem.loss, seed, sampling)


def shown(plain, kind, steps, seed, part):
    """The output that the twin's iterates give: part 0 of w, 1 of alpha."""
    iterates, last = [pair[part] for pair in plain.iterates], (plain.w, plain.alpha)[part]
    kind = {"average": "mean"}.get(kind, kind)
    return output(iterates, last, kind, steps, seed, steps // 2)


@every_sampling
@every_loss
@every_problem
def test_equals_its_twin(name, loss, sampling):
    problem, seed = with_loss(PROBLEMS[name], loss), 31
    steps = 3 * problem.data.n_samples + 1
    horizon = {"epochs": steps / problem.data.n_samples}
    runs = {
        kind: started(
            problem, seed, sampling=sampling, output=kind, **horizon if kind in WITH_HORIZON else {}
        )
        for kind in OUTPUTS
    }
    plain = twin_of(problem, seed, sampling)
    size = 1.0 + np.max(np.abs(plain.X)) / problem.lam
    for step in range(1, steps + 4):
        plain.step()
        for kind, run in runs.items():
            run.advance(1)
            assert (run.counters.presentations, run.counters.updates) == (step, plain.updates), kind
            w, alpha = (shown(plain, kind, steps, seed, part) for part in (0, 1))
            assert_close(run.alpha, alpha, rtol=0.0, atol=1e-12, err_msg=kind)
            assert_close(run.w, w, rtol=0.0, atol=1e-12 * size, err_msg=kind)


@every_precision
@every_loss
@every_problem
def test_perm_is_dcd_without_shrinking_bit_for_bit(name, loss, precision):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 12, sampling="perm", precision=precision)
    other = Dcd(DcdParameters(shrinking=False, precision=precision))
    other.start(problem, 12)
    for steps in [1] * 150 + [1000]:
        run.advance(steps)
        other.advance(steps)
        assert run.alpha.tobytes() == other.alpha.tobytes()
        assert run.w.tobytes() == other.w.tobytes()
        for count in ("presentations", "updates", "nonzeros"):
            assert getattr(run.counters, count) == getattr(other.counters, count)


@every_sampling
@given(problem=dyadic_problems(), loss=all_losses, seed=st.integers(0, 2**64 - 1))
def test_invariants(sampling, problem, loss, seed):
    problem = Problem(problem.data, problem.lam, loss)
    best = optimum(problem)
    run = started(problem, seed, sampling=sampling)
    X, y = dense(problem.data), labels(problem.data)
    last = problem.dual(run.alpha)
    for _ in range(40):
        run.advance(1 + seed % 3)
        alpha = run.alpha
        assert np.all(alpha >= 0.0)
        assert np.all(alpha <= objective.upper_bound(loss))
        expected = objective.weights(X, y, problem.lam, alpha)
        size = 1.0 + np.max(np.abs(X)) * np.max(alpha) / problem.lam
        assert_close(run.w, expected, rtol=0.0, atol=1e-13 * size)
        dual = run.dual()
        assert dual >= last - 1e-13 * (1.0 + abs(last))
        assert dual <= best.upper * (1.0 + 1e-9)
        last = dual


@every_sampling
@given(
    problem=dyadic_problems(),
    loss=all_losses,
    seed=st.integers(0, 2**64 - 1),
    epochs=st.floats(0.1, 9.0),
)
def test_the_mean_is_feasible_and_certifies_itself(sampling, problem, loss, seed, epochs):
    problem = Problem(problem.data, problem.lam, loss)
    m = problem.data.n_samples
    steps = math.ceil(epochs * m)
    mean = started(problem, seed, sampling=sampling, output="average", epochs=epochs)
    mean.advance(steps)
    last = started(problem, seed, sampling=sampling)
    last.advance(steps // 2)
    iterates = []
    for _ in range(steps - steps // 2):
        iterates.append((last.w, last.alpha, last.dual()))
        last.advance(1)
    ws, alphas, duals = (np.array(part) for part in zip(*iterates, strict=True))
    alpha = mean.alpha
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= objective.upper_bound(loss))
    assert_close(alpha, alphas.mean(axis=0), rtol=1e-12, atol=1e-12)
    size = 1.0 + np.abs(ws).max()
    assert_close(mean.w, ws.mean(axis=0), rtol=0.0, atol=1e-12 * size)
    assert_close(mean.w, problem.weights(alpha), rtol=0.0, atol=1e-12 * size)
    # D is concave; what certifies the mean is a true bound all the same.
    dual = mean.dual()
    assert dual >= duals.mean() - 1e-12 * (1.0 + abs(duals.mean()))
    assert dual <= optimum(problem).upper * (1.0 + 1e-9)


@every_hinge
def test_rounding_in_the_sum_does_not_make_the_mean_infeasible(loss):
    run = started(with_loss(PROBLEMS["overlapping"], loss), output="average", epochs=4.0)
    run.advance(200)
    alpha = run.alpha
    assert (alpha == 0.0).any()
    assert (alpha == 1.0).any() or loss == "squared-hinge"
    for drift in (1e-13, -1e-13):  # as if many roundings had gone one way
        run._kernel.beta[:] += drift
        assert np.all(run.alpha >= 0.0)
        assert np.all(run.alpha <= objective.upper_bound(run._problem.loss))
        assert run.dual() == pytest.approx(run._problem.dual(alpha), rel=1e-12)
        run._kernel.beta[:] -= drift


@every_precision
@every_sampling
def test_the_random_iterate_is_one_of_the_second_half_of_the_same_run(sampling, precision):
    problem = PROBLEMS["overlapping"]
    picked = set()
    for seed in range(12):
        run = started(
            problem, seed, sampling=sampling, precision=precision, output="random", epochs=4.0
        )
        last = started(problem, seed, sampling=sampling, precision=precision)
        step = chosen(seed, 100, 200)
        picked.add(step)
        last.advance(step)
        for steps in (200, 300):  # kept, however far the run goes on
            run.advance(steps)
            assert run.w.tobytes() == last.w.tobytes()
            assert run.alpha.tobytes() == last.alpha.tobytes()
            assert run.dual() == last.dual()
    assert 100 <= min(picked) < 125
    assert 175 < max(picked) < 200


def test_orders():
    rows = {}
    for sampling in SAMPLINGS:
        plain = twin_of(PROBLEMS["overlapping"], 2, sampling)
        for _ in range(100):
            plain.step()
        rows[sampling] = plain.picked
    everyone = list(range(50))
    assert rows["cyclic"] == everyone * 2
    assert sorted(rows["perm"][:50]) == sorted(rows["perm"][50:]) == everyone
    assert rows["perm"][:50] != rows["perm"][50:]
    assert rows["fixed"][:50] == rows["fixed"][50:]
    assert sorted(rows["fixed"][:50]) == everyone
    assert rows["fixed"][:50] != everyone
    assert sorted(rows["random"][:50]) != everyone


@every_sampling
def test_a_mean_can_begin_at_any_step(sampling):
    problem = PROBLEMS["sparse"]
    run = started(problem, 9, sampling=sampling, output="average", begin=77)
    plain = twin_of(problem, 9, sampling)
    assert run.horizon == "none"
    for step in range(1, 150):
        run.advance(1)
        plain.step()
        for found, part in ((run.w, 0), (run.alpha, 1)):
            expected = [pair[part] for pair in plain.iterates[77:]] or [
                (plain.w, plain.alpha)[part]
            ]
            assert_close(found, np.mean(expected, axis=0), rtol=0.0, atol=1e-11, err_msg=str(step))


@pytest.mark.parametrize(
    "bad", [{"begin": 3}, {"begin": 3, "output": "random"}, {"begin": -1, "output": "average"}]
)
def test_a_beginning_without_a_mean_is_refused(bad):
    with pytest.raises(ValueError, match="begin"):
        checked(SdcaParameters, bad)


def test_a_mean_has_one_beginning():
    with pytest.raises(ValueError, match="leave one of them out"):
        checked(SdcaParameters, {"output": "average", "begin": 3, "epochs": 2.0})


@every_precision
@every_sampling
@every_loss
@pytest.mark.parametrize("name", ordinary_problems())
def test_reaches_its_stated_accuracy(name, loss, sampling, precision):
    problem = with_loss(PROBLEMS[name], loss)
    best = optimum(problem)
    allowed = ACCURACY[precision] * best.lower
    for kind, horizon in (("last", {}), ("average", {"epochs": 2000.0})):
        run = started(problem, sampling=sampling, precision=precision, output=kind, **horizon)
        run.advance(2000 * problem.data.n_samples)
        assert problem.primal(run.w) - best.lower <= allowed
        assert best.upper - run.dual() <= allowed
        assert problem.gap(run.w, run.alpha) <= allowed


@every_precision
@every_loss
def test_a_mean_in_float32_is_that_of_its_iterates(loss, precision):
    problem = with_loss(PROBLEMS["sparse"], loss)
    mean = started(problem, precision=precision, output="average", epochs=20.0)
    mean.advance(1200)
    last = started(problem, precision=precision)
    last.advance(600)
    iterates = []
    for _ in range(600):
        iterates.append((last.w, last.alpha))
        last.advance(1)
    tolerance = {"float64": 1e-12, "float32": 1e-5}[precision]
    for found, kept in zip((mean.w, mean.alpha), zip(*iterates, strict=True), strict=True):
        assert_close(found, np.mean(kept, axis=0), rtol=0.0, atol=tolerance)


@pytest.mark.parametrize(
    ("loss", "gamma", "expected"),
    [
        ("hinge", 1.0, 1.0),
        ("squared-hinge", 1.0, 1.0),
        ("smoothed-hinge", 0.5, 1.0),
        ("smoothed-hinge", 4.0, 0.25),
    ],
)
def test_zero_rows_have_their_best_alpha_from_the_start(loss, gamma, expected):
    for name in ("zero-rows", "only-zero-rows"):
        problem = with_loss(PROBLEMS[name], loss, gamma)
        zero = ~np.any(dense(problem.data) != 0.0, axis=1)
        for kind, horizon in (("last", {}), ("average", {"epochs": 2.0})):
            run = started(problem, output=kind, **horizon)
            for _ in range(2):
                assert run.alpha[zero].tolist() == [expected] * np.sum(zero)
                run.advance(2 * problem.data.n_samples)
    assert not run.w.any()
    assert run.counters.presentations == 16
    assert (run.counters.updates, run.counters.nonzeros) == (0, 0)
    assert problem.gap(run.w, run.alpha) == 0.0


def test_the_width_of_the_smoothed_hinge_matters():
    duals = set()
    for gamma in (0.25, 1.0, 3.0):
        problem = Problem(PROBLEMS["sparse"].data, 2.0**-6, Loss("smoothed-hinge", gamma))
        run = started(problem)
        run.advance(1000 * problem.data.n_samples)
        assert problem.gap(run.w, run.alpha) <= 1e-9
        duals.add(round(run.dual(), 6))
    assert len(duals) == 3


def test_the_horizon_follows_from_the_output():
    for kind in OUTPUTS:
        run = Sdca(SdcaParameters(output=kind))
        assert run.horizon == ("steps" if kind in WITH_HORIZON else "none")
    assert Sdca.horizon_parameter in names_of(SdcaParameters)


@pytest.mark.parametrize("kind", WITH_HORIZON)
def test_an_output_of_a_run_of_unknown_length_is_refused(kind):
    run = Sdca(SdcaParameters(output=kind))
    with pytest.raises(ConfigError, match=f"sdca: output {kind} .*set 'epochs'"):
        run.start(PROBLEMS["sparse"], 0)


def test_epochs_without_a_use_are_refused():
    with pytest.raises(ValueError, match="'epochs' is for output average or random, not last"):
        checked(SdcaParameters, {"epochs": 2.0})
