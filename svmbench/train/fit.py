"""One problem with two classes, trained until a certificate proves the tolerance.

`Problem` computes the certificate from w, b and alpha; it uses nothing that a method reports.
Methods yield pairs of weights and dual variables. They are tried in groups: those of a group take
turns, such that their estimated work stays about equal. A fit of n methods therefore takes little
longer than n times the best of them. Once a method ends short of the tolerance, the next group
joins. A method also ends if its gap has not fallen for a long time, as where rounding is all that
it changes. Work is counted and not timed, so that the same rows and seed give the same weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem, relative_gap
from svmbench.proof import proven_by_norms, proven_dual
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, never
from svmbench.solvers.second_order import smooth
from svmbench.train.effort import USUAL, Effort

if TYPE_CHECKING:
    from svmbench.train.champion import Champion

#: Passes that a Newton step is taken to need.
STEP_PASSES = 30.0

#: Passes whose time a factorisation may take for Newton steps to come before dual descent. Chosen
#: for the squared hinge with adult, w8a, imdb.tfidf, kddcup10 and mnist in view.
WORTH_FACTOR = 75.0

#: Expected work of Newton steps on the squared hinge: so many passes and factors, or passes alone
#: if features are too many for a factor; and the multiple of it that is their longest head start.
#: Half of those that followed a few passes of dual descent took 0.6 to 1.2 times as much, and 19 of
#: 20 less than this multiple (90 problems of scripts/champion/adversary.py, seeds 0 to 5).
NEWTON_PASSES, NEWTON_FACTORS, UNFACTORED_PASSES, HEAD_START = 20.0, 2.0, 500.0, 4.0

#: Expected Newton steps on the hinge with weights or a free bias, and those that a turn takes at
#: least. On 60 of these problems (a free bias, seeds 0 to 3) they took 6 to 120 steps; of 30 to
#: 160, 60 chose best.
MULTIPLIER_STEPS, FEWEST_STEPS = 60.0, 4.0

#: Work that is done before dual descent would have begun.
SMALL = 1e6

#: Rows per feature from which Newton steps gain too little by dual descent before them, on the same
#: problems of the squared hinge and of the hinge (on seeds 0 to 3, 20 and 40, and 4 to 40 were
#: tried).
MANY_ROWS, MANY_ROWS_OF_HINGE = 40, 4

#: Work of an interior-point step for each row besides its entries, in stored entries (250 to 500
#: such on w8a, adult, mushrooms and covtype.20k).
INTERIOR_WORK = 300.0

#: A method has ended if its own gap, over a multiple of its work until then, has not fallen by this
#: share. It must have given so many pairs before, and so many since its gap fell; steps instead
#: of pairs where it counts its own.
PROGRESS, FRUITLESS_WORK, FEWEST_PAIRS, FRUITLESS_PAIRS = 1e-3, 4.0, 20, 6

#: Once a method has ended, the others end too if the best gap has not fallen by `PROGRESS` over
#: this multiple of the work of all of them until then. Dual descent alone may come nearer for ever,
#: and always too slowly.
OUTDONE_WORK = 16.0

#: Below the first relative gap, or the tolerance if that is larger, a fit looks at what rounding
#: takes from the proven bound. It ends if this alone exceeds the tolerance and P - D is down to the
#: second share of it: the proven gap could then fall by a third at most.
SMALL_GAP, ROUNDED_SHARE = 1e-12, 0.5

#: Share of the tolerance that a proof may lose by reading no rows.
SPARED = 0.01

#: What stands for a method where the weights are those of the start.
AT_START = "start"

#: What stands for a method while no weights are better than zeros.
AT_ZERO = "w = 0"

#: Looks before dual descent may have ended, about a hundred epochs; and before methods that end by
#: themselves and may begin slowly.
FEWEST_DESCENTS, MOST_ITERATIONS = 30, 200


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights with their certificate.

    Parameters
    ----------
    w : ndarray of float64, shape (d,)
    bias : float
        b; 0 if the problem has none.
    primal, dual : float
        P(w, b), and a lower bound on P* that allows for rounding.
    certificates : int
        How many were computed.
    seconds : float
        Training time, certificates included.
    method : str
        The method that found w.
    lam : float
        The problem's lambda: P divided by it is 1/2 ||w||^2 + C sum c_i loss.
    alpha : ndarray of float64, shape (m,)
        The dual variables of the best bound.
    """

    w: FloatArray
    bias: float
    primal: float
    dual: float
    certificates: int
    seconds: float
    method: str
    lam: float
    alpha: FloatArray

    @property
    def gap(self) -> float:
        """(P - D)/D, a bound on (P - P*)/P*; inf while D <= 0, 0 where rounding puts P below D."""
        return max(0.0, relative_gap(self.primal, self.dual))


