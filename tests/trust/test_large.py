"""A small part of scripts/trust/large.py, and the constructions it rests on."""

import math

import numpy as np
import pytest
from click.testing import CliRunner
from known_optima import SHAPES, known_problem
from large import ACCURACY, campaign, drawn, family, main, table, train, trainings

from problems import dense
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import Problem
from svmbench.solvers.dual.dcd import Dcd

pytestmark = pytest.mark.usefixtures("own_cache")


def exists(shape, bias, constraint):
    if bias == "free" and shape in ("one class", "one row"):
        return False
    return constraint == "none" or shape != "only contradictions"


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", HINGES)
def test_the_optima_are_known(loss, bias, constraint):
    for number, shape in enumerate(SHAPES):
        if not exists(shape, bias, constraint):
            continue
        known = known_problem(number, loss, bias, constraint, shape, largest=40)
        # Rows are rounded as they are stored, which moves their optimum off the construction's.
        single = "float32" in known.problem.data.storage
        assert -known.rounding <= known.upper - known.lower
        assert known.gap <= (1e-3 if single else 1e-4)


def test_shapes_are_what_they_are_called():
    made = {shape: known_problem(3, shape=shape, largest=60) for shape in SHAPES}
    rows = {shape: dense(known.problem.data) for shape, known in made.items()}
    labels = {shape: known.problem.data.labels for shape, known in made.items()}
    assert len(rows["one row"]) == 1
    assert rows["one feature"].shape[1] == 1
    assert set(labels["one class"].tolist()) == {1}
    assert (~rows["zero rows"].any(axis=1)).any()
    assert len(np.unique(rows["duplicates"], axis=0)) <= len(rows["duplicates"]) / 2
    both = np.unique(rows["only contradictions"], axis=0)
    assert len(both) == len(rows["only contradictions"]) / 2
    assert made["only contradictions"].upper == 1.0


def test_one_class_is_refused_with_a_free_bias():
    data = known_problem(1, shape="one class", largest=20).problem.data
    with pytest.raises(ValueError, match="one class only"):
        Problem(data, 1.0, bias="free")


def test_no_solver_breaks_or_claims_too_much():
    outcomes = [
        (seed, known.words, outcome)
        for seed, known, outcome in campaign(range(100, 112), largest=30, seconds=0.02)
    ]
    assert not [each for each in outcomes if each[2].violations]
    families = {outcome.family for _, _, outcome in outcomes}
    assert families >= {"champion", "cutting plane", "dual", "online", "references", "stochastic"}
    assert f"| all | {len(outcomes)} | 0 |" in table([outcome for *_, outcome in outcomes])


#: Solvers that converge at a rate that is proved, and come within 1 % where rows are kind.
SURE = (
    *("asdca", "auto", "dcd", "ipm", "newton", "newton-smooth", "ocas"),
    *("sdca", "sgd-s", "smo", "svmperf"),
)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", HINGES)
def test_who_converges_for_sure_arrives(loss, bias, constraint):
    arrived = set()
    for seed in range(3):
        known = known_problem(seed, loss, bias, constraint, "ordinary", 30, condition=1.0)
        for solver, precision in trainings(known):
            if solver.name in SURE and loss not in solver.smoothed:
                outcome = train(known, solver, precision, seconds=math.inf)
                assert outcome.state == "converged", (outcome, known.words)
                arrived.add(solver.name)
    assert "ipm" in arrived


def test_the_command_prints_the_table():
    result = CliRunner().invoke(main, ["--smoke", "--only", "dcd", "--only", "reference"])
    assert result.exit_code == 0, result.output
    assert "| references | 3 | 0 |" in result.output


class Wrong(Dcd):
    """A dcd that shows a bound that is none, or weights that are no numbers."""

    fault = ""

    def dual(self):
        return super().dual() + 10.0 * (self.fault == "bound")

    def advance(self, steps):
        if self.fault == "crash":
            raise ZeroDivisionError("0")
        super().advance(steps)


@pytest.mark.parametrize(
    ("fault", "said"), [("bound", "above P*"), ("crash", "ZeroDivisionError"), ("", "")]
)
def test_what_is_wrong_is_told(fault, said):
    known = known_problem(5, shape="ordinary", largest=40)
    solver = type("Faulty", (Wrong,), {"fault": fault, "__module__": Dcd.__module__})
    outcome = train(known, solver, "float64", 1.0)
    assert bool(outcome.violations) == bool(said)
    assert all(said in violation for violation in outcome.violations)
    assert family(solver) == "dual"
    assert 0.0 < ACCURACY < 1.0
    assert drawn(3, 30).words
