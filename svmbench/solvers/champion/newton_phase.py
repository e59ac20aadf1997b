"""The method of multipliers with Newton steps, first on samples of the rows, then on all."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.kernels.descent import Descent
from svmbench.kernels.multipliers import Multipliers
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows, take_rows
from svmbench.kernels.sampling import draw_rows
from svmbench.solvers.champion.multiplier_steps import (
    FALLING,
    FROM_ZERO,
    INNER_SHARE,
    INNER_STEPS,
    LARGEST_PENALTY,
    LOWERED,
    NEGLIGIBLE,
    UNSOLVED,
    InnerProblem,
    Seen,
)
from svmbench.solvers.champion.threaded_multipliers import ThreadedMultipliers, threads_for
from svmbench.solvers.champion.work import NO_WORK, add_work, counts
from svmbench.solvers.samples import sample_accuracy, sample_sizes

#: Ratio of the objective on the next stage's rows to that on the sample, beyond which the sample
#: was too small to represent those rows.
REPRESENTATIVE = 1.1

#: Objective of dual descent beyond which Newton steps begin at w = 0, where P is 1, instead. Every
#: row has curvature there: where P is but little above 1, that costs more than w = 0 saves.
WORSE = 1.25


#: P of w = 0, and P - D with alpha = 0.
PRIMAL_AT_ZERO = 1.0

#: Steps after which the first inner problem may begin again with a smaller penalty; it usually
#: takes five to fifteen.
PATIENCE = 20

#: First penalty sigma, and its factor from one inner problem to the next.
PENALTY, GROWTH = 1.5, 3.0

#: Passes of dual descent before the first stage.
PASSES = 4


class NewtonPhase:
    """Stages with more and more rows, up to all; each starts from the result of the one before.

    A warm start is dual descent on all rows. With threads, one also prepares the later stages.
    """

    def __init__(
        self,
        rows: CompactRows,
        lam: float,
        rng: Generator,
        warm: Descent | None = None,
        penalty: float = PENALTY,
        threads: int = 1,
    ) -> None:
        self.counters = Counters()
        self.exhausted = False
        # What the first inner problem began with, None once it is solved; what is seen of w.
        self._centres: FloatArray | None = None
        self._known: Seen | None = None
        self._forget_inner_problems()
        self._lam, self._penalty, self._threads = lam, penalty, threads
        self._rows, self._rng = rows, rng
        self._sizes = sample_sizes(rows.m, rows.d) if warm is None else []
        self._whole = not self._sizes
        self._begin_ahead()
        self._passes = PASSES if warm is None else 0
        self._warm: Descent | None = warm
        if self._warm is None:
            self._warm = Descent(self._next_rows(), lam)
        add_work(self.counters, self._warm)
        self._inner = InnerProblem(self._multipliers(self._warm.rows), lam)

    def _begin_ahead(self) -> None:
        """Have another thread prepare the last stage, if samples come first."""
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
        """Make one pass of dual descent at first, and one Newton step later."""
        if self.exhausted:
            self.counters.presentations += self._state.m
        elif self._warm is None:
            # The next inner problem is begun first where it is due.
            if self._inner_solved():
                self._advance_centres()
            elif self._inner_steps == PATIENCE:
                self._lower_penalty()
            self._step()
        elif self._passes > 0:
            self._passes -= 1
            before = counts(self._warm)
            self._warm.descend(self._rng, 1, False)
            add_work(self.counters, self._warm, before)
        else:
            self._leave_descent(self._warm)
            self._step()

    @property
    def _state(self) -> Multipliers | ThreadedMultipliers:
        """w, the sums over the rows and the penalty."""
        return self._inner.state

    def _step(self) -> None:
        """Take a Newton step; leave the sample, or end, where rounding prevents it."""
        before = counts(self._state)
        moved = self._inner.step()
        add_work(self.counters, self._state, before)
        if moved:
            self._known = None
            self._inner_steps += 1
        elif self._whole:
            self.exhausted = True
        elif math.isfinite(primal := self._seen().primal):
            self._next_stage(primal)
        else:
            self._begin_stage_at_zero()

    def _seen(self) -> Seen:
        if self._known is None:
            self._known = self._inner.seen()
        return self._known

    def _inner_solved(self) -> bool:
        seen = self._seen()
        enough = max(INNER_SHARE * seen.rest, 0.1 * NEGLIGIBLE * seen.primal)
        return seen.left <= enough or self._inner_steps >= INNER_STEPS

    def _forget_inner_problems(self) -> None:
        self._inner_steps = self._unsolved = 0
        self._primal_before = PRIMAL_AT_ZERO

    def _advance_centres(self) -> None:
        """Begin the next inner problem, unless the rows are left or solved."""
        state, seen = self._state, self._seen()
        stuck = seen.primal > FALLING * self._primal_before
        # Not solved, and with a larger gap than that of w = 0.
        unsolved = self._inner_steps >= INNER_STEPS and seen.gap > PRIMAL_AT_ZERO and stuck
        self._primal_before = seen.primal
        self._unsolved = self._unsolved + 1 if unsolved else 0
        hopeless = (
            state.penalty > LARGEST_PENALTY
            or self._unsolved >= UNSOLVED
            or not math.isfinite(seen.primal)
        )
        if self._end(seen, hopeless):
            return
        before = counts(state)
        self._centres = self._known = None
        state.recentre(state.penalty * GROWTH)
        add_work(self.counters, state, before)
        self._inner_steps = 0

    def _leave_descent(self, warm: Descent) -> None:
        rows, self._warm = warm.rows, None
        self._begin(rows, warm.w[: rows.d], warm.alpha, self._penalty)
        if self._seen().primal > WORSE:
            # Worse than w = 0, as on features of very different scales.
            self._begin_at_zero(rows)

    def _begin_at_zero(self, rows: CompactRows) -> None:
        """Begin at w = 0, where this penalty gives every row curvature, whatever the scales."""
        self._begin(rows, np.zeros(rows.d), np.full(rows.m, 0.5), FROM_ZERO)

    def _end(self, seen: Seen, hopeless: bool) -> bool:
        """Leave these rows, or end, if they are solved or hopeless; return whether they are."""
        if self._whole:
            self.exhausted = hopeless or seen.gap <= NEGLIGIBLE * seen.primal
            return self.exhausted
        if hopeless:
            self._begin_stage_at_zero()
            return True
        if seen.gap <= sample_accuracy(self._state.m, self._rows.d) * seen.primal:
            self._next_stage(seen.primal)
            return True
        return False

    def _lower_penalty(self) -> None:
        """Begin again with a penalty as small as the dual variables, where these are far below 1.

        sigma is a dual variable over a margin: where a plane nearly separates the rows, few lie in
        J.
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
        if self._seen().primal > REPRESENTATIVE * primal:
            # The sample does not represent these rows well enough for so large a penalty.
            self._begin(rows, w, np.zeros(0), self._penalty)

    @property
    def w(self) -> FloatArray:
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
        """Whether w and alpha belong to each other, and to all rows."""
        return self._whole and self._warm is None

    @property
    def gap(self) -> float:
        """P - D of the current w and alpha; inf until these belong to all rows."""
        return self._seen().gap if self._complete else math.inf

    def bound(self) -> float:
        """D(alpha); 0 until alpha belongs to all rows."""
        return self._seen().primal - self._seen().gap if self._complete else 0.0

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
            self._inner = InnerProblem(self._multipliers(rows), self._lam)
        self._draw_ahead()
        before = counts(self._state) if self._state.presentations else NO_WORK
        self._centres, self._known = centres, None
        self._inner.begin(w, centres, penalty)
        add_work(self.counters, self._state, before)
        self._forget_inner_problems()

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
            return Multipliers(rows, self._lam)
        return ThreadedMultipliers(rows, self._lam, threads, alone)

    def _threads_on(self, rows: CompactRows) -> int:
        return min(int(rows.m), threads_for(rows.nnz, self._threads, rows.d))


def weights_or_zeros(w: FloatArray, bound: float, gap: float) -> FloatArray:
    """The weights, or zeros where these are known to be better."""
    worse = gap != math.inf and not bound + gap <= PRIMAL_AT_ZERO
    return np.zeros_like(w) if worse or not np.isfinite(w).all() else w