def fit(
    problem: Problem,
    tolerance: float,
    effort: Effort = USUAL,
    *,
    progress: Callable[[float], None] = lambda gap: None,
    start: Fit | None = None,
    chunks: int = 0,
    longest: float = math.inf,
) -> Fit:
    """Train until (P - D)/D is at most the tolerance.

    Parameters
    ----------
    problem : Problem
        Of the hinge, the squared hinge or the logistic loss, without a ball.
    tolerance : float
        Requested relative gap, positive and finite.
    effort : Effort
    progress : callable
        Called with the gap after every certificate.
    start : Fit, optional
        A fit of the same rows with another lambda, or of similar rows, to begin from. If its own
        weights turn out to be the best, ``method`` is "start". It is ignored where the ratio of
        both lambdas leaves double precision.
    chunks : int
        Visit the rows in so many chunks, for rows that do not fit into memory. The problem is then
        as `descent_by_chunks` takes it. 0 for rows in memory.
    longest : float
        The largest ||x_i||, if it is known. A proof then rarely has to read the rows again.

    Returns
    -------
    Fit
        The best w and the best bound found, whether or not they meet the tolerance.

    Raises
    ------
    ValueError
        When the tolerance is not positive and finite.
    InterruptedError
        When it was given up.
    """
    if not 0.0 < tolerance < math.inf:
        raise ValueError(f"the tolerance must be positive and finite, not {tolerance!r}")
    begun = time.monotonic()

    def due() -> bool:
        return time.monotonic() - begun >= effort.time_limit or effort.given_up()

    # A method that diverges yields infinities, which lose against what is known.
    with np.errstate(all="ignore"):
        best = _Best(problem, tolerance, longest)
        _improve(best, effort, due, progress, start, chunks)
    seconds = time.monotonic() - begun
    if problem.is_below(best.proven(), best.primal, best.w, best.bias):
        raise AssertionError(f"P = {best.primal!r} is below the proven D = {best.proven()!r}")
    dual = min(best.proven(), best.primal)
    return Fit(
        best.w, best.bias, best.primal, dual, best.certificates, seconds, best.method, problem.lam,
        best.alpha,
    )  # fmt: skip


