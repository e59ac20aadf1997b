"""pegasos's options: batches, orders, projection and outputs, alone and together."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PRECISIONS,
    PROBLEMS,
    assert_close,
    at_start,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_precision,
    labels,
    ordinary_problems,
)
from svmbench.errors import ConfigError
from svmbench.kernels.pegasos import Pegasos as Kernel
from svmbench.kernels.pegasos_batch import PegasosBatch as BatchKernel
from svmbench.problem import Problem
from svmbench.solvers.checked import checked, names_of
from svmbench.solvers.stochastic.pegasos import Pegasos, PegasosParameters
from twins.iterates import chosen, output
from twins.pegasos_options import Pegasos as Twin

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
SAMPLINGS = ("iid", "without-replacement", "permuted", "fixed")
OUTPUTS = ("last", "average", "tail-average", "random")
WITH_HORIZON = ("tail-average", "random")
every_output = pytest.mark.parametrize("kind", OUTPUTS)
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS)
projection = pytest.mark.parametrize("project", [False, True])
started = partial(at_start, Pegasos)


def twin_of(problem, seed, **parameters):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, seed, **parameters)


def steps_of(sampling, m, batch, presentations):
    """Steps that reach a number of presentations: a permuted epoch ends with a short batch."""
    batch = min(batch, m)
    if sampling in ("iid", "without-replacement"):
        return math.ceil(presentations / batch)
    epochs, rest = divmod(presentations, m)
    return epochs * math.ceil(m / batch) + math.ceil(rest / batch)


def shown(plain, kind, steps, seed):
    """The output that the twin's iterates give."""
    if kind == "random":
        return output(plain.iterates, plain.w, "random", steps, seed)
    first = {"average": 0, "tail-average": steps // 2}.get(kind, 0)
    return output(plain.iterates, plain.w, "last" if kind == "last" else "mean", steps, 0, first)


@every_output
@every_sampling
@projection
@pytest.mark.parametrize("batch", [1, 3, 8, 1000])
def test_equals_its_twin_step_by_step(kind, sampling, project, batch):
    for name, epochs in (("sparse", 4.3), ("overlapping", 5.0), ("zero-rows", 12.7)):
        problem, seed = PROBLEMS[name], 17
        options = {"project": project, "batch": batch, "sampling": sampling}
        horizon = {"epochs": epochs} if kind in WITH_HORIZON else {}
        runs = {
            each: started(problem, seed, precision=each, output=kind, **options, **horizon)
            for each in PRECISIONS
        }
        plain = twin_of(problem, seed, **options)
        size = 1.0 / np.sqrt(problem.lam)
        m = problem.data.n_samples
        steps = steps_of(sampling, m, batch, math.ceil(epochs * m))
        for _ in range(steps + 2):  # and a little further
            plain.step()
            expected = shown(plain, kind, steps, seed)
            for precision, run in runs.items():
                run.advance(1)
                assert run.counters.presentations == plain.presentations
                assert run.counters.updates == plain.updates
                assert_close(run.w, expected, rtol=0.0, atol=TOLERANCE[precision] * size)
        norms = [np.linalg.norm(w) for w in plain.iterates[1:]]
        assert max(norms) <= (1.0 + 1e-12) * size or not project


@every_sampling
def test_but_for_iid_a_batch_holds_distinct_rows(sampling):
    # Row i is e_i with lam = 1, k = 5: after the first step, w_i = 1/5 for each time it was drawn.
    problem = Problem(dataset(np.eye(11), np.ones(11)), 1.0)
    largest = 0.0
    for seed in range(30):
        run = started(problem, seed, batch=5, sampling=sampling)
        run.advance(5)
        assert run.w.sum() == pytest.approx(1.0)
        largest = max(largest, run.w.max())
    assert (largest > 0.3) == (sampling == "iid")


@projection
@pytest.mark.parametrize("sampling", ["without-replacement", "permuted", "fixed"])
@pytest.mark.parametrize("name", [*ordinary_problems(), "one-row"])
def test_a_batch_of_all_rows_takes_full_subgradient_steps(name, sampling, project):
    problem = PROBLEMS[name]
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    m = len(y)
    run = started(problem, 3, batch=10**6, sampling=sampling, project=project)
    w = np.zeros(X.shape[1])
    for t in range(1, 101):
        w = (1.0 - 1.0 / t) * w + X.T @ (y * (y * (X @ w) < 1.0)) / (lam * t * m)
        if project:
            w /= max(1.0, np.linalg.norm(w) * np.sqrt(lam))
        run.advance(1)
        assert run.counters.presentations == t * m
        assert_close(run.w, w, rtol=0.0, atol=1e-11)


@every_precision
@given(
    dyadic_problems(),
    st.integers(0, 2**64 - 1),
    st.integers(1, 9),
    st.sampled_from(SAMPLINGS),
    st.sampled_from(["last", "average"]),
)
def test_projection_keeps_the_ball(precision, problem, seed, batch, sampling, kind):
    options = {"batch": batch, "sampling": sampling, "output": kind}
    run = started(problem, seed, precision=precision, project=True, **options)
    radius = 1.0 / np.sqrt(problem.lam)
    for _ in range(120):
        run.advance(1)
        assert np.linalg.norm(run.w) <= radius * (1.0 + TOLERANCE[precision])


@every_precision
@pytest.mark.parametrize("batch", [1, 3])
def test_means_are_those_of_the_iterates_of_the_same_run(precision, batch):
    # Against the solver's own last iterates rather than a twin's: to rounding in float32, too.
    problem = PROBLEMS["sparse"]
    last = started(problem, 4, precision=precision, batch=batch)
    steps = 60 * 7 // batch
    iterates = []
    for _ in range(steps):
        iterates.append(last.w)
        last.advance(1)
    size = np.abs(iterates).max()
    for kind, first, horizon in (
        ("average", 0, {}),
        ("tail-average", steps // 2, {"epochs": 7.0}),
    ):
        run = started(problem, 4, precision=precision, batch=batch, output=kind, **horizon)
        run.advance(60 * 7)
        assert_close(
            run.w, np.mean(iterates[first:], axis=0), rtol=0.0, atol=TOLERANCE[precision] * size
        )


@every_sampling
@pytest.mark.parametrize("batch", [1, 8])
def test_a_mean_can_begin_at_any_step(sampling, batch):
    problem = PROBLEMS["sparse"]
    options = {"batch": batch, "sampling": sampling}
    run = started(problem, 4, output="tail-average", begin=31, **options)
    plain = twin_of(problem, 4, **options)
    assert run.horizon == "none"
    for _ in range(80):
        plain.step()
        run.advance(1)
        assert run.counters.presentations == plain.presentations
        expected = np.mean(plain.iterates[31:], axis=0) if len(plain.iterates) > 31 else plain.w
        assert_close(run.w, expected, rtol=0.0, atol=1e-10 / problem.lam)


@every_precision
def test_the_random_iterate_is_one_of_the_same_run(precision):
    problem = PROBLEMS["sparse"]
    last = started(problem, 4, precision=precision)
    iterates = []
    for _ in range(180):
        iterates.append(last.w)
        last.advance(1)
    picked = set()
    for seed in (4, *range(40)):
        picked.add(chosen(seed, 0, 180))
    assert min(picked) < 45
    assert max(picked) > 135
    run = started(problem, 4, precision=precision, output="random", epochs=3.0)
    run.advance(180)
    assert run.w.tobytes() == iterates[chosen(4, 0, 180)].tobytes()
    run.advance(500)
    assert run.w.tobytes() == iterates[chosen(4, 0, 180)].tobytes()


@every_precision
@projection
@pytest.mark.parametrize("batch", [1, 2])
def test_taking_the_scale_in_moves_neither_w_nor_the_sum(precision, project, batch):
    problem = PROBLEMS["overlapping"]
    rows, d, m = problem.data.rows, problem.data.n_features, problem.data.n_samples
    smallest = 1e-5 if precision == "float64" else 1e-2
    w = np.random.default_rng(3).normal(size=d)
    w /= np.linalg.norm(w)
    plain = twin_of(problem, 9, project=project, batch=batch, sampling="fixed")
    order = np.array(plain.permutation, dtype=np.int32)
    if batch == 1:
        kernel = Kernel(rows, order, problem.lam, project, precision)
    else:
        kernel = BatchKernel(rows, order, problem.lam, project, batch, precision)
    kernel.steps, kernel.presentations = 50, 50 * batch
    kernel.scale, kernel.norm2 = 1.05 * smallest, 1.0
    kernel.v[:] = w / kernel.scale
    kernel.begin_sum()
    plain.w, plain.iterates = kernel.iterate, [None] * 50
    assert m % batch == 0
    scales = []
    for _ in range(100):
        if kernel.position == m:
            kernel.position = 0
        kernel.advance(kernel.presentations + batch)
        plain.step()
        scales.append(kernel.scale)
        close = {"rtol": 0.0, "atol": 5 * TOLERANCE[precision]}
        assert_close(kernel.iterate, plain.w, **close)
        mean = kernel.total / kernel.summed
        assert_close(mean, np.mean(plain.iterates[50:], axis=0), **close)
    assert scales[0] < 1.05 * smallest
    assert max(scales) > 0.5  # it was taken in on the way
    assert min(scales) >= smallest * 0.9


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        # inner product; margin error: v, u, and the second inner product of the projection
        ({}, (1, 1)),
        ({"project": True}, (1, 1)),
        ({"output": "average", "project": True}, (1, 2)),
        ({"batch": 5}, (1, 1)),
        ({"batch": 5, "output": "average"}, (1, 2)),
    ],
)
def test_a_step_touches_its_rows_and_nothing_else(options, passes):
    problem = Problem(dataset(*dyadic(2, 30, 400, density=0.02)), 2.0**-4)
    X = dense(problem.data)
    run = started(problem, 6, sampling="permuted", **options)
    twin_options = {key: options[key] for key in options if key != "output"}
    plain = twin_of(problem, 6, sampling="permuted", **twin_options)
    expected = 0
    for _ in range(60):
        before = plain.w
        plain.step()
        run.advance(1)
        rows = plain.batches[-1]
        errors = [i for i in rows if plain.y[i] * (X[i] @ before) < 1.0]
        expected += passes[0] * np.count_nonzero(X[rows]) + passes[1] * np.count_nonzero(X[errors])
        assert run.counters.nonzeros == expected


