"""The contract of solvers, checked for each one that the registry finds.

These tests run the checks of `svmbench.verify.contract` on problems of their own, with optima that
share nothing with the solvers. They include a new solver automatically. Other properties of a
method have tests in their own file.

For an external program (``foreign``) they check only its description, and nothing that needs it
installed or advanced in pieces; test_peers.py has the other tests.
"""

import math
import re
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest

from problems import PROBLEMS, edge_problems, has_both_classes
from svmbench.errors import ConfigError
from svmbench.solvers.registry import solvers
from svmbench.verify import contract
from svmbench.verify.contract import ACCURACY, SmallTraining, trainings
from twins.optimum import optimum, variant

SOLVERS = solvers()

#: How close to the optimum some solvers come, relative to P*, where the contract asks for less.
STATED = {"sgd": 0.03, "sgd-qn": 0.03, "sgd-qn-corrected": 0.03, "sgd-r": 0.02, "svmsgd2": 0.03}

#: Methods that know no bound on P* and have no stopping rule.
PRIMAL = [
    *("adagrad", "gd", "pgd", "seg-pm", "sgd-sqrt", "smd"),
    *("gd-bias", "minibatch-bias", "sgd-bias"),
    *("pegasos", "sgd-r", "svmasgd", "svmsgd"),
]

#: The problems of each check.
ON = {
    contract.gives_weights: ["sparse"],
    contract.leaves_data: ["overlapping"],
    contract.counts: ["sparse"],
    contract.repeats: ["overlapping"],
    contract.continues: ["sparse", "zero-rows", "one-row"],
    contract.survives_edges: edge_problems(),
    contract.leaves_unseen: ["unseen-features"],
    contract.bounds_hold: PROBLEMS,
    contract.reaches_optimum: PROBLEMS,
}


class Training(SmallTraining):
    """The same on the problems of these tests."""

    def problem(self, name):
        return variant(PROBLEMS[name], self.loss, self.bias, self.constraint)

    def optimum(self, problem):
        best = optimum(problem)
        return best.lower, best.upper

    def within(self, run, name, lower):
        # P(0) is 1 or 1/2: a hundredth of that where P* itself may be next to nothing.
        least = 0.01 if name in edge_problems() else 0.0
        stated = STATED.get(self.solver.name, math.inf) * lower
        return max(min(super().within(run, name, lower), stated), least)

    @property
    def id(self):
        return f"{self.solver.name}-{self.kind}".replace(", ", "-").replace(" ", "-")


TRAININGS = [
    Training(**vars(each))
    for solver in SOLVERS.values()
    if not solver.foreign
    for each in trainings(solver)
]


by_id = attrgetter("id")


def has_slow_bias(training, name):
    """Whether the bias moves too slowly to reach the optimum of one row against many.

    Far out, the logistic loss bends by h = 1/23 only: steps of the bias of lambda/(lambda t) leave
    a distance that falls as t^-h, which no number of epochs here brings down.
    """
    return (training.loss, training.bias, name) == ("logistic", "free", "one-against-many")


def fits(check, training, name):
    """Whether a check is for this problem of those it has in `ON`."""
    if training.bias != "none" and not has_both_classes(PROBLEMS[name]):
        return False
    return check is not contract.reaches_optimum or not has_slow_bias(training, name)


every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def test_every_check_has_problems():
    assert list(ON) == list(contract.OF_TRAINING)


@every_solver
@pytest.mark.parametrize("check", contract.OF_CLASS, ids=lambda check: check.__name__)
def test_the_description_keeps_the_contract(check, solver):
    check(solver)


@pytest.mark.parametrize("training", TRAININGS, ids=by_id)
@pytest.mark.parametrize("check", ON, ids=lambda check: check.__name__)
def test_training_keeps_the_contract(check, training):
    names = [name for name in ON[check] if fits(check, training, name)]
    assert names
    failures = []
    for name in names:
        try:
            check(training, name)
        except Exception as error:
            error.add_note(f"on the problem {name}")
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(names)} problems", failures)


@pytest.mark.parametrize(
    "training",
    [each for each in TRAININGS if has_slow_bias(each, "one-against-many")],
    ids=by_id,
)
def test_a_slow_bias_comes_nearer(training):
    problem = training.problem("one-against-many")
    run, costs = training.started(problem), []
    for epochs in (1, 10, 2000):
        run.advance(training.steps(problem, epochs, epochs // 4 + 1))
        costs.append(problem.primal(run.w, run.bias))
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("training", TRAININGS, ids=by_id)
def test_weights_of_rows_count_or_are_refused(training):
    problem = training.problem("sparse")
    weights = np.linspace(0.5, 1.5, problem.data.n_samples)
    weighted = replace(problem, row_weights=weights)
    if not training.solver.weighted:
        with pytest.raises(ConfigError, match=r"^[a-z0-9-]+ ignores weights of rows; train with"):
            training.started(weighted)
        return
    run = training.started(weighted)
    run.advance(training.steps(problem, contract.EPOCHS, contract.ITERATIONS))
    reached = weighted.primal(run.w, run.bias)
    assert run.dual() <= reached * (1.0 + 1e-4)
    assert reached - run.dual() <= ACCURACY * reached


PLAIN = {each.solver.name: each for each in reversed(TRAININGS) if each.constraint == "none"}


@pytest.mark.parametrize("training", [t for t in PLAIN.values() if t.counts_rows], ids=by_id)
def test_seeds_differ(training):
    runs = [training.started(training.problem("overlapping"), seed) for seed in (1, 2)]
    for run in runs:
        run.advance(70)
    assert not np.array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize("name", PRIMAL)
def test_a_method_of_the_primal_alone_shows_no_bound_and_has_no_rule(name):
    training = next(each for each in TRAININGS if each.solver.name == name)
    run = training.started(training.problem("overlapping"))
    run.advance(80 if training.counts_rows else 3)
    assert run.dual() is None
    assert run.stopped is None


@pytest.mark.parametrize(
    "training", [t for t in PLAIN.values() if hasattr(t.solver, "alpha")], ids=by_id
)
def test_alpha_is_a_fresh_array(training):
    run = training.started(training.problem("overlapping"))
    run.advance(100 if training.counts_rows else 3)
    before = run.dual()
    run.alpha[:] = 0.0
    assert run.dual() == before


@every_solver
def test_the_build_is_recorded(solver):
    build = solver.build()
    assert re.fullmatch("[0-9a-f]{64}", build["source_sha256"])
    assert bool(solver.kernels_used()) == bool(build["flags"]) == bool(build["compiler"])


def test_builds_tell_solvers_apart():
    hashes = [solver.build()["source_sha256"] for solver in SOLVERS.values()]
    assert len(set(hashes)) == len(hashes)