class _Best:
    """The best w and the best dual variables so far; those of w = 0 and alpha = 0 at first."""

    def __init__(self, problem: Problem, tolerance: float, longest: float) -> None:
        self.problem, self.tolerance, self._longest = problem, tolerance, longest
        self.w, self.bias = np.zeros(problem.data.n_features), 0.0
        self.alpha = np.zeros(problem.data.n_samples)
        self.primal, self.dual = problem.primal_at_zero(), 0.0
        self.method, self.certificates = AT_ZERO, 0
        self._proven, self._checked = 0.0, True
        self._lost = 0.0  # of the best D, by the proof's allowance for rounding

    def certify(self, method: _Method, pair: PrimalAndDual) -> None:
        """Compute P and D of a pair, and keep what is better."""
        w, bias, alpha = pair
        primal, dual = self.problem.primal(w, bias), self.problem.dual(alpha)
        self.certificates += 1
        # Of equal P, w = 0 gives way: it predicts nothing.
        if primal < self.primal or (primal == self.primal and self.method == AT_ZERO):
            self.w, self.bias, self.primal, self.method = w, bias, primal, method.name
        if dual > self.dual:
            self.alpha, self.dual, self._checked = alpha, dual, False
        method.note(primal, dual)

    def nearer(self, primal: float) -> PrimalAndDual | None:
        """The best weights, and dual variables, if their gap is at most half that of this P."""
        if self.method == AT_ZERO or self.primal - self.dual > 0.5 * (primal - self.dual):
            return None
        return self.w, self.bias, self.alpha

    def proven(self) -> float:
        """What the best dual variables prove in spite of rounding, at least 0.

        D is this bound afterwards, so that others have to exceed it only.
        """
        if not self._checked:
            proven = self._proof()
            self._lost = self.dual - proven
            self._proven = max(self._proven, proven)
            self.dual, self._checked = self._proven, True
        return self._proven

    def _proof(self) -> float:
        """What the best dual variables prove; more exactly only where the tolerance needs it."""
        proven = proven_by_norms(self.problem, self.alpha, self.dual, self._longest)
        if self.dual - proven <= SPARED * self.tolerance * proven:
            return proven
        return proven_dual(self.problem, self.alpha)

    def settled(self) -> bool:
        """Whether the proven gap is within the tolerance, or rounding alone keeps it above."""
        left, tolerance = self.primal - self.dual, self.tolerance
        if left > max(tolerance, SMALL_GAP) * self.dual:
            return False
        proven = self.proven()
        rounded = self._lost > tolerance * proven and left <= ROUNDED_SHARE * self._lost
        return rounded or relative_gap(self.primal, proven) <= tolerance


def _improve(
    best: _Best,
    effort: Effort,
    due: Callable[[], bool],
    progress: Callable[[float], None],
    before: Fit | None,
    chunks: int,
) -> None:
    """Look at the start and at the pairs of all methods, until the best are good enough."""
    problem, tolerance = best.problem, best.tolerance
    start = None
    if before is not None and 0.0 < problem.lam / before.lam < math.inf:
        start = _start_of(problem, before)
    stand = _Method(AT_START, iter(()))
    if start is not None and relative_gap(start.primal, start.dual) <= tolerance:
        best.certify(stand, start.pair)
        progress(relative_gap(best.primal, best.dual))
        if best.settled():
            return
    begin = start.pair if start is not None else None
    # Newton steps on the logistic loss may not come back from a w where the loss hardly curves.
    if (
        problem.loss.name == "logistic"
        and start is not None
        and problem.primal_at_zero() < start.primal < math.inf
    ):
        begin = np.zeros_like(best.w), 0.0, start.pair[2]

    groups = _Methods(best, effort, due, begin).groups()
    if chunks:
        groups = iter([[_in_chunks(problem, tolerance, effort, due, chunks)]])
    for method, pair in _pairs(groups, due):
        if effort.given_up():
            break
        best.certify(method, pair)
        progress(relative_gap(best.primal, best.dual))
        if due() or best.settled():
            break
    if effort.given_up():
        raise InterruptedError("the fit was given up")
    if start is not None and (start.primal < best.primal or start.dual > best.dual):
        best.certify(stand, start.pair)


def _in_chunks(
    problem: Problem, tolerance: float, effort: Effort, due: Callable[[], bool], chunks: int
) -> _Method:
    from svmbench.train.chunks import descent_by_chunks

    pairs = descent_by_chunks(problem, chunks, tolerance, effort.seed, due)
    return _Method("dcd in chunks", pairs, least=FEWEST_DESCENTS)


class _Start(NamedTuple):
    """Where a fit begins, and P and D there as they follow from the fit before: no rows are read.

    Only a certificate of the pair makes sure of them.
    """

    pair: PrimalAndDual
    primal: float
    dual: float


