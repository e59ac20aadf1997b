"""External programs: they receive exactly our problem.

Each is trained to its tightest tolerance and has to come near the certified optimum, which it
does with no other constant, sign or loss than the right ones. A peer that is not installed is
tested as that.
"""

import numpy as np
import pandas as pd
import pytest
from small_sweep import run_sweep

from problems import (
    STORAGES,
    dataset,
    dense,
    edge_problems,
    labels,
    ordinary_problems,
    with_class,
    with_loss,
)
from svmbench.config import Sweep
from svmbench.problem import Problem
from svmbench.solvers.peers import peer as peers
from svmbench.solvers.peers.peer import LIMITS, TOLERANCES, LimitedPeer, Peer, matrix
from svmbench.solvers.registry import solvers
from twins.optimum import optimum

PEERS = {name: solver for name, solver in solvers().items() if issubclass(solver, Peer)}
NAMES = (
    *("liblinear", "lightning", "linear-svc", "logistic-regression", "rehline"),
    *("sgd-classifier", "snapml"),
)
ORDINARY, EDGES = ordinary_problems(), edge_problems()
PROBLEMS = {**ORDINARY, **EDGES}

#: Relative accuracy at the tightest tolerance. sgd-classifier has none and stops after 1024 epochs;
#: snapml's weights are in single precision, and its rule is one of their changes.
ACCURACY = {"sgd-classifier": 3e-3, "snapml": 1e-3}
MOST = 1e-5

HERE = [name for name in NAMES if PEERS[name].missing() is None]
TRAININGS = [(name, loss) for name in HERE for loss in PEERS[name].losses]
every_peer = pytest.mark.parametrize("name", HERE)
every_limited = pytest.mark.parametrize(
    "name", [name for name in HERE if issubclass(PEERS[name], LimitedPeer)]
)
every_training = pytest.mark.parametrize(
    ("name", "loss"), TRAININGS, ids=[f"{name}-{loss}" for name, loss in TRAININGS]
)


def installed(name):
    """The peer's class; the test is skipped where its program is not there."""
    missing = PEERS[name].missing()
    if missing is not None:
        pytest.skip(missing)
    return PEERS[name]


def trained(name, problem, seed=1, **parameters):
    solver = installed(name)
    run = solver(solver.schema(**parameters))
    run.start(problem, seed)
    run.advance(1)
    return run


def excess(problem, w):
    """P(w) beyond a lower bound on P*, as a share of it (or of 1 where P* is next to nothing)."""
    lower = optimum(problem).lower
    return (problem.primal(w) - lower) / max(lower, 1e-3)


def takes(solver, problem):
    """Whether the peer takes these rows at all."""
    one = len(set(problem.data.labels.tolist())) == 1
    nothing = solver.name == "snapml" and problem.data.nnz == 0
    if (solver.name, problem.loss.name) == ("lightning", "logistic"):
        nothing = not (labels(problem.data) @ dense(problem.data)).any()
    return not nothing and (solver.one_class or not one)


def state(run):
    counters = run.counters
    counts = counters.presentations, counters.updates, counters.nonzeros
    return run.w.tobytes(), counts, run.stopped, run.exhausted


# --- the problem --------------------------------------------------------------------


@every_training
@pytest.mark.parametrize("problem", PROBLEMS)
def test_comes_near_the_certified_optimum_or_refuses_in_one_line(problem, name, loss):
    problem = with_loss(PROBLEMS[problem], loss)
    if not takes(installed(name), problem):
        with pytest.raises(RuntimeError, match=f"^{name} refuses rows .*; leave it out there$"):
            trained(name, problem)
        return
    run = trained(name, problem)
    assert excess(problem, run.w) <= ACCURACY.get(name, MOST)


@pytest.mark.parametrize("gamma", [0.125, 2.0])
def test_rehline_smooths_as_wide_as_asked(gamma):
    problem = with_class(ORDINARY["overlapping"], "smoothed-hinge", gamma=gamma)
    assert excess(problem, trained("rehline", problem).w) <= MOST
    other = with_class(ORDINARY["overlapping"], "smoothed-hinge", gamma=2.0 * gamma)
    assert excess(problem, trained("rehline", other).w) > MOST


