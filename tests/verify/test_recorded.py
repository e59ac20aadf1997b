"""The checks of a single trace, on runs that were never made: each rule, at its edge."""

import math
from dataclasses import replace

import numpy as np
import pytest

from problems import PROBLEMS
from svmbench.config import Stop, Sweep
from svmbench.harness.accounts import CLOCK_RULES
from svmbench.harness.trace import Trace
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import find_solver
from svmbench.verify.outcome import ContradictionError, MissingError
from svmbench.verify.recorded import (
    _presentations,
    check_identity,
    check_points,
    lacks_weights,
    misfit,
    recorded_run,
)

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
    return recorded_run(facts, DATA, None)


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
        ({"time_limit": 0.0}, "its time limit is 0.0"),
        ({"time_limit": 10.1}, "its time limit is 10.1"),
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


def test_a_shorter_time_limit_holds():
    facts = identified(header() | {"time_limit": 0.5})
    check_identity(run_of(facts), facts["id"])


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
        (1, {"kind": "dot"}, "it has a line of kind 'dot'"),
        (2, {"switches": None}, "some of its points have an empty count"),
        (2, {"visits": None}, "some of its points have an empty count"),
        (1, {"stopped": 0}, "its points have 0 as stopped"),
        (2, {"stopped": "no"}, "its points have 'no' as stopped"),
        (2, {"presentations": 0}, "presentations decreases, to 0"),
        (2, {"updates": 0}, "updates decreases, to 0"),
        (2, {"nonzeros": 0}, "nonzeros decreases, to 0"),
        (2, {"wall": 1.4}, "wall decreases, to 1.4"),
        (2, {"cpu": 0.1}, "cpu decreases, to 0.1"),
        (2, {"visits": 0}, "visits decreases, to 0"),
        (0, {"switches": 1}, "switches decreases, to 0"),
        (0, {"cpu": -1e-9}, "cpu is negative"),
        (0, {"updates": -1}, "updates is negative"),
    ],
)
def test_points_that_do_not_hold(number, values, expected):
    assert expected in said(edited(number, **values))


@pytest.mark.parametrize("field", ["visits", "switches", "stopped"])
@pytest.mark.parametrize("number", [0, 2])
def test_a_field_that_some_points_have(field, number):
    found = points()
    del found[number][field]
    assert said(found) == f"some of its points have {field}, and others have not"
    for each in found:
        each.pop(field, None)
    assert said(found) == ""


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


# --- runs that were refused, or should have been


def test_a_refused_run_has_failed_for_a_reason():
    failed = {"state": "failed", "reason": "it cheats", "refused": True}
    assert said(end=failed) == ""
    for change in ({"state": "converged"}, {"reason": ""}):
        assert "it is refused, and recorded as" in said(end=failed | change)
    assert said(end={"refused": False}) == ""
    for odd in (None, 0, "no"):
        assert said(end={"refused": odd}) == f"it has {odd!r} as refused"
    # Its points do not count: neither their order nor its times are held against it.
    found = [points()[2] | {"wall": -1.0}, points()[0]]
    assert said(found, failed) == ""


def test_times_beyond_the_run_s_own():
    # 2 s of training, from which charged reads are taken off.
    assert said(end={"elapsed_seconds": 2.0}) == ""
    shorter = {"elapsed_seconds": 2.0 - 2e-6}
    assert "it has trained for 2.0 s, and has taken" in said(end=shorter)
    assert said(end=shorter | {"charged_seconds": 0.1}) == ""
    assert said(end={"elapsed_seconds": None}) == ""
    assert said(end=shorter, facts=header() | {"clock_rules": 1}) == ""
    assert said(end=shorter, facts=header("linear-svc", accuracy=(), own=True),
                found=[*points()[:2], points()[2] | {"stopped": True}]) == ""  # fmt: skip


def test_work_in_other_processes():
    assert said(end={"background_cpu_seconds": 0.2}) == ""  # a tenth of its training
    assert "processor time in other threads" in said(end={"background_cpu_seconds": 0.21})


