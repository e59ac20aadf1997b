"""The method of multipliers: inner problems with a growing penalty, solved by Newton steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import normal
from svmbench.kernels.counters import Counters
from svmbench.kernels.multipliers import Multipliers
from svmbench.solvers.champion.work import add_work, counts
from svmbench.solvers.cholesky import factor_of

#: P of w = 0, and P - D with alpha = 0.
PRIMAL_AT_ZERO = 1.0

#: The inner problem counts as solved once ||lam w - u||^2/(2 lam) is this share of the rest of the
#: gap, or after this many steps.
INNER_SHARE, INNER_STEPS = 0.3, 40

#: Steps after which the first inner problem may begin again with a smaller penalty, if this is less
#: than such a share of the present one. It usually takes five to fifteen steps.
PATIENCE, LOWERED = 20, 0.1

#: Rounding is the reason where so many inner problems in turn were not solved, left a larger gap
#: than that of w = 0, and did not lower P to this share of what it was.
UNSOLVED, FALLING = 2, 0.99

#: Relative gap below which rounding dominates.
NEGLIGIBLE = 1e-13

#: Least diagonal of the system, as a share of its largest value so far: the size of rounding.
ROUNDING = 1e-14

#: Shares of the diagonal to add to it, until the system has a factor.
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)

#: Penalty at w = 0 with the centres 1/2: every row's 1/2 + sigma (1 - 0) lies in (0, 1).
FROM_ZERO = 0.4

#: Penalty beyond which only rounding errors remain.
LARGEST_PENALTY = 1e12


class MultiplierSteps(ABC):
    """Inner problems on the rows of one state, until these are solved as far as rounding allows.

    Subclasses set ``_state`` and ``_largest``, and may leave the rows for others.
    """

    #: w, the sums over the rows and the penalty: `Multipliers`, or what has the same attributes.
    _state: Multipliers
    #: The largest value so far of each entry of the system's diagonal.
    _largest: FloatArray
    #: What the first inner problem began with; None once it is solved.
    _centres: FloatArray | None = None
    # What is known of the present w and alpha: P, and the gap that the inner problem leaves.
    _known: tuple[float, float] | None = None
    _system: FloatArray | None = None

    def __init__(self, lam: float, growth: float) -> None:
        self._lam, self._growth = lam, growth
        self.counters = Counters()
        self.exhausted = False
        self._forget_inner_problems()

    def iterate(self) -> None:
        """Take a Newton step; first begin the next inner problem where it is due."""
        if self.exhausted:
            self.counters.presentations += self._state.m
            return
        if self._inner_solved():
            self._advance_centres()
        elif self._inner_steps == PATIENCE:
            self._lower_penalty()
        self._step()

    def _step(self) -> None:
        before = counts(self._state)
        moved = self._newton_step()
        add_work(self.counters, self._state, before)
        if not moved:
            self._give_up()

    def _give_up(self) -> None:
        """End, because rounding has made the system indefinite."""
        self.exhausted = True

    def _lower_penalty(self) -> None:  # noqa: B027, only some lower it
        """Begin the first inner problem again with a smaller penalty, where that is worth it."""

    def _forget_inner_problems(self) -> None:
        self._inner_steps = self._unsolved = 0
        self._primal_before = PRIMAL_AT_ZERO

    def _advance_centres(self) -> None:
        """Begin the next inner problem, unless the rows are left or solved."""
        state = self._state
        gap, primal = self._gap(), self._primal()
        stuck = primal > FALLING * self._primal_before
        unsolved = self._inner_steps >= INNER_STEPS and gap > PRIMAL_AT_ZERO and stuck
        self._primal_before = primal
        self._unsolved = self._unsolved + 1 if unsolved else 0
        hopeless = (
            state.penalty > LARGEST_PENALTY
            or self._unsolved >= UNSOLVED
            or not math.isfinite(primal)
        )
        if self._end(gap, primal, hopeless):
            return
        before = counts(state)
        self._centres = self._known = None
        state.recentre(state.penalty * self._growth)
        add_work(self.counters, state, before)
        self._inner_steps = 0

    def _end(self, gap: float, primal: float, hopeless: bool) -> bool:
        """Leave these rows, or end, if they are solved or hopeless; return whether they are."""
        self.exhausted = hopeless or gap <= NEGLIGIBLE * primal
        return self.exhausted

    @property
    @abstractmethod
    def _complete(self) -> bool:
        """Whether w and alpha belong to each other, and to all rows."""

    @property
    def gap(self) -> float:
        """P - D of the current w and alpha; inf until these belong to all rows."""
        return self._gap() if self._complete else math.inf

    def bound(self) -> float:
        """D(alpha); 0 until alpha belongs to all rows."""
        return self._primal() - self._gap() if self._complete else 0.0

    @property
    def w(self) -> FloatArray:
        return np.array(self._state.w)

    def _look(self) -> tuple[float, float]:
        """P, and ||lam w - u||^2 / (2 lam): the part of the gap that the inner problem leaves.

        This form does not subtract ||u||^2/(2 lam), which exceeds P by far where a feature is
        large.
        """
        if self._known is None:
            state, lam = self._state, self._lam
            w, pull = state.w, state.pull
            gradient = lam * w - pull
            shares = (state.alpha_sum + state.slack_sum) / state.m
            primal = float(shares + w @ (0.5 * lam * w - pull))
            self._known = primal, float(gradient @ gradient) / (2.0 * lam)
        return self._known

    def _gap(self) -> float:
        return float(self._state.slack_sum / self._state.m + self._look()[1])

    def _primal(self) -> float:
        return self._look()[0]

    def _inner_solved(self) -> bool:
        rest = self._state.slack_sum / self._state.m
        enough = max(INNER_SHARE * rest, 0.1 * NEGLIGIBLE * self._primal())
        return self._look()[1] <= enough or self._inner_steps >= INNER_STEPS

    def _newton_step(self) -> bool:
        """Take a step; return False if rounding prevents it."""
        state = self._state
        factor = self._factor()
        if factor is None:
            return False
        state.move(normal.solution(factor, state.pull - self._lam * state.w))
        self._known = None
        self._inner_steps += 1
        return True

    def _factor(self) -> FloatArray | None:
        """Cholesky factor of the system, its diagonal raised as little as rounding demands."""
        state, d = self._state, len(self._state.w)
        if self._system is None:
            # One matrix for all steps: to get memory for a new one takes as long as to fill it.
            self._system = np.empty((d, d))
        system, scale = self._system, state.penalty / state.m
        diagonal = scale * np.diagonal(state.curvature)
        # The rounding error in a column is a share of its largest value so far.
        self._largest = np.maximum(self._largest, diagonal)
        diagonal = np.maximum(diagonal, ROUNDING * self._largest) + self._lam
        for ridge in RIDGES:
            np.multiply(state.curvature, scale, out=system)
            system.flat[:: d + 1] = diagonal * (1.0 + ridge)
            factor = factor_of(system, spoil=True)
            if factor is not None:
                return factor
        return None


def weights_or_zeros(w: FloatArray, bound: float, gap: float) -> FloatArray:
    """The weights, or zeros where these are known to be better."""
    worse = gap != math.inf and not bound + gap <= PRIMAL_AT_ZERO
    return np.zeros_like(w) if worse or not np.isfinite(w).all() else w
