"""The checks of a single trace, on runs that were never made: each rule, at its edge."""

import math
from dataclasses import replace

import pytest

from problems import PROBLEMS
from svmbench.config import Stop
from svmbench.harness.accounts import CLOCK_RULES
from svmbench.harness.trace import Trace
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import find_solver
from svmbench.verify.outcome import ContradictionError, MissingError
from svmbench.verify.recorded import check_identity, check_points, recorded_run

DATA = replace(PROBLEMS["sparse"].data, name="tiny-sparse")
M = DATA.n_samples
LOWER, UPPER = 0.5, 0.5 + 1e-9


def header(solver="dcd", parameters=None, **stop):
    """The first line of a trace, without the id that follows from it."""
    schema = find_solver(solver).schema
    problem = {"gamma": None, "l1_radius": None, "lambda": 0.25, "loss": "hinge", "bias": "none"}
    given = {"accuracy": (0.1, 0.01), "max_epochs": 4.0, "time_limit": 10.0} | stop
    return {
        "solver": solver,
        "label": solver,
        "dataset": DATA.name,
        "parameters": as_plain(schema(**(parameters or {}))),
        "problem": problem | {"data": DATA.identity},
        "test": None,
        "stop": Stop(**given).model_dump(mode="json", exclude={"grace"}),
        "reference_gap_asked": 1e-6,
        "reference_gap": (UPPER - LOWER) / LOWER,
        "reference_primal": UPPER,
        "reference_dual": LOWER,
        "time_limit": 10.0,
        "repeat": 0,
        "threads": 1,
        "contended": False,
        "clock_rules": CLOCK_RULES,
        "id": "none",
    }


def run_of(facts):
    return recorded_run(facts, lambda _: DATA)


def identified(facts):
    """The same with its seed and its id."""
    run = run_of(facts)
    facts = facts | {"seed": run.seed}
    return facts | {"id": run_of(facts).id}


def point(primal, seconds, epochs, **more):
    """A checkpoint of a method that shows no lower bound."""
    accuracy = None if primal is None else (primal - LOWER) / LOWER
    return {
        "kind": "point",
        "primal": primal,
        "dual": None,
        "accuracy": accuracy,
        "gap": None,
        "wall": seconds,
        "cpu": seconds,
        "presentations": epochs * M,
        "updates": epochs * M,
        "nonzeros": epochs * DATA.nnz,
        "visits": epochs * M,
        "switches": 0,
        "stopped": None,
        "pass_wall": 1e-6,
        **more,
    }


END = {"state": "converged", "evaluation_seconds": 0.1, "elapsed_seconds": 3.0}


def points():
    return [point(0.9, 1.0, 1), point(0.6, 1.5, 2), point(0.502, 2.0, 3)]


def said(found=None, end=None, facts=None, **stop):
    """What `check_points` says of a trace; empty if nothing."""
    facts = facts or header(**stop)
    trace = Trace(facts, points() if found is None else found, END | (end or {}))
    try:
        check_points(run_of(facts), trace)
    except ContradictionError as error:
        return str(error)
    return ""


def edited(number, **values):
    found = points()
    found[number].update(values)
    return found


# --- identity


def test_an_identity_that_holds():
    facts = identified(header())
    check_identity(run_of(facts), facts["id"])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"seed": 1}, "its seed or its data set"),
        ({"dataset": "other"}, "its seed or its data set"),
        ({"reference_gap": 1e-3}, "its reference's gap is"),
        ({"reference_gap": None}, "its reference's gap is"),
        ({"id": "x"}, "its id is not that of its facts"),
        ({"threads": 2}, "its id is not that of its facts"),
        ({"build": {}}, "its id is not that of its facts"),
    ],
)
def test_an_identity_that_does_not_hold(change, expected):
    facts = identified(header())
    with pytest.raises(ContradictionError, match=expected):
        check_identity(run_of(facts | change), facts["id"])
    with pytest.raises(ContradictionError, match="its id is not that of its facts"):
        check_identity(run_of(facts), f"{facts['id']}0")


def test_a_reference_without_a_bound_above_has_no_gap():
    facts = identified(header() | {"reference_primal": None, "reference_gap": None})
    check_identity(run_of(facts), facts["id"])
    with pytest.raises(ContradictionError, match="its reference's gap is inf"):
        check_identity(run_of(facts | {"reference_gap": 1.0}), facts["id"])