def test_more_passes_than_the_machine_can_read():
    assert said([each | {"pass_wall": 2.6} for each in points()]) == ""  # 3 of them in 4 times 2 s
    slow = [each | {"pass_wall": 5.0} for each in points()]
    assert "counts 1 passes over the rows in 1 s" in said(slow)
    own = [{key: value for key, value in each.items() if key != "visits"} for each in slow]
    assert "counts 1 passes over the rows in 1 s" in said(own)  # presentations in their place
    for each in slow:
        each["visits"] = 0
    assert said(slow) == ""
    foreign = header("linear-svc", accuracy=(), own=True)
    ended = [each | {"pass_wall": 50.0} for each in points()]
    ended[-1]["stopped"] = True
    assert said(ended, facts=foreign) == ""


# --- ends


def test_targets_that_were_met_before():
    found = [*points(), point(0.501, 2.5, 4)]
    assert said(found) == "its targets are met at point 2, and it went on"


@pytest.mark.parametrize(
    ("end", "number", "values", "expected"),
    [
        ({}, 2, {"primal": 0.51, "accuracy": (0.51 - LOWER) / LOWER}, "recorded as converged, wi"),
        ({}, 2, {"primal": None, "accuracy": None}, "recorded as converged, with an accuracy of N"),
        ({"state": "diverged"}, 0, {}, "recorded as diverged, with P = 0.502"),
        ({"state": "max_steps"}, 0, {}, "recorded as max_steps, and its targets are met"),
        ({"state": "time_limit"}, 0, {}, "recorded as time_limit, and its targets are met"),
    ],
)
def test_an_end_that_the_points_contradict(end, number, values, expected):
    assert expected in said(edited(number, **values), end)


def test_a_worker_that_was_killed_may_have_met_its_targets():
    end = {"state": "time_limit", "evaluation_seconds": None}
    trace = {key: value for key, value in (END | end).items() if key != "evaluation_seconds"}
    facts = header()
    check_points(run_of(facts), Trace(facts, points(), trace))
    trace["state"] = "max_steps"
    check_points(run_of(facts), Trace(facts, points()[:2], trace))


def test_a_run_that_diverged_has_no_p():
    found = [*points()[:2], point(None, 2.0, 3)]
    assert said(found, {"state": "diverged"}) == ""


def test_a_time_limit_is_met_when_its_time_has_passed():
    end = {"state": "time_limit", "elapsed_seconds": 20.0}
    slow = [*points()[:2], point(0.59, 10.0, 3)]
    assert said(slow, end) == ""
    assert "recorded as time_limit, after 9.9 s of 10.0" in said(
        [*points()[:2], point(0.59, 9.9, 3)], end
    )
    assert said([*points()[:2], point(0.59, 10.0 * (1.0 - 1e-10), 3)], end) == ""


@pytest.mark.parametrize(
    ("stop", "epochs", "held"),
    [
        ({"max_epochs": 3.0}, 3, True),
        ({"max_epochs": 3.0 + 0.5 / M}, 3, False),  # rounded up to a whole row
        ({"max_epochs": 4.0}, 3, False),
        ({"max_epochs": None, "max_updates": 3.0}, 3, True),
        ({"max_epochs": None, "max_updates": 4.0}, 3, False),
        ({"max_epochs": None, "max_updates": 2.0}, 3, True),
        ({"max_epochs": None}, 3, False),
        ({"max_epochs": None}, 2, True),  # nothing has grown since the point before
    ],
)
def test_a_limit_of_steps(stop, epochs, held):
    found = [*points()[:2], point(0.6, 2.0, epochs)]
    assert (said(found, {"state": "max_steps"}, **stop) == "") is held


