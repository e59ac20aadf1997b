"""The method of multipliers with Newton steps, first on samples of the rows, then on all."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.descent import Descent
from svmbench.kernels.multipliers import Multipliers
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.subset import take_rows
from svmbench.solvers.champion.multiplier_steps import FROM_ZERO, LOWERED, MultiplierSteps
from svmbench.solvers.champion.threaded_multipliers import ThreadedMultipliers, threads_for
from svmbench.solvers.champion.work import NO_WORK, add_work, counts
from svmbench.solvers.samples import sample_accuracy, sample_sizes

#: Ratio of the objective on the next stage's rows to that on the sample, beyond which the sample
#: was too small to represent those rows.
REPRESENTATIVE = 1.1

#: Objective of dual descent beyond which Newton steps begin at w = 0, where P is 1, instead. Every
#: row has curvature there: where P is but little above 1, that costs more than w = 0 saves.
WORSE = 1.25


#: First penalty sigma, and its factor from one inner problem to the next.
PENALTY, GROWTH = 1.5, 3.0

#: Passes of dual descent before the first stage.
PASSES = 4


class NewtonPhase(MultiplierSteps):
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
        super().__init__(lam, GROWTH)
        self._rows, self._rng, self._penalty, self._threads = rows, rng, penalty, threads
        self._sizes = sample_sizes(rows.m, rows.d) if warm is None else []
        self._whole = not self._sizes
        self._begin_ahead()
        self._passes = PASSES if warm is None else 0
        self._warm: Descent | None = warm
        if self._warm is None:
            self._warm = Descent(self._next_rows(), lam)
        add_work(self.counters, self._warm)
        self._state = self._multipliers(self._warm.rows)

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
        if self._warm is None:
            super().iterate()
        elif self._passes > 0:
            self._passes -= 1
            before = counts(self._warm)
            self._warm.descend(self._rng, 1, False)
            add_work(self.counters, self._warm, before)
        else:
            self._leave_descent(self._warm)
            self._step()

    def _give_up(self) -> None:
        """Leave the sample, or end, because rounding has made the system indefinite."""
        if self._whole:
            super()._give_up()
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
        """Begin at w = 0, where this penalty gives every row curvature, whatever the scales."""
        self._begin(rows, np.zeros(rows.d), np.full(rows.m, 0.5), FROM_ZERO)

    def _end(self, gap: float, primal: float, hopeless: bool) -> bool:
        if self._whole:
            return super()._end(gap, primal, hopeless)
        if hopeless:
            self._begin_stage_at_zero()
            return True
        if gap <= sample_accuracy(self._state.m, self._rows.d) * primal:
            self._next_stage(primal)
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
        if self._primal() > REPRESENTATIVE * primal:
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
        before = counts(self._state) if self._state.presentations else NO_WORK
        self._centres, self._known = centres, None
        self._state.begin(w, centres, penalty)
        add_work(self.counters, self._state, before)
        self._largest = np.zeros(max(rows.d, 1))
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
