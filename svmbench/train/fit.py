"""One problem with two classes, trained until a certificate says that it is near enough.

`Problem` computes the certificate from w, b and alpha after the fact. Methods are tried in groups:
those of a group take turns by estimated work, so that a fit takes little longer than their number
times the best of them; if all of them end short of the tolerance, the next group follows. Work is
counted and not timed, so that the same rows and seed give the same weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem, relative_gap
from svmbench.reference import smooth
from svmbench.reference.search import Pair, balanced_descent, descent, interior
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.second_order.newton import Newton

#: Features up to which the interior-point method may form its d x d matrix.
FEW_FEATURES = 2000

#: Passes until the first look at a method that knows its own gap, and the growth of the number of
#: passes from one look to the next: a look costs three passes.
LOOK_PASSES, LOOK_GROWTH = 30.0, 1.25

#: Work of a multiply-add in a dense matrix, relative to that of a stored entry of a row.
DENSE_WORK = 0.06


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights with their certificate.

    Parameters
    ----------
    w : ndarray of float64, shape (d,)
    bias : float
        b; 0 if the problem has none.
    primal, dual : float
        P(w, b), and a lower bound on P*.
    errors : int
        Training rows on the wrong side.
    looks : int
        Times that a certificate was computed.
    seconds : float
        Of training, certificates included.
    method : str
        The method that found w.
    """

    w: FloatArray
    bias: float
    primal: float
    dual: float
    errors: int
    looks: int
    seconds: float
    method: str

    @property
    def gap(self) -> float:
        """(P - D)/D, a bound on (P - P*)/P*; inf while D <= 0, 0 where rounding puts P below D."""
        return max(0.0, relative_gap(self.primal, self.dual))


def fit(
    problem: Problem,
    tolerance: float,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    progress: Callable[[float], None] = lambda gap: None,
) -> Fit:
    """Train until (P - D)/D is at most the tolerance.

    Parameters
    ----------
    problem : Problem
        Of the hinge, the squared hinge or the logistic loss, without a ball.
    tolerance : float
        Requested relative gap.
    seed : int
        Of random orders of rows.
    time_limit : float
        Seconds after which the best weights so far are returned; their gap is then larger.
    progress : callable
        Called with the gap after every look.

    Returns
    -------
    Fit
        The best w and the best bound found, whether or not they meet the tolerance.
    """
    begun = time.monotonic()
    w, alpha = np.zeros(problem.data.n_features), np.zeros(problem.data.n_samples)
    best = (w, 0.0, problem.primal(w), "w = 0")
    bound, looks = problem.dual(problem.repaired(alpha)), 0
    for name, pair in _pairs(problem, tolerance, seed):
        found, bias, alpha = pair
        primal, looks = problem.primal(found, bias), looks + 1
        if primal < best[2]:
            best = (found, bias, primal, name)
        bound = max(bound, problem.dual(alpha))
        gap = relative_gap(best[2], bound)
        progress(gap)
        if gap <= tolerance or time.monotonic() - begun >= time_limit:
            break
    w, bias, primal, name = best
    errors = problem.evaluate(w, bias).errors
    seconds = time.monotonic() - begun
    return Fit(w, bias, primal, bound, errors, looks, seconds, name)


@dataclass(frozen=True, eq=False)
class _Method:
    """A method to take turns with others.

    Parameters
    ----------
    name : str
    pairs : iterator of Pair
    work : callable
        Estimated work of its next pair, in stored entries, from that of its pairs so far.
    """

    name: str
    pairs: Iterator[Pair]
    work: Callable[[float], float] = lambda so_far: 1.0


def _pairs(problem: Problem, tolerance: float, seed: int) -> Iterator[tuple[str, Pair]]:
    """The pairs of all methods, group by group, each with its method's name."""
    for group in _groups(problem, tolerance, seed):
        done = dict.fromkeys(group, 0.0)
        while done:
            method = min(done, key=lambda each: done[each] + each.work(done[each]))
            pair = next(method.pairs, None)
            if pair is None:
                del done[method]
            else:
                done[method] += method.work(done[method])
                yield method.name, pair


def _groups(problem: Problem, tolerance: float, seed: int) -> list[list[_Method]]:
    free, data = problem.bias == "free", problem.data
    if problem.loss.name == "logistic":
        return [[_Method("newton", smooth.newton(problem))]]
    down = balanced_descent(problem) if free else descent(problem)
    robust = [_Method("dcd", down, lambda so_far: max(3.0 * data.nnz, so_far / 8.0))]
    d, m = data.n_features, data.n_samples
    if d <= FEW_FEATURES:
        step = DENSE_WORK * (data.nnz * (data.nnz / m) / 2.0 + d**3 / 3.0) + 10.0 * data.nnz
        robust.append(_Method("ipm", interior(problem), lambda so_far: step))
    if problem.loss.name == "squared-hinge":
        newton = _newton(problem, seed)
        return [[newton, *robust[:1]], robust[1:]]
    return [robust] if free else [[_Method("auto", _champion(problem, tolerance, seed))], robust]


def _champion(problem: Problem, tolerance: float, seed: int) -> Iterator[Pair]:
    """The suite's fastest solver: once its own gap holds, and now and then before."""
    solver = Auto(AutoParameters(tolerance=tolerance))
    solver.halts = True
    solver.start(problem, seed)
    next_look = LOOK_PASSES * problem.data.nnz
    while not solver.exhausted:
        solver.advance(1)
        if solver.stopped or solver.exhausted or solver.counters.nonzeros > next_look:
            yield solver.w, 0.0, solver.alpha
            next_look = LOOK_GROWTH * max(next_look, solver.counters.nonzeros)


def _newton(problem: Problem, seed: int) -> _Method:
    """Newton steps on the primal of the squared hinge, until rounding ends them."""
    solver = Newton()
    solver.start(problem, seed)

    def pairs() -> Iterator[Pair]:
        while not solver.stopped:
            solver.advance(1)
            yield solver.w, solver.bias, problem.repaired(solver.alpha)

    # A step takes about as long as those before it together: its system is solved the better the
    # nearer the optimum is.
    least = 3.0 * problem.data.nnz
    return _Method("newton", pairs(), lambda so_far: least + 0.5 * solver.counters.nonzeros)