@pytest.mark.parametrize("grown", ["presentations", "updates", "nonzeros", "visits"])
def test_a_run_goes_on_while_one_of_its_counts_grows(grown):
    last = points()[1] | {"wall": 2.0}
    last[grown] += 1
    assert "has met no limit of steps" in said([*points()[:2], last], {"state": "max_steps"})


def test_a_single_point_has_not_grown_from_another():
    found = [point(0.9, 1.0, 1)]
    assert "has met no limit of steps" in said(found, {"state": "max_steps"})


def test_a_solver_that_can_say_that_it_is_exhausted():
    found = [*points()[:2], point(0.59, 2.0, 3)]
    assert "has met no limit" in said(found, {"state": "max_steps"})
    assert said(found, {"state": "max_steps"}, facts=header("mpu")) == ""


# --- targets


def with_own(*stopped):
    return [each | {"stopped": flag} for each, flag in zip(points(), stopped, strict=True)]


def with_gaps(*duals):
    return [
        each | {"dual": dual, "gap": (each["primal"] - dual) / dual}
        for each, dual in zip(points(), duals, strict=True)
    ]


def test_its_own_rule_as_a_target():
    stop = {"accuracy": (), "own": True}
    assert said(with_own(False, False, True), **stop) == ""
    assert "it is recorded as converged" in said(with_own(False, False, False), **stop)
    assert said(with_own(False, True, True), **stop).startswith("its targets are met at point 1")
    # A solver without a rule of its own has no such target, and then none at all.
    assert "it is recorded as converged" in said(**stop)
    # It is one target of several.
    assert "recorded as converged" in said(with_own(False, False, False), own=True)
    assert said(with_own(True, True, True), own=True) == ""
    assert said(with_own(False, False, False)) == ""  # it is not asked for


def test_a_gap_as_a_target():
    stop = {"accuracy": (), "gap": 0.02}
    assert said(with_gaps(0.4, 0.45, 0.495), **stop) == ""
    assert "it is recorded as converged" in said(with_gaps(0.4, 0.45, 0.46), **stop)
    assert said(with_gaps(0.4, 0.59, 0.495), **stop).startswith("its targets are met at point 1")
    exact = (0.502 - 0.495) / 0.495
    assert said(with_gaps(0.4, 0.45, 0.495), accuracy=(), gap=exact) == ""
    late = [points()[0], *with_gaps(0.4, 0.45, 0.46)[1:]]  # a bound from the second point on
    assert "it is recorded as converged" in said(late, gap=0.02)
    # Only runs that show a lower bound have this target.
    assert said(gap=1e-9) == ""
    assert "it is recorded as converged" in said(with_gaps(0.4, 0.45, 0.46), gap=0.02)


def test_the_tightest_accuracy_is_the_target():
    exact = (0.502 - LOWER) / LOWER
    assert said(accuracy=(0.1, exact)) == ""
    assert "it is recorded as converged" in said(accuracy=(0.5, exact / 2))


@pytest.mark.parametrize(("epochs", "held"), [(3.0, True), (4.0, False), (3.0 + 0.5 / M, False)])
def test_a_horizon_of_epochs_is_the_target(epochs, held):
    facts = header("pegasos", {"output": "random", "epochs": epochs}, accuracy=(0.1, 1e-6))
    assert (said(facts=facts) == "") is held
    if not held:
        assert "it is recorded as converged" in said(facts=facts)


def test_a_horizon_of_accuracy_is_the_target():
    facts = header("liblinear", {"tolerance": 0.1}, accuracy=(0.1, 1e-6))
    assert said(with_own(False, False, True), facts=facts) == ""
    assert "it is recorded as converged" in said(with_own(False, False, False), facts=facts)
    assert "it is recorded as converged" in said(facts=facts)


# --- weights, and the sweep