def test_an_unknown_solver_is_missing_and_other_facts_contradict():
    with pytest.raises(MissingError, match="'no-such' is not known here; give its plug-in"):
        run_of(header() | {"solver": "no-such"})
    for change in ({"parameters": {"no": 1}}, {"stop": {"accuracy": "x"}}, {"problem": {}}):
        with pytest.raises(ContradictionError, match="its first line is not that of a run"):
            run_of(header() | change)


def test_the_class_of_the_problem_is_the_recorded_one():
    facts = header()
    facts["problem"] |= {"loss": "smoothed-hinge", "gamma": 0.25, "l1_radius": 2.0, "bias": "free"}
    problem = run_of(facts).instance.problem
    assert (problem.loss.gamma, problem.l1_radius, problem.bias) == (0.25, 2.0, "free")
    facts["problem"] |= {"gamma": None, "l1_radius": None}
    problem = run_of(facts).instance.problem
    assert (problem.loss.gamma, problem.l1_radius) == (1.0, math.inf)


def test_a_horizon_is_known_by_the_name_of_the_run():
    facts = header("mpu", {"delta": 0.05})
    assert run_of(facts | {"id": "tiny-mpu-h0.05-1"}).horizon == 0.05
    assert run_of(facts | {"id": "tiny-mpu-1"}).horizon is None
    assert run_of(facts).regret is False
    assert run_of(facts | {"regret": True}).regret is True


# --- points


def test_points_that_hold():
    assert said() == ""
    assert said([]) == ""
    assert said([point(0.9, 0.0, 0), *points()[1:]]) == ""
    assert said(edited(1, primal=None, accuracy=None)) == ""


@pytest.mark.parametrize(
    ("number", "values", "expected"),
    [
        (1, {"accuracy": 0.3}, "its accuracy is 0.1999"),
        (1, {"accuracy": None}, "its accuracy is 0.1999"),
        (1, {"gap": 0.1}, "its gap is nan at point 1, recorded as 0.1"),
        (1, {"dual": 0.5}, "its gap is 0.1999"),
        (1, {"dual": -0.5, "gap": 1.0}, "its gap is"),
        (2, {"presentations": 0}, "presentations decreases, to 0"),
        (2, {"updates": 0}, "updates decreases, to 0"),
        (2, {"nonzeros": 0}, "nonzeros decreases, to 0"),
        (2, {"wall": 1.4}, "wall decreases, to 1.4"),
        (2, {"cpu": 0.1}, "cpu decreases, to 0.1"),
        (0, {"cpu": -1e-9}, "cpu is negative"),
        (0, {"updates": -1}, "updates is negative"),
    ],
)
def test_points_that_do_not_hold(number, values, expected):
    assert expected in said(edited(number, **values))


def test_p_below_the_certified_bound():
    below = point(0.4, 2.0, 3)
    assert said([*points()[:2], below]) == "P is 0.4 at point 2, below D_ref 0.5"
    assert said([*points()[:2], below | {"accuracy": None}]).startswith("P is 0.4")
    # The run has failed for that: it has reached no accuracy.
    failed = {"state": "failed", "reason": "P is below the certified bound"}
    assert said([*points()[:2], below | {"accuracy": None}], failed) == ""
    assert said([*points()[:2], below], failed).startswith("P is 0.4")


def test_p_below_a_bound_near_0_by_rounding_is_at_the_optimum():
    lower = 1e-16
    facts = header() | {"reference_dual": lower, "reference_primal": 2e-16}
    found = [point(0.0, 1.0, 1) | {"accuracy": 0.0}]
    assert said(found, facts=facts) == ""
    assert said([found[0] | {"accuracy": None}], {"state": "failed"}, facts) == ""
    assert "its accuracy is 0.0" in said([found[0] | {"accuracy": 0.5}], facts=facts)
    without = found[0] | {"accuracy": None, "dual": 1e-16}
    assert "its gap is -1.0" in said([without], {"state": "failed"}, facts)


def test_the_gap_of_a_lower_bound_of_its_own():
    shown = [each | {"dual": 0.25, "gap": each["primal"] / 0.25 - 1.0} for each in points()]
    for each in shown:
        each["gap"] = (each["primal"] - 0.25) / 0.25
    assert said(shown) == ""


def test_absolute_distances():
    found = [each | {"accuracy": each["primal"] - LOWER} for each in points()]
    assert said(found, distance="absolute") == ""
    assert "its accuracy is" in said(distance="absolute")