def _start_of(problem: Problem, before: Fit) -> _Start:
    """The weights of the fit before, and the multiple of its alpha with the largest D.

    The mean loss does not depend on lambda, and w(alpha) is proportional to alpha/lambda. The fit
    may have had a free bias where this problem has none.
    """
    ratio, m = problem.lam / before.lam, problem.data.n_samples
    kept = problem.bias == "free" or before.bias == 0.0
    shrunk = 0.5 * (before.lam - problem.lam) * float(before.w @ before.w)
    conjugates = problem.conjugate_sum(before.alpha) / m
    energy = conjugates - before.dual  # lam/2 ||w||^2 before

    def dual_of(times: float) -> float:
        alpha = np.minimum(times * before.alpha, problem.loss.upper)
        return problem.conjugate_sum(alpha) / m - times * times / ratio * energy

    # The best multiple if the conjugates were linear, as those of the hinge are.
    best = 0.5 * ratio * (before.dual + energy) / energy if energy > 0.0 else 1.0
    duals = {1.0: conjugates - energy / ratio}
    for each in (ratio, min(max(best, 0.0), 1.0)):
        if each not in duals:
            duals[each] = dual_of(each)
    times = max(duals, key=duals.__getitem__)
    pair = before.w, before.bias if kept else 0.0, problem.repaired(times * before.alpha)
    return _Start(pair, before.primal - shrunk if kept else math.inf, duals[times])


@dataclass(eq=False)
class _Method:
    """A method to take turns with others.

    Parameters
    ----------
    name : str
    pairs : iterator of PrimalAndDual
    cost : callable
        Estimated work of its next pair, in stored entries, from that of its pairs so far.
    least : int
        Steps before which it is not ended for lack of progress.
    head_start : callable
        Work by which it may be ahead of the others.
    leads : callable
        Whether it comes before the others in any case.
    done : callable, optional
        Its steps so far and their work, for a method that does not yield at each step. Without it,
        each pair is a step, whose work is its cost.
    """

    name: str
    pairs: Iterator[PrimalAndDual]
    cost: Callable[[float], float] = lambda so_far: 1.0
    least: int = FEWEST_PAIRS
    head_start: Callable[[], float] = lambda: 0.0
    leads: Callable[[], bool] = never
    done: Callable[[], tuple[int, float]] | None = None
    work: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._steps = self._steps_then = 0
        self._work_then, self._gap_then = 0.0, math.inf
        self.primal, self.dual = math.inf, 0.0

    def turn(self) -> float:
        """What comes next is the least: its work after the next pair, less its head start.

        Until its work has reached the head start, it comes before those that have none.
        """
        if self.leads():
            return -math.inf
        ahead = self.work - self.head_start()
        return ahead if ahead < 0.0 else ahead + self.cost(self.work)

    def next(self) -> PrimalAndDual | None:
        """Its next pair; None once it has ended."""
        if self._fruitless:
            return None
        pair = next(self.pairs, None)
        if pair is not None and self.done is not None:
            self._steps, self.work = self.done()
        elif pair is not None:
            self._steps, self.work = self._steps + 1, self.work + self.cost(self.work)
        return pair

    def note(self, primal: float, dual: float) -> None:
        """Record P and D of its last pair."""
        self.primal, self.dual = min(self.primal, primal), max(self.dual, dual)
        gap = max(0.0, self.primal - self.dual)
        if gap < (1.0 - PROGRESS) * self._gap_then:
            self._gap_then, self._work_then, self._steps_then = gap, self.work, self._steps

    @property
    def begun(self) -> bool:
        """Whether it has taken as many steps as it may need to begin."""
        return self._steps >= self.least

    @property
    def _fruitless(self) -> bool:
        fruitless = self._steps - self._steps_then
        return (
            self.begun
            and fruitless >= FRUITLESS_PAIRS
            and self.work > FRUITLESS_WORK * self._work_then
        )


def _pairs(
    groups: Iterator[list[_Method]], due: Callable[[], bool]
) -> Iterator[tuple[_Method, PrimalAndDual]]:
    """The pairs of all methods; when one ends, the methods of the next group join.

    Those that remain end once they have had ample work and come no nearer than the ended ones.
    """
    active = next(groups)
    everyone = list(active)
    gap, most = math.inf, math.inf
    while active:
        work = sum(each.work for each in everyone)
        nearest = _nearest(everyone)
        if most < math.inf and nearest < (1.0 - PROGRESS) * gap:
            gap, most = nearest, OUTDONE_WORK * work
        if work > most and all(each.begun for each in active):
            return
        method = min(active, key=_Method.turn)
        pair = method.next()
        if pair is not None:
            yield method, pair
        elif due():
            return
        else:
            active.remove(method)
            joining = next(groups, [])
            active += joining
            everyone += joining
            gap, most = nearest, OUTDONE_WORK * work


