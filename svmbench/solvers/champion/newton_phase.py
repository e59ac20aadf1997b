"""The method of multipliers with Newton steps, first on samples of the rows, then on all."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import cholesky
from svmbench.kernels.counters import Counters
from svmbench.kernels.descent import Descent
from svmbench.kernels.multipliers import Multipliers
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.subset import take_rows
from svmbench.solvers.champion.samples import sample_accuracy, sample_sizes
from svmbench.solvers.champion.threaded_multipliers import ThreadedMultipliers, threads_for
from svmbench.solvers.cholesky import factor_of

#: Ratio of the objective on the next stage's rows to that on the sample, beyond which the sample
#: was too small to represent those rows.
REPRESENTATIVE = 1.1

#: The inner problem counts as solved once ||lam w - u||^2/(2 lam) is this share of the rest of the
#: gap, or after this many steps.
INNER_SHARE, INNER_STEPS = 0.3, 40

#: Steps after which the first inner problem begins again with a smaller penalty, if this is less
#: than such a share of the present one. It usually takes five to fifteen steps.
PATIENCE, LOWERED = 20, 0.1

#: P of w = 0, and P - D with alpha = 0. Rounding is the reason where so many inner problems in turn
#: were not solved, left a larger gap, and did not lower P to this share of what it was.
AT_ZERO, UNSOLVED, FALLING = 1.0, 2, 0.99

#: Relative gap below which rounding dominates.
NEGLIGIBLE = 1e-13

#: Least diagonal of the system, as a share of its largest value so far: the size of rounding.
ROUNDING = 1e-14

#: Shares of the diagonal to add to it, until the system has a factor.
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)

#: Objective of dual descent beyond which Newton steps begin at w = 0, where P is 1, instead. Every
#: row has curvature there: where P is but little above 1, that costs more than w = 0 saves.
WORSE = 1.25

#: Penalty at w = 0 with the centres 1/2: every row's 1/2 + sigma (1 - 0) lies in (0, 1).
FROM_ZERO = 0.4

#: Penalty beyond which only rounding errors remain.
LARGEST_PENALTY = 1e12


class NewtonPhase:
    """Stages with more and more rows, up to all; each starts from the result of the one before.

    Parameters
    ----------
    rows : CompactRows
    lam : float
    rng : Generator
    penalty, growth : float
        The first penalty, and the factor from one inner problem to the next.
    passes : int
        Passes of dual descent before the first stage.
    sampling, sleep : bool
        Whether to begin with samples; whether to skip rows that cannot be affected.
    warm : Descent, optional
        Dual descent on all rows to continue from; then there are no samples.
    threads : int
        Threads that share the rows of Newton steps, where there are enough entries for them. Then
        one thread also prepares later stages while another solves the first sample.
    """

    _inner_steps: int
    _unsolved: int
    _primal_before: float
    # What is known of the present w and alpha: P, and the gap that the inner problem leaves.
    _known: tuple[float, float] | None = None
    _system: FloatArray | None = None

    def __init__(
        self,
        rows: CompactRows,
        lam: float,
        rng: Generator,
        *,
        penalty: float,
        growth: float,
        passes: int,
        sampling: bool,
        sleep: bool,
        warm: Descent | None = None,
        threads: int = 1,
    ) -> None:
        self._rows, self._lam, self._rng = rows, lam, rng
        self._threads = threads
        self._penalty, self._growth, self._sleep = penalty, growth, sleep
        self.counters = Counters()
        self.exhausted = False
        self._forget_inner_problems()
        self._centres: FloatArray | None = None
        self._sizes = sample_sizes(rows.m, rows.d) if sampling and warm is None else []
        self._whole = not self._sizes
        self._begin_ahead()
        self._passes = passes
        self._warm: Descent | None = warm
        if self._warm is None:
            self._warm = Descent(self._next_rows(), lam)
        self._count(self._warm, Counts(0, 0, 0))
        self._state = self._multipliers(self._warm.rows)

    def _begin_ahead(self) -> None:
        """Have another thread prepare the last stage, if samples come first.

        Dual descent and steps on few rows leave all threads but one idle.
        """
        self._pool: ThreadPoolExecutor | None = None
        self._drawn: Future[CompactRows] | None = None
        self._last: Future[Multipliers | ThreadedMultipliers] | None = None
        if self._sizes and self._threads_on(self._rows) > 1:
            self._pool = ThreadPoolExecutor(1)
            self._last = self._pool.submit(self._new_multipliers, self._rows, alone=True)

    def _draw_ahead(self) -> None:
        """Have another thread draw the next sample. Dual descent has ended: nothing else draws."""
        if self._pool is not None and self._sizes and self._drawn is None:
            self._drawn = self._pool.submit(self._sample, self._sizes[0])

    def iterate(self) -> None:
        """Make one pass of dual descent at first, and one Newton step later.

        A Newton step first begins the next inner problem or stage where it is due.
        """
        if self.exhausted:
            self.counters.presentations += self._rows.m
            return
        if self._warm is not None and self._passes > 0:
            self._passes -= 1
            before = counts(self._warm)
            self._warm.descend(self._rng, 1, False)
            self._count(self._warm, before)
            return
        if self._warm is not None:
            self._leave_descent(self._warm)
        elif self._inner_solved():
            self._advance_centres()
        elif self._inner_steps == PATIENCE:
            self._lower_penalty()
        before = counts(self._state)
        moved = self._newton_step()
        self._count(self._state, before)
        if not moved:
            self._give_up()

    def _give_up(self) -> None:
        """Leave the sample, or end, because rounding has made the system indefinite."""
        if self._whole:
            self.exhausted = True
        elif math.isfinite(primal := self._primal()):
            self._next_stage(primal)
        else:
            self._begin_stage_at_zero()

    def _leave_descent(self, warm: Descent) -> None:
        rows, self._warm = warm.rows, None
        self._begin(rows, warm.w[: rows.d], warm.alpha, self._penalty)
        if self._primal() > WORSE:
            # Worse than w = 0, as on features of very different scales.
            self._begin_at_zero(rows)

    def _begin_at_zero(self, rows: CompactRows) -> None:
        """Begin at w = 0, where this penalty gives every row curvature.

        The first step then solves a least-squares problem, which the scales of features do not
        affect.
        """
        self._begin(rows, np.zeros(rows.d), np.full(rows.m, 0.5), FROM_ZERO)

    def _advance_centres(self) -> None:
        state = self._state
        gap, primal = self._gap(), self._primal()
        stuck = primal > FALLING * self._primal_before
        unsolved = self._inner_steps >= INNER_STEPS and gap > AT_ZERO and stuck
        self._primal_before = primal
        self._unsolved = self._unsolved + 1 if unsolved else 0
        hopeless = (
            state.penalty > LARGEST_PENALTY
            or self._unsolved >= UNSOLVED
            or not math.isfinite(primal)
        )
        if self._whole and (gap <= NEGLIGIBLE * primal or hopeless):
            self.exhausted = True
        elif not self._whole and hopeless:
            self._begin_stage_at_zero()
        elif not self._whole and gap <= sample_accuracy(state.m, self._rows.d) * primal:
            self._next_stage(primal)
        else:
            before = counts(state)
            self._centres = self._known = None
            state.recentre(state.penalty * self._growth)
            self._count(state, before)
            self._inner_steps = 0

    def _lower_penalty(self) -> None:
        """Begin again with a penalty as small as the dual variables, where these are far below 1.

        sigma is a dual variable over a margin. Where a plane nearly separates the rows, all dual
        variables are small: at a penalty of 1 few rows lie in J, and steps are cut where others
        enter.
        """
        if self._centres is None:
            return
        penalty = self._penalty * float(self._centres.max(initial=0.0))
        if 0.0 < penalty < LOWERED * self._state.penalty:
            self._begin(self._state.rows, np.array(self._state.w), self._centres, penalty)

    def _begin_stage_at_zero(self) -> None:
        """Leave a sample that rounding keeps from being solved, and its weights."""
        self._whole = not self._sizes
        self._begin_at_zero(self._next_rows())

    def _next_stage(self, primal: float) -> None:
        w, penalty = self.w, self._state.penalty
        self._whole = not self._sizes
        rows = self._next_rows()
        self._begin(rows, w, np.zeros(0), penalty)
        if self._primal() > REPRESENTATIVE * primal:
            # The sample does not represent these rows well enough for so large a penalty.
            self._begin(rows, w, np.zeros(0), self._penalty)

    @property
    def gap(self) -> float:
        """P - D of the current w and alpha; inf until these belong to all rows."""
        return self._gap() if self._complete else math.inf

    def bound(self) -> float:
        """D(alpha); 0 until alpha belongs to all rows."""
        return self._primal() - self._gap() if self._complete else 0.0

    @property
    def w(self) -> FloatArray:
        """The weights, shape (d,); a new array."""
        holder = self._state if self._warm is None else self._warm
        return np.array(holder.w[: self._rows.d])

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); zeros until they belong to all rows. A new array."""
        return np.array(self._state.alpha) if self._complete else np.zeros(self._rows.m)

    @property
    def kept_alpha(self) -> FloatArray:
        """As `alpha`, but not copied: the next step changes it. Read only."""
        kept: FloatArray = self._state.alpha if self._complete else self.alpha
        return kept

    @property
    def _complete(self) -> bool:
        return self._whole and self._warm is None

    def _next_rows(self) -> CompactRows:
        if not self._sizes:
            return self._rows
        size, ahead = self._sizes.pop(0), self._drawn
        self._drawn = None
        # A draw that has not begun yet would wait for the last stage to be prepared.
        return self._sample(size) if ahead is None or ahead.cancel() else ahead.result()

    def _sample(self, size: int) -> CompactRows:
        """So many rows, drawn with replacement and merged."""
        drawn = np.empty(size, dtype=np.int32)
        draw_rows(self._rng, drawn, self._rows.m)
        # Marks take a fraction of the time that sorting the drawn rows takes.
        chosen = np.zeros(self._rows.m, dtype=bool)
        chosen[drawn] = True
        return take_rows(self._rows, np.flatnonzero(chosen).astype(np.int32))

    def _begin(self, rows: CompactRows, w: FloatArray, centres: FloatArray, penalty: float) -> None:
        if rows is not self._state.rows:
            self._state = self._multipliers(rows)
        self._draw_ahead()
        before = counts(self._state) if self._state.presentations else Counts(0, 0, 0)
        self._centres, self._known = centres, None
        self._state.begin(w, centres, penalty)
        self._count(self._state, before)
        self._largest = np.zeros(max(rows.d, 1))
        self._forget_inner_problems()

    def _forget_inner_problems(self) -> None:
        self._inner_steps = self._unsolved = 0
        self._primal_before = AT_ZERO

    def _multipliers(self, rows: CompactRows) -> Multipliers | ThreadedMultipliers:
        """The method on these rows, as another thread may have prepared it."""
        if rows is self._rows and self._last is not None:
            return self._last.result()
        return self._new_multipliers(rows)

    def _new_multipliers(
        self, rows: CompactRows, alone: bool = False
    ) -> Multipliers | ThreadedMultipliers:
        threads = self._threads_on(rows)
        if threads == 1:
            return Multipliers(rows, self._lam, self._sleep)
        return ThreadedMultipliers(rows, self._lam, self._sleep, threads, alone)

    def _threads_on(self, rows: CompactRows) -> int:
        return min(int(rows.m), threads_for(rows.nnz, self._threads, rows.d))

    def _look(self) -> tuple[float, float]:
        """P, and ||lam w - u||^2 / (2 lam): the part of the gap that the inner problem leaves.

        P follows from the same sums as the gap. This form does not subtract ||u||^2/(2 lam), which
        exceeds P by many orders of magnitude where a feature is large.
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
        state.move(cholesky.solution(factor, state.pull - self._lam * state.w))
        self._known = None
        self._inner_steps += 1
        return True

    def _factor(self) -> FloatArray | None:
        """Cholesky factor of the system, its diagonal raised as little as rounding demands.

        The ridge is a share of each diagonal entry, so that the scales of features do not matter.
        """
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

    def _count(self, state: Counters, before: Counts) -> None:
        self.counters.presentations += state.presentations - before.presentations
        self.counters.updates += state.updates - before.updates
        self.counters.nonzeros += state.nonzeros - before.nonzeros


class Counts(NamedTuple):
    """The counters of a kernel at one moment."""

    presentations: int
    updates: int
    nonzeros: int


def counts(state: Counters) -> Counts:
    """The current values of these counters."""
    return Counts(state.presentations, state.updates, state.nonzeros)
