"""The methods that train a problem, and which of them comes first.

Their work is counted and not timed: the same rows and seed give the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from svmbench.data.dataset import Dataset
from svmbench.engine.best import Best
from svmbench.engine.effort import Effort
from svmbench.engine.turns import Candidate
from svmbench.problem import Problem
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, pass_work
from svmbench.solvers.second_order import smooth
from svmbench.solvers.second_order.newton_systems import SystemWork

if TYPE_CHECKING:
    from svmbench.engine.champion import Champion

#: Passes that a Newton step is taken to need.
STEP_PASSES = 30.0

#: Passes whose time a factorisation may take for Newton steps to come before dual descent. Chosen
#: for the squared hinge with adult, w8a, imdb.tfidf, kddcup10 and mnist in view.
WORTH_FACTOR = 75.0

#: Expected work of Newton steps on a smooth loss: so many passes and factors, or passes alone if
#: features are too many; and the multiple of it that is their longest head start, which 19 of 20
#: of those that followed descent kept on generated problems (scripts/champion/adversary.py).
NEWTON_PASSES, NEWTON_FACTORS, UNFACTORED_PASSES, HEAD_START = 20.0, 2.0, 500.0, 4.0

#: Expected Newton steps on the hinge with weights or a free bias, and those that a turn takes at
#: least. On such problems they took 6 to 120 steps; of 30 to 160, 60 chose best.
MULTIPLIER_STEPS, FEWEST_STEPS = 60.0, 4.0

#: Newton steps come first if they are expected to need less work than this, or less than so many
#: passes of dual descent; 5 passes took longer with a smooth loss and a free bias.
SMALL, FEW_PASSES = 1e6, 20.0

#: Rows per feature from which Newton steps gain too little by dual descent before them, for the
#: squared hinge and for the hinge, on such problems (of 20 and 40, and of 4 to 40).
MANY_ROWS, MANY_ROWS_OF_HINGE = 40, 4

#: Work of an interior-point step for each row besides its entries, in stored entries (250 to 500
#: such on w8a, adult, mushrooms and covtype.20k).
INTERIOR_WORK = 300.0

#: Looks before dual descent may have ended, about a hundred epochs; and before methods that end by
#: themselves and may begin slowly.
FEWEST_DESCENTS, MOST_ITERATIONS = 30, 200


#: Features up to which the interior-point method forms its d x d matrix.
INTERIOR_FEATURES = 2000


class Known(NamedTuple):
    """What is known of a problem's rows before they are trained on."""

    # the largest ||x_i||: a proof then rarely has to read the rows again. inf if it is not known.
    longest: float = math.inf
    # chunks in which rows are visited that do not fit into memory; 0 for rows that do. With some,
    # the problem is as `descent_by_chunks` takes it.
    chunks: int = 0
    # the rows without their last feature, if that is a constant: dual descent would copy them.
    # Their labels do not matter.
    without_constant: Dataset | None = None


NOTHING = Known()


