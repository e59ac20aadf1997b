"""Each check of the contract, called by itself: solvers that break one rule, and just keep it.

`tests/verify/test_contract.py` checks the same in processes of their own, as the command does.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.stochastic.pegasos import Pegasos
from svmbench.verify import contract
from svmbench.verify.contract import BrokenError
from svmbench.verify.small_training import SmallTraining


def broken(check, body, *, base=Dcd, name="ordinary rows", loss="hinge", bias="none", ball="none"):
    """What a check says of a solver with that body; empty if it holds."""
    solver = type("Mine", (base,), {"__doc__": "Like its base.", "name": "mine"} | body)
    each = solver
    if check not in contract.OF_CLASS:
        each = SmallTraining(solver, loss, bias, ball, "float64")
    try:
        check(each, name) if each is not solver else check(solver)
    except BrokenError as error:
        return str(error)
    return ""


def test_every_check_holds_for_a_solver_that_is_unchanged():
    assert [broken(check, {}) for check in contract.OF_CLASS] == ["", ""]
    for check, names in contract.OF_TRAINING.items():
        assert [broken(check, {}, name=name) for name in names] == [""] * len(names)


# --- the class


@pytest.mark.parametrize("name", ["Mine", "mine!", "-mine", "mine-", "my--solver", "", "mine\n"])
def test_a_name_is_lower_case_with_hyphens(name):
    assert broken(contract.described, {"name": name}).startswith("name is ")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"summary": ""}, "summary is not one line"),
        ({"summary": "two\nlines"}, "summary is not one line"),
        ({"summary": "A sentence."}, "summary is not one line"),
        ({"__doc__": ""}, "it has no docstring"),
        ({"source": ""}, "source is empty"),
        ({"losses": ()}, "losses is ()"),
        ({"losses": ["hinge"]}, "losses is ['hinge']; give a tuple of some of hinge,"),
        ({"losses": ("hinge", "no")}, "losses is"),
        ({"losses": ("hinge", "hinge")}, "losses is"),
        ({"biases": ("some",)}, "biases is"),
        ({"constraints": ()}, "constraints is"),
        ({"smoothed": Dcd.losses}, "smoothed is"),
        ({"smoothed": ("no",)}, "smoothed is"),
        ({"step": "row"}, "step is 'row'; give one of: presentation iteration"),
        ({"horizon": "time"}, "horizon is 'time'; give one of: none steps accuracy"),
        ({"horizon": "steps", "horizon_parameter": "no"}, "horizon_parameter 'no' is no parameter"),
        ({"ladder": True}, "a ladder has no horizon"),
    ],
)
def test_a_description_that_does_not_hold(body, said):
    assert said in broken(contract.described, body)


def schema(doc="A number.", source="ours", default=1.0, config=None):
    fields = {"__annotations__": {"speed": float}, "speed": parameter(default, doc, source=source)}
    if config is not None:
        fields["__pydantic_config__"] = config
    return type("Mine", (Parameters,), fields | {"__doc__": "Parameters.", "__module__": __name__})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict, "schema is no subclass of Parameters"),
        (schema(doc="A number"), "speed has no description that ends with a full stop"),
        (schema(doc=""), "speed has no description"),
        (schema(source=""), "or no source"),
        (schema(default=...), "speed has no default"),
        (schema(config={}), "its parameters may have unknown names"),
        (schema(config={"extra": "ignore"}), "its parameters may have unknown names"),
    ],
)
def test_parameters_that_do_not_hold(given, said):
    solver = SimpleNamespace(schema=given)
    with pytest.raises(BrokenError) as caught:
        contract.parameters_documented(solver)
    assert said in str(caught.value)


# --- the weights


def showing(change):
    return {"w": property(lambda self: change(Dcd.w.fget(self)))}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (showing(list), "w is a list and no array; return an array of float64 of shape (12,)"),
        (showing(lambda w: w[:-1]), "w is an array of shape (11,)"),
        (showing(lambda w: w[None]), "w is an array of shape (1, 12)"),
        (showing(lambda w: w.astype(np.float32)), "type float32"),
        (showing(lambda w: w * np.nan), "w is not finite after 0 steps"),
        (showing(lambda w: np.where(w, np.inf, w)), "w is not finite after 180 steps"),
        ({"bias": property(lambda self: 0)}, "bias is 0; return a float"),
        ({"bias": property(lambda self: 0.5)}, "bias is 0.5, and the problem has none"),
    ],
)
def test_weights_that_do_not_hold(body, said):
    assert said in broken(contract.gives_weights, body)


def test_weights_that_are_no_copy():
    def start(self, problem, seed):
        Dcd.start(self, problem, seed)
        self.shown = np.zeros(problem.data.n_features)

    body = {"start": start, "w": property(lambda self: self.shown)}
    said = broken(contract.gives_weights, body)
    assert said == "writing into the array that w returned changes w; return a copy"


def test_an_array_that_advance_changes_later():
    def start(self, problem, seed):
        Dcd.start(self, problem, seed)
        self.given = []

    def w(self):
        self.given.append(Dcd.w.fget(self))
        return self.given[-1]

    def advance(self, steps):
        Dcd.advance(self, steps)
        for array in self.given:
            array[:] = 1.0

    body = {"start": start, "w": property(w), "advance": advance}
    said = broken(contract.gives_weights, body)
    assert said == "advance changes an array that w returned; return a copy"


# --- the optimum


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: 0.0 * w, "w is still 0: let advance change w"),
        (lambda w: -w, "the weights point the wrong way"),
        (lambda w: 1e3 * w, "this is no better than w = 0, where P = 1"),
        (lambda w: 0.2 * w, "check the step length"),
        (lambda w: w * np.inf, "w is not finite: take shorter steps"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_weights_far_from_the_optimum(change, said):
    found = broken(contract.reaches_optimum, showing(change))
    assert said in found
    assert "after 2000 epochs, but P* = " in found


def test_a_tolerance_of_a_twentieth():
    each = SmallTraining(Dcd, "hinge", "none", "none", "float64")
    problem = each.problem("ordinary rows")
    run, (lower, _) = each.started(problem), each.optimum(problem)
    run.advance(100 * problem.data.n_samples)
    best = run.w

    def primal(factor):
        return problem.primal(factor * best, 0.0) / lower - 1.0

    near = next(f for f in np.linspace(1.0, 0.2, 400) if primal(f) > 0.045)
    far = next(f for f in np.linspace(1.0, 0.2, 400) if primal(f) > 0.055)
    assert broken(contract.reaches_optimum, showing(lambda w: near * w)) == ""
    assert broken(contract.reaches_optimum, showing(lambda w: far * w)) != ""


def test_weights_outside_the_ball():
    outside = {"w": property(lambda self: 1.001 * Pegasos.w.fget(self))}
    for check in (contract.reaches_optimum, contract.bounds_hold, contract.survives_edges):
        name = "two rows" if check is contract.survives_edges else "ordinary rows"
        assert broken(check, {}, base=Pegasos, ball="l1", name=name) == ""
        said = broken(check, outside, base=Pegasos, ball="l1", name=name)
        assert "and the ball has radius 0.5; project w" in said


# --- bounds


def shown_bound(value):
    return {"dual": lambda self: value}


def test_a_bound_may_be_the_optimum_and_no_more():
    each = SmallTraining(Dcd, "hinge", "none", "none", "float64")
    _, upper = each.optimum(each.problem("ordinary rows"))
    assert broken(contract.bounds_hold, shown_bound(upper)) == ""
    assert broken(contract.bounds_hold, shown_bound(None)) == ""
    said = broken(contract.bounds_hold, shown_bound(upper * (1.0 + 1e-10)))
    assert "dual() is " in said
    parts = ("hinge", "none", "none", "float32")
    within = type("Mine", (Dcd,), shown_bound(upper * (1.0 + 5e-5)))
    contract.bounds_hold(SmallTraining(within, *parts), "ordinary rows")
    beyond = type("Mine", (Dcd,), shown_bound(upper * (1.0 + 2e-4)))
    with pytest.raises(BrokenError, match=r"dual\(\) is "):
        contract.bounds_hold(SmallTraining(beyond, *parts), "ordinary rows")


def test_an_evaluation_of_ours_that_is_wrong():
    class Wrong(SmallTraining):
        """Takes the optimum for larger than it is."""

        def optimum(self, problem):
            return tuple(10.0 * bound for bound in super().optimum(problem))

    with pytest.raises(BrokenError, match=r"is below the certified bound .*; report it"):
        contract.bounds_hold(Wrong(Dcd, "hinge", "none", "none", "float64"), "ordinary rows")


# --- edges, and features that no row has


@pytest.mark.parametrize("name", ["rows that are zero", "two rows"])
@pytest.mark.parametrize(
    "body",
    [
        showing(lambda w: w * np.nan),
        {"dual": lambda self: math.nan},
        {"bias": property(lambda self: math.inf)},
    ],
)
def test_numbers_that_are_not_finite_on_edges(body, name):
    assert "w or bias is not finite, or dual() is nan" in broken(
        contract.survives_edges, body, name=name
    )


def test_a_weight_of_a_feature_that_no_row_has():
    unseen = {"name": "features without entries"}
    said = broken(contract.leaves_unseen, showing(lambda w: w + 1e-300), **unseen)
    assert said == "such weights are [1e-300, 1e-300]; start at w = 0"
    assert broken(contract.leaves_unseen, {}, **unseen) == ""
    moved = {"w": property(lambda self: Dcd.w.fget(self) + (self.counters.presentations > 9))}
    assert "such weights are [1.0, 1.0]" in broken(contract.leaves_unseen, moved, **unseen)


# --- state, seeds and counts


def test_a_state_that_depends_on_the_calls():
    def advance(self, steps):
        Dcd.advance(self, steps)
        self.calls = getattr(self, "calls", 0) + 1

    body = {"advance": advance, "stopped": property(lambda self: self.calls > 5)}
    assert "advance by" in broken(contract.continues, body)


@pytest.mark.parametrize("shared", ["seed", "state"])
def test_results_that_do_not_repeat(shared):
    counter = iter(range(10**6))

    def start(self, problem, seed):
        Dcd.start(self, problem, seed // 2 + next(counter) if shared == "seed" else seed)

    body = {"start": start}
    if shared == "state":
        body = {"stopped": property(lambda self: next(counter) % 3 == 0)}
    assert "two instances with the same seed differ" in broken(contract.repeats, body)


def test_a_second_start_that_goes_on():
    def start(self, problem, seed):
        if not hasattr(self, "begun"):
            Dcd.start(self, problem, seed)
        self.begun = True

    said = broken(contract.repeats, {"start": start})
    assert said.startswith("a second start gives another result; set everything in start")


def counting(change):
    """A solver whose counts after each call are changed."""

    def advance(self, steps):
        Dcd.advance(self, steps)
        change(self.counters, steps)

    return {"advance": advance}


def begun(self, problem, seed):
    Dcd.start(self, problem, seed)
    self.counters.updates = 1


def setting(**values):
    def change(counters, _):
        for name, value in values.items():
            setattr(counters, name, value)

    return counting(change)


def more(name, number, idle=False):
    def change(counters, steps):
        if idle == (steps == 0):
            setattr(counters, name, getattr(counters, name) + number)

    return counting(change)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"start": begun}, "counts are (0, 1, 0) after start and advance(0); set them to 0"),
        (more("nonzeros", 1, idle=True), "counts are (0, 0, 1) after start and advance(0)"),
        (more("presentations", 60), "advance(1) counts 61 presentations"),
        (more("presentations", -1), "advance(1) counts 0 presentations"),
        (setting(updates=0), "presentations, updates and nonzeros are ("),
        (setting(nonzeros=0), "presentations, updates and nonzeros are ("),
        (more("updates", 1000), "presentations, updates and nonzeros are ("),
        (more("updates", -100), "counts go from"),
        (more("nonzeros", -(10**6)), "counts go from"),
    ],
)
def test_counts_that_do_not_hold(body, said):
    assert said in broken(contract.counts, body)


# --- the problem


@pytest.mark.parametrize("what", ["labels", "values", "indices", "indptr", "lam"])
def test_a_problem_that_is_changed(what):
    def start(self, problem, seed):
        Dcd.start(self, problem, seed)
        self.given = problem

    def advance(self, steps):
        Dcd.advance(self, steps)
        if what == "lam":
            object.__setattr__(self.given, "lam", 1.0)
        else:
            array = getattr(self.given.data, what)
            array.setflags(write=True)
            array[-1] += 1

    said = broken(contract.leaves_data, {"start": start, "advance": advance})
    assert said == "the rows, labels or λ have changed; work on copies"


# --- which checks there are


def test_the_checks_of_a_foreign_solver():
    foreign = type("Mine", (Dcd,), {"foreign": True, "__doc__": "A program."})
    assert len(contract.left_out(foreign)) == 6
    assert contract.left_out(Dcd) == []
    assert contract.expected_checks(foreign) == 5
    assert contract.expected_checks(Dcd) == 11
    asked = [what for what, _, _ in contract.checks(foreign)]
    assert not set(asked) & set(contract.left_out(foreign))
    kinds = {kind for _, _, kind in contract.checks(Dcd)}
    assert "" in kinds
    assert "hinge, float64" in kinds


def test_what_a_broken_check_makes_moot():
    weights, same, whole = (
        (check.__doc__ or "").rstrip(".")
        for check in (contract.gives_weights, contract.repeats, contract.continues)
    )
    assert contract.is_moot(whole, {weights})
    assert contract.is_moot(whole, {same})
    assert not contract.is_moot(same, {whole})
    assert contract.is_moot(same, {weights})
    assert not contract.is_moot(whole, set())