@every_training
@pytest.mark.parametrize("first", [1, -1])
def test_the_positive_class_is_plus_one_whichever_comes_first(first, name, loss):
    plain = with_loss(ORDINARY["separable"], loss)
    begin = int(np.argmax(plain.data.labels == first))
    order = np.roll(np.arange(plain.data.n_samples), -begin)
    assert plain.data.labels[order[0]] == first
    data = dataset(dense(plain.data)[order], plain.data.labels[order])
    problem = Problem(data, plain.lam, plain.loss)
    run = trained(name, problem)
    assert excess(problem, run.w) <= ACCURACY.get(name, MOST)
    assert problem.evaluate(run.w).errors < 0.1 * data.n_samples


@pytest.mark.parametrize("storage", STORAGES)
def test_rows_are_handed_on_as_they_are(storage):
    X = np.round(dense(ORDINARY["sparse"].data) * 4.0)
    data = dataset((X != 0.0) if storage.endswith("ones") else X, labels(ORDINARY["sparse"].data))
    data = dataset(dense(data), data.labels, storage)
    rows = matrix(data)
    assert rows.dtype == np.float64
    if storage.startswith("dense"):
        assert rows.flags.c_contiguous
        found = rows
    else:
        assert (rows.indices.dtype, rows.indptr.dtype) == (np.int32, np.int32)
        found = rows.toarray()
    np.testing.assert_array_equal(found, dense(data))


# --- the contract -------------------------------------------------------------------


@every_training
def test_trains_whole_at_the_first_step_and_then_rests(name, loss, monkeypatch):
    problem = with_loss(ORDINARY["sparse"], loss)
    solver = installed(name)
    run = solver()
    run.start(problem, 1)
    at_start = state(run)
    assert not run.w.any()
    assert run.stopped is (None if name == "sgd-classifier" else False)
    run.advance(0)
    assert state(run) == at_start
    run.advance(1)
    after = state(run)
    assert run.w.any()
    assert run.stopped is (None if name == "sgd-classifier" else True)
    again = []
    monkeypatch.setattr(solver, "_train", lambda self: again.append(self) or (0.0, 0))
    run.advance(1000)
    run.w[:] = 7.0
    assert state(run) == after
    assert not again
    run.start(problem, 1)
    assert state(run) == at_start


# --- the ladder ---------------------------------------------------------------------


def test_liblinear_says_when_its_own_limit_ends_it():
    problem = EDGES["one-against-many"]
    run = trained("liblinear", problem)
    assert (run.stopped, run.exhausted) == (False, True)
    assert run.counters.presentations == 300 * problem.data.n_samples
    loose = trained("liblinear", problem, tolerance=0.5)
    assert (loose.stopped, loose.exhausted) == (True, False)
    # The same method without the limit goes on to its tolerance.
    free = trained("linear-svc", problem)
    assert (free.stopped, free.exhausted) == (True, False)
    assert free.counters.presentations > run.counters.presentations


@every_limited
def test_a_ladder_of_limits_makes_so_many_iterations(name):
    problem = ORDINARY["separable"]
    for limit in (1.0, 2.0, 4.0):
        run = trained(name, problem, rungs="iterations", max_iter=limit)
        assert run.counters.presentations == limit * problem.data.n_samples
        assert (run.stopped, run.exhausted) == (True, False)
    # Beyond the tightest tolerance higher limits change nothing, and it says so.
    beyond = trained(name, problem, rungs="iterations", max_iter=LIMITS[-1])
    assert (beyond.stopped, beyond.exhausted) == (False, True)
    free = trained(name, problem)
    assert (free.stopped, free.exhausted) == (True, False)
    assert beyond.w.tobytes() == free.w.tobytes()


@every_limited
def test_a_ladder_of_tolerances_ends_at_a_limit_that_is_given(name):
    problem = ORDINARY["separable"]
    run = trained(name, problem, max_iter=3)
    assert (run.stopped, run.exhausted) == (False, True)
    assert run.counters.presentations == 3 * problem.data.n_samples
    assert (
        trained(name, problem, max_iter=100_000).w.tobytes() == trained(name, problem).w.tobytes()
    )


@pytest.mark.parametrize(
    ("name", "loss", "refusal"),
    [
        ("liblinear", "squared-hinge", "does not take loss hinge"),
        ("liblinear", "logistic", "does not take loss hinge"),
        ("linear-svc", "squared-hinge", "takes loss squared-hinge only"),
    ],
)
def test_newtons_method_is_for_smooth_losses(name, loss, refusal):
    problem = with_loss(ORDINARY["overlapping"], loss)
    run = trained(name, problem, method="primal")
    assert excess(problem, run.w) <= MOST
    assert 0 < run.counters.presentations < trained(name, problem).counters.presentations
    with pytest.raises(RuntimeError, match=f"^{name}'s method primal {refusal}$"):
        trained(name, ORDINARY["overlapping"], method="primal")