@pytest.mark.parametrize(
    ("asked", "end", "weights", "lacks"),
    [
        (True, {"state": "converged"}, {}, True),
        (True, {"state": "max_steps"}, {}, True),
        (True, {"state": "diverged"}, {}, True),
        (True, {"state": "time_limit", "evaluation_seconds": 0.1}, {}, True),
        (True, {"state": "time_limit"}, {}, False),
        (True, {"state": "failed"}, {}, False),
        (True, {"state": "converged"}, {"file": "x"}, False),
        (False, {"state": "converged"}, {}, False),
        (None, {"state": "converged"}, {}, False),
    ],
)
def test_weights_that_were_asked_for(asked, end, weights, lacks):
    facts = {} if asked is None else {"keep_weights": asked}
    assert lacks_weights(Trace(facts, [], end, [], weights)) is lacks


def sweep(**changes):
    return Sweep.model_validate(
        {
            "version": 1,
            "name": "small",
            "datasets": [{"name": DATA.name}],
            "lambda": [0.25],
            "solvers": ["dcd", {"name": "mpu", "delta": 0.05}],
            "stop": {"accuracy": [0.1, 0.01], "max_epochs": 4, "time_limit": 10.0},
            "reference": {"gap": 1e-6},
        }
        | changes
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"datasets": [{"name": "tiny-dense"}]}, "data set"),
        ({"lambda": [0.5]}, "lambda"),
        ({"solvers": [{"name": "dcd", "label": "other"}]}, "solver"),
        ({"solvers": [{"name": "sgd-s", "label": "dcd"}]}, "solver"),
        ({"stop": {"accuracy": [0.1], "max_epochs": 4, "time_limit": 10.0}}, "stop"),
        ({"reference": {"gap": 1e-7}}, "reference"),
        ({"regret": True}, "regret"),
    ],
)
def test_what_a_sweep_does_not_ask_for_is_named(change, word):
    run = run_of(header())
    assert misfit(run, sweep()) == ""
    assert misfit(run, sweep(**change)) == word


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"problem": {"loss": "squared-hinge"}}, "loss"),
        ({"problem": {"bias": "free"}}, "loss"),
        ({"problem": {"l1_radius": 2.0}}, "loss"),
        ({"problem": {"lambda": 0.5}, "threads": 2}, "lambda, threads"),
        ({"threads": 2}, "threads"),
    ],
)
def test_what_a_run_has_beyond_its_sweep_is_named(change, word):
    facts = header()
    facts |= change | {"problem": facts["problem"] | change.get("problem", {})}
    assert misfit(run_of(facts), sweep()) == word


def test_a_bias_that_rows_of_one_class_cannot_have_is_not_the_run_s():
    data = replace(DATA, labels=np.ones_like(DATA.labels))
    facts = header()
    facts["problem"]["data"] = data.identity
    run = recorded_run(facts, data, None)
    assert misfit(run, sweep()) == ""
    assert misfit(run, sweep(bias="free", solvers=["smo"])) == "loss, solver"


def test_a_ball_that_the_sweep_asks_for():
    facts = header("pegasos")
    facts["problem"] |= {"l1_radius": 2.0}
    asked = {"solvers": ["pegasos"], "constraint": {"l1": 2.0}}
    assert misfit(run_of(facts), sweep(**asked)) == ""
    assert misfit(run_of(header("pegasos")), sweep(**asked)) == "loss"


def test_a_repeat_beyond_those_of_the_sweep():
    run = run_of(header())
    assert replace(run, repeat=1).facts() == run.facts() | {"repeat": 1}
    assert misfit(replace(run, repeat=1), sweep()) == "repeat"
    assert misfit(replace(run, repeat=1), sweep(repeats=2)) == ""
    assert misfit(replace(run, repeat=-1), sweep()) == "repeat"
    patience = {"accuracy": [0.1, 0.01], "max_epochs": 4, "time_limit": 10.0, "grace": 5.0}
    assert misfit(run, sweep(stop=patience)) == ""


def test_a_limit_beyond_all_numbers_is_met_by_no_count():
    assert _presentations(1e308, 100) == math.inf
    assert _presentations(0.1, 30) == 3
    assert _presentations(0.11, 30) == 4