class Methods:
    """The methods for a problem, in the groups in which they are tried."""

    def __init__(
        self,
        best: Best,
        effort: Effort,
        due: Callable[[], bool],
        start: PrimalAndDual | None = None,
        known: Known = NOTHING,
    ) -> None:
        self._best, self._problem, self._tolerance = best, best.problem, best.tolerance
        self._effort, self._due, self._start, self._known = effort, due, start, known

    @cached_property
    def _system(self) -> SystemWork:
        return SystemWork.of(self._problem.data)

    def groups(self) -> Iterator[list[Candidate]]:
        """The first group, and those that join it as methods end short of the tolerance.

        Modules of methods are loaded once their turn has come: many a fit needs one method only.
        """
        problem = self._problem
        if self._known.chunks:
            yield [self._in_chunks()]
        elif problem.loss.name == "logistic":
            yield self._of_smooth()
        elif problem.loss.name == "squared-hinge":
            yield self._of_smooth()
            yield self._interiors()
        elif problem.loss.name == "smoothed-hinge":
            yield [self._descent(), *self._interiors()]
        else:
            yield from self._groups_of_hinge()

    def _of_smooth(self) -> list[Candidate]:
        data, system = self._problem.data, self._system

        def work(share: float) -> float:
            # Systems are factored once conjugate gradients have taken as long.
            factored = NEWTON_PASSES * data.nnz + NEWTON_FACTORS * system.on(share)
            return min(factored, UNFACTORED_PASSES * data.nnz)

        return self._led(self._smooth_newton, work, MANY_ROWS)

    def _led(
        self,
        newton: Callable[[Callable[[], float]], Candidate],
        work: Callable[[float], float],
        many_rows: int,
    ) -> list[Candidate]:
        """Newton steps first where there are many rows; else dual descent, unless it is slow.

        These begin where descent has come, and come first for as much work as it is expected to
        need, between one and `HEAD_START` times their own.
        """
        data, most = self._problem.data, work(1.0)
        many = data.n_samples >= many_rows * data.n_features
        little = most <= max(SMALL, FEW_PASSES * pass_work(data))
        if little or (many and self._system.on(1.0) <= WORTH_FACTOR * data.nnz):
            return [newton(lambda: HEAD_START * most), self._descent()]
        done = WorkCount()
        dcd = self._descent(work, done)

        def ahead() -> float:
            rival = min(done.rival, most)  # descent may have ended before it fell behind
            return min(max(done.remaining, rival), HEAD_START * rival)

        return [dcd, newton(ahead)]

    def _groups_of_hinge(self) -> Iterator[list[Candidate]]:
        from svmbench.engine import multipliers
        from svmbench.engine.champion import knows

        problem = self._problem
        if knows(problem) and problem.bias == "none":
            yield [self._auto_without_bias()]
            yield [self._descent(), *self._interiors()]
            return
        if problem.data.n_features == 0:
            yield [self._descent()]
            return
        if self._system.factor == math.inf:
            yield [self._descent(), *self._interiors()]
            return
        steps = MULTIPLIER_STEPS * multipliers.step_work(problem.data, self._system)
        yield self._led(self._newton_on_multipliers, lambda share: steps, MANY_ROWS_OF_HINGE)
        yield self._interiors()
        if knows(problem):
            yield [Candidate("auto", self._champion().pairs())]

    def _descent(
        self, rival: Callable[[float], float] | None = None, count: WorkCount | None = None
    ) -> Candidate:
        """Dual coordinate descent, which copes with any rows and ends with none.

        With a ``rival``, as `descent` knows it, it leads until it falls behind.
        """
        problem, done = self._problem, WorkCount() if count is None else count

        def pairs() -> Iterator[PrimalAndDual]:
            from svmbench.engine.descents import alone, balanced_descent, descent

            how = problem, self._due, self._start, self._tolerance, done, rival or alone
            if problem.bias == "free":
                yield from balanced_descent(*how)
            else:
                yield from descent(*how, without_constant=self._known.without_constant)

        return Candidate(
            "dcd",
            pairs(),
            lambda so_far: max(3.0 * problem.data.nnz, so_far / 8.0),
            FEWEST_DESCENTS,
            leads=lambda: rival is not None and done.rival == math.inf,
            count=done,
        )

    def _in_chunks(self) -> Candidate:
        from svmbench.engine.chunks import descent_by_chunks

        pairs = descent_by_chunks(
            self._problem, self._known.chunks, self._tolerance, self._effort.seed, self._due
        )
        return Candidate("dcd in chunks", pairs, least=FEWEST_DESCENTS)

    def _interiors(self) -> list[Candidate]:
        """The interior-point method where there are few features; it ends by itself."""
        data = self._problem.data
        m, d = data.n_samples, data.n_features
        if d > INTERIOR_FEATURES:
            return []
        step = self._system.on(1.0) + 10.0 * data.nnz + INTERIOR_WORK * m
        return [Candidate("ipm", interior(self._problem), lambda so_far: step, MOST_ITERATIONS)]

    def _champion(self) -> Champion:
        from svmbench.engine.champion import Champion

        return Champion(self._problem, self._tolerance, self._effort, self._due, self._start)

    def _auto_without_bias(self) -> Candidate:
        """auto, whose Newton steps may take many passes' time each."""
        from svmbench.engine.champion import CERTIFICATE_PASSES

        champion, nnz = self._champion(), self._problem.data.nnz
        return Candidate(
            "auto",
            champion.pairs(),
            lambda so_far: max(CERTIFICATE_PASSES * nnz, so_far / 4.0),
            MOST_ITERATIONS,
            count=champion.count,
        )

    def _newton_on_multipliers(self, head_start: Callable[[], float]) -> Candidate:
        """Newton steps for the hinge that know weights of rows, a free bias and a start."""
        from svmbench.engine import multipliers

        problem, count = self._problem, WorkCount()
        each = multipliers.step_work(problem.data, self._system)

        def steps() -> Iterator[PrimalAndDual]:
            begin = self._best.nearer(math.inf) or self._start
            yield from multipliers.newton(
                problem, self._due, begin, self._tolerance, count, unshown=head_start()
            )

        return Candidate(
            "newton",
            steps(),
            lambda so_far: max(FEWEST_STEPS * each, so_far),
            MOST_ITERATIONS,
            head_start,
            count=count,
        )

    def _smooth_newton(self, head_start: Callable[[], float]) -> Candidate:
        """Newton steps that know weights of rows and a start; few of the steps yield a pair.

        They begin at the best w so far, and again wherever another method has come much nearer.
        """
        problem, count = self._problem, WorkCount()

        def steps() -> Iterator[PrimalAndDual]:
            ahead, begin = head_start(), self._first_start()
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

        method = Candidate(
            "newton",
            steps(),
            # A step is some products with the rows; as many as so far may precede the next pair.
            lambda so_far: max(STEP_PASSES * problem.data.nnz, so_far),
            MOST_ITERATIONS,
            head_start,
            count=count,
        )
        return method

    def _first_start(self) -> PrimalAndDual | None:
        """The best weights so far, unless the logistic loss saturates there: steps crawl."""
        best = self._best
        far = self._problem.loss.name == "logistic" and best.primal > 2.0 * best.dual
        return (None if far else best.nearer(math.inf)) or self._start


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


def interior(problem: Problem) -> Iterator[PrimalAndDual]:
    """The interior-point method, until rounding ends it."""
    from svmbench.solvers.second_order.ipm import Ipm

    solver = Ipm()
    solver.start(problem, seed=0)
    while not solver.stopped:
        solver.advance(1)
        yield solver.w, solver.bias, solver.alpha
