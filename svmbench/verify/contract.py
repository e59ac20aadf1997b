"""The contract of solvers as checks that a user can run on a solver of hers.

Each check trains the solver on small problems of every class that it supports. It is a function of
a `SmallTraining`, which raises `BrokenError` with what is wrong and what to do.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, get_args

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray, Provenance
from svmbench.problem import BIASES, CONSTRAINTS, LOSSES, Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Parameters, Solver

#: How close to the optimum a solver must come, within so many epochs, or iterations.
ACCURACY, EPOCHS, ITERATIONS = 0.05, 2000, 500

#: Values of λ in place of the problem's that a solver may have confused with it.
CONFUSED: dict[str, Callable[[int], float]] = {
    "λm": lambda m: float(m),
    "λ/m": lambda m: 1.0 / m,
    "2λ": lambda m: 2.0,
    "λ/2": lambda m: 0.5,
}


class BrokenError(Exception):
    """The solver breaks its contract: what is wrong, and what to do."""


def hold(condition: bool, wrong: str, remedy: str) -> None:
    """Raise unless a condition holds.

    Parameters
    ----------
    condition : bool
    wrong, remedy : str

    Raises
    ------
    BrokenError
    """
    if not condition:
        raise BrokenError(f"{wrong}; {remedy}")


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
        run = self.solver(self.solver.schema(precision=self.precision))  # type: ignore[arg-type]
        run.load()
        run.convert(problem)
        run.start(problem, seed)
        return run

    def advanced(self, name: str, epochs: int, iterations: int) -> tuple[Problem, Solver]:
        """A problem, and an instance after so many epochs, or iterations."""
        problem = self.problem(name)
        run = self.started(problem)
        run.advance(self.steps(problem, epochs, iterations))
        return problem, run

    def steps(self, problem: Problem, epochs: int, iterations: int) -> int:
        """Steps of so many epochs, or of so many iterations if a step is one."""
        if self.solver.step == "presentation":
            return epochs * problem.data.n_samples
        return iterations


def trainings(solver: type[Solver]) -> list[SmallTraining]:
    """Every class of problems that a solver supports, in each of its precisions."""
    precisions = get_args(solver.schema.model_fields["precision"].annotation)
    return [
        SmallTraining(solver, loss, bias, constraint, precision)
        for loss in solver.losses
        for bias in solver.biases
        for constraint in solver.constraints
        for precision in precisions
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
    """Rows as a data set in sparse form.

    Parameters
    ----------
    name : str
    X : ndarray, shape (m, d)
    y : ndarray, shape (m,)
    """
    rows, columns = np.nonzero(X)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    values, digest = X[rows, columns], hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()
    origin = Provenance("contract", digest)
    indices, signs = columns.astype(np.uint16), y.astype(np.int8)
    return Dataset(name, X.shape[1], indptr, indices, values, signs, origin)


def _optimum(problem: Problem) -> tuple[float, float]:
    """D_ref and P_ref."""
    reference = certified_optimum(problem, 1e-6, 10.0)
    return reference.dual, reference.primal


# --- checks of the class -----------------------------------------------------------


def described(solver: type[Solver]) -> None:
    """Describes itself."""
    hold(
        re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", solver.name) is not None,
        f"name is {solver.name!r}",
        "use lower case, digits and hyphens",
    )
    hold(
        "\n" not in solver.summary and not solver.summary.endswith("."),
        "summary is not one line without a full stop",
        "shorten it",
    )
    for name, known in (("losses", LOSSES), ("biases", BIASES), ("constraints", CONSTRAINTS)):
        given = getattr(solver, name)
        valid = isinstance(given, tuple) and bool(given) and set(given) <= set(known)
        hold(valid, f"{name} is {given!r}", f"give a tuple of some of {', '.join(known)}")
    for name, words in (("step", "presentation iteration"), ("horizon", "none steps accuracy")):
        given = getattr(solver, name)
        hold(given in words.split(), f"{name} is {given!r}", f"give one of: {words}")
    hold(
        solver.horizon == "none" or solver.horizon_parameter in solver.schema.model_fields,
        f"horizon is {solver.horizon!r}, but horizon_parameter {solver.horizon_parameter!r} is no "
        "parameter",
        "name the parameter that receives it",
    )
    colour = re.fullmatch("#[0-9A-Fa-f]{6}", solver.colour)
    hold(colour is not None, f"colour is {solver.colour!r}", "write it as #rrggbb")


def parameters_documented(solver: type[Solver]) -> None:
    """Documents its parameters, and has a default for each."""
    hold(
        issubclass(solver.schema, Parameters),
        "schema is no subclass of Parameters",
        "derive it from svmbench.solvers.base.Parameters",
    )
    for name, field in solver.schema.model_fields.items():
        extra: Any = field.json_schema_extra
        documented = bool(field.description) and bool(extra) and bool(extra.get("source"))
        hold(not field.is_required(), f"{name} has no default", "give it one")
        hold(documented, f"{name} has no description or source", "declare it by parameter(...)")


# --- checks of its training --------------------------------------------------------


def gives_weights(each: SmallTraining) -> None:
    """Returns its weights as a new array of float64."""
    problem, run = each.advanced("ordinary rows", 3, 3)
    w = run.w
    d = problem.data.n_features
    hold(
        isinstance(w, np.ndarray) and w.shape == (d,) and w.dtype == np.float64,
        f"w is {type(w).__name__} of shape {getattr(w, 'shape', None)} and type "
        f"{getattr(w, 'dtype', None)}",
        f"return an array of float64 of shape ({d},)",
    )
    kept = w.copy()
    w[:] = 7.0
    hold(
        run.w.tobytes() == kept.tobytes(),
        "writing into the array that w returned changes w",
        "return a copy",
    )
    bias = run.bias
    hold(isinstance(bias, float), f"bias is {bias!r}", "return a float")
    hold(
        each.bias == "free" or bias == 0.0,
        f"bias is {bias:g}, and the problem has none",
        "return 0.0 there",
    )


def reaches_optimum(each: SmallTraining) -> None:
    """Reaches the certified optimum."""
    for name in ("ordinary rows", "separable rows"):
        problem, run = each.advanced(name, EPOCHS, ITERATIONS)
        primal, (lower, upper) = problem.primal(run.w, run.bias), _optimum(problem)
        smoothing = float(getattr(run.parameters, "smoothing", 0.0) or 0.0)
        allowed = smoothing / 2 if each.loss in each.solver.smoothed else ACCURACY * lower
        hold(
            problem.admits(run.w),
            f"on {name}, ‖w‖₁ = {np.abs(run.w).sum():.4g}, and the ball has radius 0.5",
            "project w",
        )
        after = (
            f"{EPOCHS} epochs" if each.solver.step == "presentation" else f"{ITERATIONS} iterations"
        )
        hold(
            primal - lower <= allowed,
            f"on {name}, P = {primal:.4g} after {after}, but P* = {upper:.4g}",
            _diagnosis(problem, run),
        )


def _diagnosis(problem: Problem, run: Solver) -> str:
    """What a solver that ends elsewhere may have confused."""
    reached, w = problem.primal(run.w, run.bias), run.w
    for words, factor in CONFUSED.items() if w.any() else ():
        other = replace(problem, lam=problem.lam * factor(problem.data.n_samples))
        _, best = _optimum(other)
        if other.primal(w, run.bias) <= best * (1.0 + ACCURACY):
            return (
                f"this is the optimum for {words} in place of λ: P(w) is λ/2 ‖w‖² plus the mean of "
                "the losses"
            )
    if problem.primal(-w, -run.bias) < reached:
        return "the weights point the wrong way: s is y w·x, and labels are +1 and -1"
    if reached >= problem.primal(np.zeros_like(w)):
        return "w is no better than 0: check the sign of the step, and that advance changes w"
    return (
        "check the step length, and that P(w) is λ/2 ‖w‖² plus the mean of the losses; a slow "
        "method may be right and need more"
    )


def bounds_hold(each: SmallTraining) -> None:
    """Shows no lower bound above the optimum."""
    for name in ("ordinary rows", "duplicates with both labels"):
        problem = each.problem(name)
        run, (_, upper) = each.started(problem), _optimum(problem)
        slack = 1e-9 if each.precision == "float64" else 1e-3
        for _ in range(20):
            run.advance(each.steps(problem, 1, 1))
            dual = run.dual()
            hold(
                dual is None or dual <= upper * (1.0 + slack),
                f"on {name}, dual() is {dual}, and P* is at most {upper:.6g}",
                "return D(α) of feasible dual variables, or None",
            )


def survives_edges(each: SmallTraining) -> None:
    """Survives rows that are zero, repeated, contradictory or few."""
    for name in ("rows that are zero", "duplicates with both labels", "two rows"):
        problem = each.problem(name)
        run = each.started(problem)
        for steps in (1, each.steps(problem, 1, 1), each.steps(problem, 100, 50)):
            run.advance(steps)
            hold(
                bool(np.isfinite(run.w).all()) and math.isfinite(run.bias),
                f"on {name}, w or bias is not finite",
                "look for a division by a norm that is 0",
            )


def leaves_unseen(each: SmallTraining) -> None:
    """Leaves the weight of a feature without entries at 0."""
    _, run = each.advanced("features without entries", 20, 20)
    w = run.w[[0, 11]]
    hold(bool((w == 0.0).all()), f"such weights are {w.tolist()}", "start at w = 0")


def continues(each: SmallTraining) -> None:
    """Continues where the last step ended, and reading it changes nothing."""
    problem = each.problem("ordinary rows")
    split, whole = each.started(problem), each.started(problem)
    pieces = [1, 2, 5, 40, 3] if each.solver.step == "presentation" else [1, 2, 1, 3]
    for steps in pieces:
        split.advance(steps)
        _shown(split)
    rows = each.solver.step == "presentation"
    whole.advance(split.counters.presentations if rows else sum(pieces))
    hold(
        _shown(whole) == _shown(split),
        f"advance by {pieces} and advance by their sum differ",
        "keep the whole state in the instance, and change it only in start and advance",
    )


def repeats(each: SmallTraining) -> None:
    """Gives the same result for the same seed, also after starting again."""
    problem = each.problem("ordinary rows")
    steps = each.steps(problem, 4, 4)
    first, second = each.started(problem, 2**64 - 1), each.started(problem, 2**64 - 1)
    first.advance(steps)
    second.advance(steps)
    hold(
        _shown(first) == _shown(second),
        "two instances with the same seed differ",
        "draw all random numbers from svmbench.kernels.rng.Generator(seed), and share no state",
    )
    first.start(problem, 2**64 - 1)
    first.advance(steps)
    hold(
        _shown(first) == _shown(second),
        "a second start gives another result",
        "set everything in start, the counters too: self.counters = Counters()",
    )


def counts(each: SmallTraining) -> None:
    """Counts the rows that it processes."""
    problem = each.problem("ordinary rows")
    run, m = each.started(problem), problem.data.n_samples
    hold(_counts(run) == (0, 0, 0), f"counts are {_counts(run)} after start", "set them to 0")
    for steps in (1, 2, m, 5 * m) if each.solver.step == "presentation" else (1, 1, 1):
        before = _counts(run)
        run.advance(steps)
        after = _counts(run)
        grown = after[0] - before[0]
        hold(
            all(isinstance(count, int) for count in after) and min(np.subtract(after, before)) >= 0,
            f"counts go from {before} to {after}",
            "count whole numbers upwards",
        )
        hold(
            each.solver.step == "iteration" or steps <= grown < steps + m,
            f"advance({steps}) counts {grown} presentations",
            "count each row once each time it is processed, and stop at the number asked for",
        )
    hold(
        after[0] > 0 and after[1] > 0,
        f"presentations, updates and nonzeros are {after} at the end",
        "add to self.counters in advance",
    )


def leaves_data(each: SmallTraining) -> None:
    """Leaves the problem as it is."""
    problem = each.problem("ordinary rows")
    data = problem.data
    arrays = (data.indptr, data.indices, data.values, data.labels)
    before = [array.tobytes() for array in arrays if array is not None], problem.lam
    run = each.started(problem)
    run.advance(each.steps(problem, 3, 3))
    after = [array.tobytes() for array in arrays if array is not None], problem.lam
    hold(before == after, "the rows, labels or λ have changed", "work on copies")


OF_CLASS: tuple[Callable[[type[Solver]], None], ...] = (described, parameters_documented)

OF_TRAINING: tuple[Callable[[SmallTraining], None], ...] = (
    gives_weights,
    leaves_data,
    counts,
    continues,
    repeats,
    survives_edges,
    leaves_unseen,
    bounds_hold,
    reaches_optimum,
)

#: Checks of an external program, which cannot be advanced in pieces.
OF_FOREIGN = (gives_weights, leaves_data, survives_edges)


def checks(solver: type[Solver]) -> Iterator[tuple[str, Callable[[], None], str]]:
    """The checks of a solver: what each asks, the check itself, and the class of problems."""
    for check in OF_CLASS:
        yield _asked(check), partial(check, solver), ""
    for of_training in OF_FOREIGN if solver.foreign else OF_TRAINING:
        for each in trainings(solver):
            yield _asked(of_training), partial(of_training, each), each.kind


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
    return run.w.tobytes(), run.bias, _counts(run), run.dual(), run.stopped