@pytest.mark.parametrize("method", ["lbfgs", "newton-cg", "newton-cholesky", "liblinear"])
@pytest.mark.parametrize("name", ORDINARY)
def test_every_method_of_logistic_regression_comes_near_the_optimum(name, method):
    problem = with_loss(ORDINARY[name], "logistic")
    run = trained("logistic-regression", problem, method=method)
    assert excess(problem, run.w) <= MOST
    assert run.stopped
    off = Problem(problem.data, 2.0 * problem.lam, problem.loss)
    assert excess(problem, trained("logistic-regression", off, method=method).w) > 2.0 * MOST


@pytest.mark.parametrize("name", NAMES)
def test_a_loss_of_another_program_is_refused_in_one_line(name):
    other = next(loss for loss in ("smoothed-hinge", "logistic") if loss not in PEERS[name].losses)
    with pytest.raises(ValueError, match=f"\n *{name} cannot train the loss {other}, only "):
        sweep(name, loss=other)


# --- installed or not ---------------------------------------------------------------


@every_peer
def test_what_is_missing_is_said_with_its_remedy(name, monkeypatch):
    def version(package):
        raise peers.PackageNotFoundError(package)

    monkeypatch.setattr(peers, "version", version)
    missing = PEERS[name].missing()
    assert missing.startswith(f"the package {PEERS[name].package} is not installed; ")
    assert "pip install" in missing
    assert "\n" not in missing
    PEERS[name].build.cache_clear()
    assert PEERS[name].build()["package"] is None
    PEERS[name].build.cache_clear()


def sweep(*solvers, loss="hinge"):
    return Sweep.model_validate(
        {
            "version": 1,
            "name": "peers",
            "datasets": ["tiny-separable"],
            "loss": loss,
            "lambda": [0.01],
            "solvers": solvers,
            "stop": {"accuracy": [0.3, 0.1], "max_epochs": 64},
        }
    )


def swept(wanted, folder, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(folder / "cache"))
    outcome = run_sweep(wanted, folder / "out")
    return outcome, pd.read_csv(folder / "out" / "runs.csv")


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_each_is_run_by_a_sweep_or_says_what_to_install(loss, tmp_path, monkeypatch):
    names = [name for name in NAMES if loss in PEERS[name].losses]
    told = {name: {PEERS[name].horizon_parameter: 2.0**-9} for name in names}
    wanted = sweep(*({"name": name, "label": name, **told[name]} for name in names), loss=loss)
    outcome, runs = swept(wanted, tmp_path, monkeypatch)
    runs = runs.set_index("label")
    assert sorted(runs.index) == names
    assert (runs["horizon"] == 2.0**-9).all()
    for name in names:
        if PEERS[name].missing():
            assert runs.loc[name, "state"] == "not_installed"
            assert "pip install" in runs.loc[name, "reason"]
        else:
            assert runs.loc[name, "state"] == "converged"
            assert runs.loc[name, "conversion_seconds"] > 0.0
            assert runs.loc[name, "epochs"] >= 1.0
    assert not outcome.faulty


def test_a_sweep_climbs_the_ladder_of_a_peer(tmp_path, monkeypatch):
    installed("linear-svc")
    outcome, runs = swept(sweep("linear-svc"), tmp_path, monkeypatch)
    assert 1 < len(runs) < len(TOLERANCES)
    assert list(runs["horizon"]) == list(TOLERANCES[: len(runs)])
    assert outcome.states == {"converged": len(runs), "spared": len(TOLERANCES) - len(runs)}
    assert list(runs["accuracy"] <= 0.1) == [False] * (len(runs) - 1) + [True]


def test_a_peer_that_is_missing_is_one_row(tmp_path, monkeypatch):
    monkeypatch.setattr(PEERS["linear-svc"], "missing", classmethod(lambda cls: "pip install it"))
    outcome, runs = swept(sweep("linear-svc"), tmp_path, monkeypatch)
    assert list(runs["state"]) == ["not_installed"]
    assert list(runs["reason"]) == ["pip install it"]
    assert not outcome.faulty