def test_projected_batches_take_one_inner_product_more_an_error_but_the_first():
    problem = Problem(dataset(*dyadic(2, 30, 40, density=0.2)), 2.0**-4)
    X = dense(problem.data)
    run = started(problem, 6, batch=30, sampling="fixed", project=True)
    run.advance(1)  # every row is in error at w = 0
    first = run._order[0]
    assert run.counters.nonzeros == 3 * np.count_nonzero(X) - np.count_nonzero(X[first])


def test_the_horizon_follows_from_the_output():
    for kind in OUTPUTS:
        run = Pegasos(PegasosParameters(output=kind))
        assert run.horizon == ("steps" if kind in WITH_HORIZON else "none")
    assert Pegasos.horizon == "none"
    assert Pegasos.horizon_parameter in names_of(PegasosParameters)


@pytest.mark.parametrize("kind", WITH_HORIZON)
def test_an_output_of_a_run_of_unknown_length_is_refused(kind):
    run = Pegasos(PegasosParameters(output=kind))
    with pytest.raises(ConfigError, match=f"pegasos: output {kind} .*set 'epochs'"):
        run.start(PROBLEMS["sparse"], 0)


def test_epochs_that_the_output_does_not_use_are_refused():
    unused = "'epochs' is for output tail-average or random, not last; leave it out"
    with pytest.raises(ValueError, match=unused):
        checked(PegasosParameters, {"epochs": 3.0})


def test_a_batch_without_rows_is_refused():
    rows, order = PROBLEMS["overlapping"].data.rows, np.zeros(1, dtype=np.int32)
    with pytest.raises(ValueError, match="at least one row, not 0"):
        BatchKernel(rows, order, 1.0, False, 0)