def _nearest(methods: list[_Method]) -> float:
    """The gap of the least P and the largest D of these methods."""
    least = min(each.primal for each in methods)
    return max(0.0, least - max(each.dual for each in methods))


class _Methods:
    """The methods for a problem, in the groups in which they are tried.

    Parameters
    ----------
    best : _Best
        Kept up to date with what the methods yield.
    effort : Effort
    due : callable
        Whether to yield what there is.
    start : PrimalAndDual, optional
        Where methods begin.
    """

    def __init__(
        self,
        best: _Best,
        effort: Effort,
        due: Callable[[], bool],
        start: PrimalAndDual | None = None,
    ) -> None:
        self._best, self._problem, self._tolerance = best, best.problem, best.tolerance
        self._effort, self._due, self._start = effort, due, start

    @cached_property
    def _system(self) -> smooth.SystemWork:
        return smooth.SystemWork.of(self._problem.data)

    def groups(self) -> Iterator[list[_Method]]:
        """The first group, and those that join it as methods end short of the tolerance.

        Modules of methods are loaded once their turn has come: many a fit needs one method only.
        """
        problem = self._problem
        if problem.loss.name == "logistic":
            yield [self._smooth_newton(lambda: math.inf)]
        elif problem.loss.name == "squared-hinge":
            yield self._of_squared_hinge()
            yield self._interiors()
        else:
            yield from self._groups_of_hinge()

    def _of_squared_hinge(self) -> list[_Method]:
        data, system = self._problem.data, self._system

        def work(share: float) -> float:
            if system.factor == math.inf:
                return UNFACTORED_PASSES * data.nnz
            return NEWTON_PASSES * data.nnz + NEWTON_FACTORS * system.on(share)

        return self._led(self._smooth_newton, work, MANY_ROWS)

    def _led(
        self,
        newton: Callable[[Callable[[], float]], _Method],
        work: Callable[[float], float],
        many_rows: int,
    ) -> list[_Method]:
        """Newton steps first where there are many rows; else dual descent, unless it is slow.

        What dual descent still needs, by its last passes, is compared with what Newton steps are
        expected to need. These begin where it has come, and come first for as much work as it is
        expected to need, between one and `HEAD_START` times their own.

        Parameters
        ----------
        newton : callable
            Newton steps, from their head start.
        work : callable
            Their expected work, from the share of rows with curvature.
        many_rows : int
            Per feature.
        """
        data, most = self._problem.data, work(1.0)
        many = data.n_samples >= many_rows * data.n_features
        if most <= SMALL or (many and self._system.on(1.0) <= WORTH_FACTOR * data.nnz):
            return [newton(lambda: HEAD_START * most), self._descent()]
        done = WorkCount()
        dcd = self._descent(work, done)

        def ahead() -> float:
            return min(max(done.remaining, done.rival), HEAD_START * done.rival)

        return [dcd, newton(ahead)]

    def _groups_of_hinge(self) -> Iterator[list[_Method]]:
        from svmbench.reference import multipliers
        from svmbench.train.champion import knows

        problem = self._problem
        if knows(problem) and problem.bias == "none":
            yield [self._auto()]
            yield [self._descent(), *self._interiors()]
            return
        if self._system.factor == math.inf:
            yield [self._descent(), *self._interiors()]
            return
        steps = MULTIPLIER_STEPS * multipliers.step_work(problem)
        yield self._led(self._newton_on_multipliers, lambda share: steps, MANY_ROWS_OF_HINGE)
        yield self._interiors()
        if knows(problem):
            champion = self._champion()
            yield [_Method("auto", chain(champion.pairs(), champion.rest()))]

    def _descent(
        self, rival: Callable[[float], float] | None = None, count: WorkCount | None = None
    ) -> _Method:
        """Dual coordinate descent, which copes with any rows and ends with none.

        With a ``rival``, as `descent` knows it, it leads until it falls behind.
        """
        problem, done = self._problem, WorkCount() if count is None else count

        def pairs() -> Iterator[PrimalAndDual]:
            from svmbench.reference.descents import alone, balanced_descent, descent

            down = balanced_descent if problem.bias == "free" else descent
            yield from down(problem, self._due, self._start, self._tolerance, done, rival or alone)

        return _Method(
            "dcd",
            pairs(),
            lambda so_far: max(3.0 * problem.data.nnz, so_far / 8.0),
            FEWEST_DESCENTS,
            leads=lambda: rival is not None and done.rival == math.inf,
            done=lambda: (done.steps, done.entries),
        )

    def _interiors(self) -> list[_Method]:
        """The interior-point method where there are few features; it ends by itself."""
        from svmbench.reference.search import FEW_FEATURES, interior

        data = self._problem.data
        m, d = data.n_samples, data.n_features
        if d > FEW_FEATURES:
            return []
        step = self._system.on(1.0) + 10.0 * data.nnz + INTERIOR_WORK * m
        return [_Method("ipm", interior(self._problem), lambda so_far: step, MOST_ITERATIONS)]

    def _champion(self) -> Champion:
        from svmbench.train.champion import Champion

        effort = self._effort
        return Champion(
            self._problem, self._tolerance, effort.seed, self._due, self._start, effort.threads
        )

    def _auto(self) -> _Method:
        """auto, whose Newton steps may take many passes' time each."""
        from svmbench.train.champion import CERTIFICATE_PASSES

        champion, nnz = self._champion(), self._problem.data.nnz
        count = champion.count
        return _Method(
            "auto",
            champion.pairs(),
            lambda so_far: max(CERTIFICATE_PASSES * nnz, so_far / 4.0),
            MOST_ITERATIONS,
            done=lambda: (count.steps, count.entries),
        )

    def _newton_on_multipliers(self, head_start: Callable[[], float]) -> _Method:
        """Newton steps for the hinge that know weights of rows, a free bias and a start."""
        from svmbench.reference import multipliers

        problem, count = self._problem, WorkCount()
        each = multipliers.step_work(problem)

        def steps() -> Iterator[PrimalAndDual]:
            begin = self._best.nearer(math.inf) or self._start
            yield from multipliers.newton(
                problem, self._due, begin, self._tolerance, count, unshown=head_start()
            )

        return _Method(
            "newton",
            steps(),
            lambda so_far: max(FEWEST_STEPS * each, so_far),
            MOST_ITERATIONS,
            head_start,
            done=lambda: (count.steps, count.entries),
        )

    def _smooth_newton(self, head_start: Callable[[], float]) -> _Method:
        """Newton steps that know weights of rows and a start; few of the steps yield a pair.

        While others do not take turns, only steps that may be good enough are yielded. The steps
        begin at the best w so far, and again wherever another method has come much nearer.
        """
        problem, count = self._problem, WorkCount()

        def steps() -> Iterator[PrimalAndDual]:
            ahead, begin = head_start(), self._best.nearer(math.inf) or self._start
            while True:
                point = begin[:2] if begin else None
                nearer = None
                newton = smooth.newton(
                    problem, self._due, point, self._tolerance, count, unshown=ahead
                )
                for pair in _moved(newton):  # what is left out says nothing of P
                    yield pair
                    nearer = self._best.nearer(method.primal)
                    if nearer:
                        break
                if nearer is None:
                    return
                begin = nearer

        method = _Method(
            "newton",
            steps(),
            # A step is some products with the rows; as many as so far may precede the next pair.
            lambda so_far: max(STEP_PASSES * problem.data.nnz, so_far),
            MOST_ITERATIONS,
            head_start,
            done=lambda: (count.steps, count.entries),
        )
        return method


def _moved(pairs: Iterator[PrimalAndDual]) -> Iterator[PrimalAndDual]:
    """Leave out pairs with w = 0, unless there are no others.

    Such a pair may meet the tolerance where C is tiny, and would predict nothing.
    """
    still: PrimalAndDual | None = None
    for pair in pairs:
        if pair[0].any():
            still = None
            yield pair
            break
        still = pair
    if still is not None:
        yield still
    yield from pairs
