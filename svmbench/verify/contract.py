"""The contract of solvers, as checks that users can run on solvers of their own.

A check of training is a function of a `SmallTraining` (the solver and one class of problems) and
the name of a small problem. It raises `BrokenError` with what is wrong and what to do.
`svmbench solvers --check` runs the checks on the problems below, and the project's tests run them
for every solver on problems and optima of their own.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray, Provenance
from svmbench.names import BIASES, CONSTRAINTS, LOSSES
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Parameters, Solver
from svmbench.solvers.checked import checked, json_schema, names_of, precisions_of

#: How close to the optimum a solver must come, relative to P*.
ACCURACY = 0.05

#: Epochs, or iterations, within which a solver must come close to the optimum.
EPOCHS, ITERATIONS = 2000, 500

#: Values of λ in place of the problem's that a solver may have confused with it.
CONFUSED: dict[str, Callable[[int], float]] = {
    "λm": lambda m: float(m),
    "λ/m": lambda m: 1.0 / m,
    "2λ": lambda m: 2.0,
    "λ/2": lambda m: 0.5,
}


# --- small problems of every class that a solver supports ----------------------------


@dataclass(frozen=True)
class SmallTraining:
    """A solver and the class of problems it is to train, in one precision."""

    solver: type[Solver]
    loss: str
    bias: str
    constraint: str
    precision: str

    @property
    def kind(self) -> str:
        """The class of problems in words."""
        parts = [self.loss, self.precision]
        parts += ["free bias"] * (self.bias == "free") + ["l1 ball"] * (self.constraint == "l1")
        return ", ".join(parts)

    def problem(self, name: str) -> Problem:
        """The small problem of that name in this class."""
        X, y = problems()[name]
        radius = 0.5 if self.constraint == "l1" else math.inf
        gamma = 0.5 if self.loss == "smoothed-hinge" else 1.0
        return Problem(dataset(name, X, y), 2.0**-5, Loss(self.loss, gamma), self.bias, radius)

    def started(self, problem: Problem, seed: int = 1) -> Solver:
        """A new instance at its initial point."""
        parameters = self.solver.schema(precision=self.precision)  # type: ignore[arg-type]
        run, other = self.solver(parameters), self.solver(parameters)
        run.load()
        other.warm_up(problem)
        run.convert(problem)
        run.start(problem, seed)
        return run

    def optimum(self, problem: Problem) -> tuple[float, float]:
        reference = certified_optimum(problem, 1e-6, 10.0)
        return reference.dual, reference.primal

    def steps(self, problem: Problem, epochs: int, iterations: int) -> int:
        """Steps of so many epochs, or of so many iterations if a step is one."""
        return epochs * problem.data.n_samples if self.counts_rows else iterations

    @property
    def counts_rows(self) -> bool:
        """Whether a step is the presentation of a row."""
        return self.solver.step == "presentation"

    def within(self, run: Solver, name: str, lower: float) -> float:
        """How far above the optimum it may end on that problem."""
        if self.loss in self.solver.smoothed:
            return float(run.parameters.smoothing) / 2  # a smoothed loss differs by no more
        return ACCURACY * lower


def trainings(solver: type[Solver]) -> list[SmallTraining]:
    """Every class of problems that a solver supports, in each of its precisions."""
    return [
        SmallTraining(solver, loss, bias, constraint, precision)
        for loss in solver.losses
        for bias in solver.biases
        for constraint in solver.constraints
        for precision in precisions_of(solver.schema)
    ]


@cache
def problems() -> dict[str, tuple[FloatArray, Array]]:
    """Rows and labels of the small problems by name."""
    rng = np.random.default_rng(2024)
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.4)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    y = np.where(X @ rng.normal(size=12) + 0.2 * rng.normal(size=60) > 0.0, 1, -1)
    holes, unseen = X.copy(), X.copy()
    holes[::3] = 0.0
    unseen[:, [0, 11]] = 0.0
    return {
        "ordinary rows": (X, y),
        "separable rows": (X + 0.5 * y[:, None] / math.sqrt(12.0), y),
        "rows that are zero": (holes, y),
        "duplicates with both labels": (np.repeat(X[:15], 2, axis=0), np.tile([1, -1], 15)),
        "two rows": (X[:2], np.array([1, -1])),
        "features without entries": (unseen, y),
    }


def dataset(name: str, X: FloatArray, y: Array) -> Dataset:
    """Rows as a data set in sparse form."""
    rows, columns = np.nonzero(X)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    values, digest = X[rows, columns], hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()
    origin = Provenance("contract", digest)
    indices, signs = columns.astype(np.uint16), y.astype(np.int8)
    return Dataset(name, X.shape[1], indptr, indices, values, signs, origin)


class BrokenError(Exception):
    """The solver breaks its contract: what is wrong, and what to do."""


def hold(condition: bool, wrong: str, remedy: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise BrokenError(f"{wrong}; {remedy}")


# --- checks of the class -----------------------------------------------------------


def described(solver: type[Solver]) -> None:
    """Describes itself."""
    hold(
        re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", solver.name) is not None,
        f"name is {solver.name!r}",
        "use lower case, digits and hyphens",
    )
    hold(
        bool(solver.summary) and "\n" not in solver.summary and not solver.summary.endswith("."),
        "summary is not one line without a full stop",
        "shorten it",
    )
    hold(bool(solver.__doc__), "it has no docstring", "say in one how the method works")
    hold(bool(solver.source), "source is empty", "name the paper or program that defines it")
    for name, known in (("losses", LOSSES), ("biases", BIASES), ("constraints", CONSTRAINTS)):
        given = getattr(solver, name)
        valid = isinstance(given, tuple) and bool(given) and set(given) <= set(known)
        hold(
            valid and len(set(given)) == len(given),
            f"{name} is {given!r}",
            f"give a tuple of some of {', '.join(known)}",
        )
    hold(
        set(solver.smoothed) < set(solver.losses),
        f"smoothed is {solver.smoothed!r}",
        "give some of its losses, and not all of them",
    )
    for name, words in (("step", "presentation iteration"), ("horizon", "none steps accuracy")):
        given = getattr(solver, name)
        hold(given in words.split(), f"{name} is {given!r}", f"give one of: {words}")
    hold(
        solver.horizon == "none" or solver.horizon_parameter in names_of(solver.schema),
        f"horizon is {solver.horizon!r}, but horizon_parameter {solver.horizon_parameter!r} is no "
        "parameter",
        "name the parameter that receives it",
    )
    hold(
        solver.horizon != "none" or not solver.ladder,
        "a ladder has no horizon",
        "say in horizon what ends a run",
    )


def parameters_documented(solver: type[Solver]) -> None:
    """Documents its parameters, and has a default for each."""
    hold(
        issubclass(solver.schema, Parameters),
        "schema is no subclass of Parameters",
        "derive it from svmbench.solvers.base.Parameters",
    )
    described = json_schema(solver.schema)["properties"]
    for name, facts in described.items():
        documented = facts.get("description", "").endswith(".")
        hold("default" in facts, f"{name} has no default", "give it one")
        hold(
            documented and bool(facts.get("source")) and "unit" in facts,
            f"{name} has no description that ends with a full stop, or no source",
            "declare it by parameter(...)",
        )
    forbids = solver.schema.__pydantic_config__.get("extra") == "forbid"
    hold(
        forbids,
        "its parameters may have unknown names",
        "leave __pydantic_config__ as it is in Parameters",
    )
    checked(solver.schema, {})


# --- checks of its training --------------------------------------------------------


def gives_weights(each: SmallTraining, name: str) -> None:
    """Returns its weights as a new array of float64."""
    problem = each.problem(name)
    run, d = each.started(problem), problem.data.n_features
    for steps in (0, each.steps(problem, 3, 3)):
        run.advance(steps)
        w, bias = run.w, run.bias
        wanted = f"return an array of float64 of shape ({d},)"
        hold(isinstance(w, np.ndarray), f"w is a {type(w).__name__} and no array", wanted)
        hold(
            w.shape == (d,) and w.dtype == np.float64,
            f"w is an array of shape {w.shape} and type {w.dtype}",
            wanted,
        )
        hold(
            bool(np.isfinite(w).all()),
            f"w is not finite after {steps} steps",
            "look for a division by 0, and for steps that are far too long",
        )
        hold(isinstance(bias, float), f"bias is {bias!r}", "return a float")
        hold(
            each.bias == "free" or bias == 0.0,
            f"bias is {bias:g}, and the problem has none",
            "return 0.0 there",
        )
    kept = w.copy()
    w[:] = 7.0
    hold(
        run.w.tobytes() == kept.tobytes(),
        "writing into the array that w returned changes w",
        "return a copy",
    )
    run.advance(each.steps(problem, 1, 1))
    hold(bool((w == 7.0).all()), "advance changes an array that w returned", "return a copy")


def reaches_optimum(each: SmallTraining, name: str) -> None:
    """Reaches the certified optimum."""
    problem = each.problem(name)
    run, (lower, upper) = each.started(problem), each.optimum(problem)
    # As many presentations on few rows as on 50.
    epochs = EPOCHS * max(1, 50 // problem.data.n_samples)
    run.advance(each.steps(problem, epochs, ITERATIONS))
    primal = problem.primal(run.w, run.bias)
    _in_ball(problem, run)
    if not primal - lower <= each.within(run, name, lower):
        after = f"{epochs} epochs" if each.counts_rows else f"{ITERATIONS} iterations"
        wrong = f"P = {primal:.4g} after {after}, but P* = {upper:.4g}"
        raise BrokenError(f"{wrong}; {_diagnosis(each, problem, run)}")


def _in_ball(problem: Problem, run: Solver) -> None:
    hold(
        problem.admits(run.w),
        f"‖w‖₁ = {np.abs(run.w).sum():.4g}, and the ball has radius {problem.l1_radius:g}",
        "project w",
    )


def _diagnosis(each: SmallTraining, problem: Problem, run: Solver) -> str:
    """What a solver that ends elsewhere may have confused."""
    w, bias = run.w, run.bias
    if not (np.isfinite(w).all() and math.isfinite(bias)):
        return "w is not finite: take shorter steps"
    if not w.any():
        return "w is still 0: let advance change w"
    reached, start = problem.primal(w, bias), problem.primal(np.zeros_like(w))
    for words, factor in CONFUSED.items():
        other = replace(problem, lam=problem.lam * factor(problem.data.n_samples))
        _, best = each.optimum(other)
        # Of the way from w = 0: a slow method has not come far towards any optimum.
        if other.primal(w, bias) - best <= ACCURACY * (other.primal(np.zeros_like(w)) - best):
            return (
                f"this is the optimum for {words} in place of λ: P(w) is λ/2 ‖w‖² plus the mean of "
                "the losses"
            )
    if problem.primal(-w, -bias) < min(reached, start):
        return "the weights point the wrong way: s is y w·x, and labels are +1 and -1"
    if reached >= start:
        return (
            f"this is no better than w = 0, where P = {start:.4g}: check the sign of the step, and "
            "take shorter steps"
        )
    return (
        "check the step length, and that P(w) is λ/2 ‖w‖² plus the mean of the losses; a slow "
        "method may be right and need more"
    )


def bounds_hold(each: SmallTraining, name: str) -> None:
    """Shows no lower bound above the optimum."""
    problem = each.problem(name)
    run, (lower, upper) = each.started(problem), each.optimum(problem)
    rounding = 1e-12 if each.precision == "float64" else 1e-4
    for _ in range(40):
        run.advance(each.steps(problem, 1, 1))
        primal, dual = problem.primal(run.w, run.bias), run.dual()
        _in_ball(problem, run)
        hold(
            dual is None or dual <= upper * (1.0 + rounding),
            f"dual() is {dual}, and P* is at most {upper:.6g}",
            "return D(α) of feasible dual variables, or None",
        )
        hold(
            not primal < lower * (1.0 - 1e-12),  # a w that is not finite is another matter
            f"P(w) = {primal!r} is below the certified bound {lower!r}",
            "report it: svmbench's own evaluation is wrong",
        )


def survives_edges(each: SmallTraining, name: str) -> None:
    """Survives rows that are zero, repeated, contradictory or few."""
    problem = each.problem(name)
    run = each.started(problem)
    for steps in (1, each.steps(problem, 1, 1), each.steps(problem, 100, 50)):
        run.advance(steps)
        finite = np.isfinite(run.w).all() and math.isfinite(run.bias)
        hold(
            bool(finite) and not np.isnan(run.dual() or 0.0),
            "w or bias is not finite, or dual() is nan",
            "look for a division by a norm that is 0",
        )
        _in_ball(problem, run)


def leaves_unseen(each: SmallTraining, name: str) -> None:
    """Leaves the weight of a feature without entries at 0."""
    problem = each.problem(name)
    run = each.started(problem)
    run.advance(each.steps(problem, 20, 5))
    assert problem.data.indices is not None
    unseen = np.bincount(problem.data.indices, minlength=problem.data.n_features) == 0
    hold(
        unseen.any() and bool((run.w[unseen] == 0.0).all()),
        f"such weights are {run.w[unseen].tolist()}",
        "start at w = 0",
    )


def continues(each: SmallTraining, name: str) -> None:
    """Continues where the last step ended, and reading it changes nothing."""
    pieces = [*range(1, 40), 3, 1, 100] if each.counts_rows else [1, 2, 1, 3]
    continues_by(partial(each.started, each.problem(name)), pieces)


def continues_by(started: Callable[[], Solver], pieces: Sequence[int]) -> Solver:
    """Check that pieces of a run make the whole, and return that."""
    split, whole = started(), started()
    for steps in pieces:
        split.advance(steps)
        _shown(split)
    # A piece may be rounded up to a whole unit of the method.
    rows = whole.step == "presentation"
    whole.advance(split.counters.presentations if rows else sum(pieces))
    hold(
        _shown(whole) == _shown(split),
        f"advance by {list(pieces)} and advance by their sum differ",
        "keep the whole state in the instance, and change it only in start and advance",
    )
    return whole


def repeats(each: SmallTraining, name: str) -> None:
    """Gives the same result for the same seed, also after starting again."""
    problem, seed = each.problem(name), 2**64 - 1
    steps = each.steps(problem, 4, 2)
    first, second = each.started(problem, seed), each.started(problem, seed)
    other = each.started(problem, 6)
    for run in (first, first, second, other, second, other):
        run.advance(steps)
    hold(
        _shown(first) == _shown(second),
        "two instances with the same seed differ",
        "draw all random numbers from svmbench.kernels.rng.Generator(seed), and share no state",
    )
    first.start(problem, seed)
    first.advance(steps)
    first.advance(steps)
    hold(
        _shown(first) == _shown(second),
        "a second start gives another result",
        "set everything in start, the counters too: self.counters = Counters()",
    )


def counts(each: SmallTraining, name: str) -> None:
    """Counts the rows that it processes."""
    problem = each.problem(name)
    run, m = each.started(problem), problem.data.n_samples
    run.advance(0)
    after = _counts(run)
    hold(after == (0, 0, 0), f"counts are {after} after start and advance(0)", "set them to 0")
    for steps in (1, 2, 10, m, 5 * m) if each.counts_rows else (1, 1, 1, 1, 1):
        before = after
        run.advance(steps)
        after = _counts(run)
        grown = after[0] - before[0]
        hold(
            all(isinstance(count, int) for count in after) and min(np.subtract(after, before)) >= 0,
            f"counts go from {before} to {after}",
            "count whole numbers upwards",
        )
        hold(
            not each.counts_rows or steps <= grown < steps + m,
            f"advance({steps}) counts {grown} presentations",
            "count each row once each time it is processed, and stop at the number asked for",
        )
    presentations, updates, nonzeros = after
    hold(
        0 < updates <= presentations and nonzeros >= problem.data.nnz,
        f"presentations, updates and nonzeros are {after} at the end",
        "add to self.counters in advance; not every presentation updates w",
    )


def leaves_data(each: SmallTraining, name: str) -> None:
    """Leaves the problem as it is."""
    problem = each.problem(name)
    data = problem.data
    arrays = (data.indptr, data.indices, data.values, data.labels)
    before = [array.tobytes() for array in arrays if array is not None], problem.lam
    run = each.started(problem)
    run.advance(each.steps(problem, 3, 3))
    after = [array.tobytes() for array in arrays if array is not None], problem.lam
    hold(before == after, "the rows, labels or λ have changed", "work on copies")


OF_CLASS: tuple[Callable[[type[Solver]], None], ...] = (described, parameters_documented)

#: Checks of training, each with the small problems on which a user's solver is checked.
OF_TRAINING: dict[Callable[[SmallTraining, str], None], tuple[str, ...]] = {
    gives_weights: ("ordinary rows",),
    leaves_data: ("ordinary rows",),
    counts: ("ordinary rows",),
    repeats: ("ordinary rows",),
    continues: ("ordinary rows",),
    survives_edges: ("rows that are zero", "duplicates with both labels", "two rows"),
    leaves_unseen: ("features without entries",),
    bounds_hold: ("ordinary rows", "duplicates with both labels"),
    reaches_optimum: ("ordinary rows", "separable rows"),
}

#: Checks of an external program, which cannot be advanced in pieces.
OF_FOREIGN = (gives_weights, leaves_data, survives_edges)


def checks(solver: type[Solver]) -> Iterator[tuple[str, Callable[[], None], str]]:
    """The checks of a solver: what each asks, the check itself, and the class of problems."""
    for check in OF_CLASS:
        yield _asked(check), partial(check, solver), ""
    for of_training in OF_FOREIGN if solver.foreign else OF_TRAINING:
        for each in trainings(solver):
            yield _asked(of_training), partial(_on_small_problems, of_training, each), each.kind


def expected_checks(solver: type[Solver]) -> int:
    """How many checks there are for a solver."""
    return len({what for what, *_ in checks(solver)})


def _on_small_problems(check: Callable[[SmallTraining, str], None], each: SmallTraining) -> None:
    for name in OF_TRAINING[check]:
        try:
            check(each, name)
        except BrokenError as error:
            raise BrokenError(f"on {name}, {error}") from None


def left_out(solver: type[Solver]) -> list[str]:
    """What the checks of an external program do not ask of it; nothing for other solvers."""
    if not solver.foreign:
        return []
    return [_asked(check) for check in OF_TRAINING if check not in OF_FOREIGN]


def _asked(check: Callable[..., None]) -> str:
    """What a check asks of the solver, as its docstring says."""
    return (check.__doc__ or "").rstrip(".")


def _counts(run: Solver) -> tuple[int, int, int]:
    return run.counters.presentations, run.counters.updates, run.counters.nonzeros


def _shown(run: Solver) -> tuple[Any, ...]:
    """All that can be read of a run."""
    alpha = np.asarray(getattr(run, "alpha", ())).tobytes()
    return run.w.tobytes(), alpha, run.bias, _counts(run), run.dual(), run.stopped


def is_moot(what: str, broken: Collection[str]) -> bool:
    """Whether a check would only show what is known to be wrong already."""
    needed = {_asked(continues): _asked(repeats)}.get(what)
    return _asked(gives_weights) in broken or needed in broken
