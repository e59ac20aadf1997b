"""Dual coordinate descent in blocks, with shrinking that cannot leave rows out for good."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows
from svmbench.problem import relative_gap
from svmbench.solvers.dual.accelerator import Accelerator
from svmbench.solvers.dual.progress import HIGH_GAIN, TYPICAL, PastGaps
from svmbench.solvers.dual.subspace import Subspace

#: Bytes of active rows up to which their order is a random permutation, because they fit the cache.
CACHED_BYTES = 8e6

#: Contiguous rows in a block.
BLOCK_ROWS = 32

#: All rows become active again when the gap of the active rows falls to this share of the gap when
#: all rows were last processed, or after work on the active rows worth this many passes.
RESTORE_SHARE, RESTORE_PASSES = 0.03, 8.0

#: Factor of the last pass's shrinking thresholds, beyond which rows are then shrunk again.
THRESHOLD_MARGIN = 2.0

#: Steps are left out if they gain less per entry than so many times what the last pass gained.
LEAST_GAIN = 0.1

#: Mean entries of a row from which steps are left out. A step of a shorter row costs little beside
#: its visit.
LONG_ROW = 40.0

#: The scale is raised by this much, and by this share of the expected relative gap at most, so that
#: rounding leaves no margin below 1 where the optimum is next to 0.
ABOVE, ABOVE_SHARE = 1e-11, 0.01

#: Cost of finding the scale, in entries that a pass touches in the same time: once, and per row
#: that is looked at, besides its entries.
SCALE_COST, SCALE_ROW_COST = 40_000.0, 60.0

#: Finding the scale may cost this share of the passes before, and half as much after each time in
#: turn that it saved less of the gap than these passes, which lower it from 1 to 1e-3.
SCALE_SHARE = 0.05
LEAST_SAVED = 1.0 - 1e-3**SCALE_SHARE

#: Scales of w that are considered: while alpha converges, P(c w) is often below P(w).
LEAST_SCALE, MOST_SCALE = 0.5, 2.0

#: The scale is found from every so many active rows, but from no fewer and no more than these.
STRIDE, FEWEST_ROWS, MOST_ROWS = 32, 64, 1024


class DualPhase:
    """Passes over the active rows, and over all rows once the active ones have converged enough.

    A trial is on a few rows, where what helps passes costs more than they do.
    """

    def __init__(
        self,
        rows: CompactRows,
        lam: float,
        rng: Generator,
        tolerance: float,
        *,
        subspace: bool = True,
        trial: bool = False,
    ) -> None:
        self.counters = self._state = Descent(rows, lam)
        self._rng = rng
        self._m, self._d, self._lam = rows.m, rows.d, lam
        stored = (rows.indptr, rows.indices, rows.values, rows.labels)
        self._row_bytes = sum(array.nbytes for array in stored if array is not None) / rows.m
        self._nnz: int = rows.nnz
        self._tolerance = tolerance
        # Steps that gain much are repeated, and those that gain little left out.
        self._state.least_gain = LEAST_GAIN if self._nnz >= LONG_ROW * self._m else 0.0
        self._state.high_gain = HIGH_GAIN
        # Entries touched in all.
        self._visited = 0
        # By the last survey: P - D, what had been expected of it, and the relative gap. Whether w
        # is still the same.
        self._certified = self._expected = self._shown = math.inf
        self._current = False
        # P - D when all rows were last processed, and the entries touched since.
        self._level, self._work = math.inf, 0
        self._known_norm2: float | None = 0.0
        self._accelerator = None if trial else Accelerator(rows, lam)
        self._step_due = False
        self._subspace = None if trial or not subspace else Subspace(rows, lam)
        self._trial = trial
        self._scale, self._scale_failures = 1.0, 0
        self._scale_saved = True
        self._scale_next = self._scale_interval()
        self._solved = False
        self._progress = PastGaps()

    def resume(self, alpha: FloatArray, w: FloatArray) -> None:
        """Begin at these dual variables; rows without entries keep theirs."""
        state = self._state
        kept, active = state.kept_alpha(), state.active_rows
        change = float(alpha[active].sum() - kept[active].sum())
        kept[active] = alpha[active]
        state.w[: self._d] = w
        state.take_alpha(change)
        self._known_norm2 = None

    def iterate(self) -> None:
        """Make a pass over the active rows; then, where due, survey or reactivate all rows."""
        state = self._state
        before = state.nonzeros
        self._current = False
        whole = state.active == state.m
        self._descend()
        if state.typical > 0.0:
            state.upper = min(state.upper, TYPICAL * state.typical)
            state.lower = max(state.lower, -TYPICAL * state.typical)
        expected, solved = state.slack_sum / self._m, self._solved
        touched, bound = state.nonzeros - before, self.bound()
        self._progress.add(self._visited + touched, relative_gap(bound + expected, bound))
        self._solve_free_rows(touched)
        self._visited += state.nonzeros - before
        if not self._trial and self._visited >= self._scale_next:
            self._find_scale(expected)
        self._work += state.nonzeros - before
        if whole:
            self._level, self._work = expected, 0
        if solved or self._may_certify(expected):
            self._survey(expected)
        elif self._may_be_stuck(expected):
            self._widen()
            state.restore()
            self._new_rows()

    def _descend(self) -> None:
        """Make a step of the acceleration where it is due, and then a pass."""
        state, accelerator = self._state, self._accelerator
        cached = state.active * self._row_bytes <= CACHED_BYTES
        block_rows = 1 if cached or self._trial else BLOCK_ROWS
        if accelerator is None:
            self._pass(block_rows)
            return
        if self._step_due:
            state.take_alpha(accelerator.step(state.kept_alpha(), state.w, state))
            self._known_norm2 = None
        if accelerator.may_begin:
            accelerator.begin(state.active_rows, state.kept_alpha(), state.w)
        earlier, before = self.bound(), state.nonzeros
        self._pass(block_rows)
        bound = self.bound()
        self._step_due = accelerator.may_step(bound - earlier, bound, state.nonzeros - before)

    def _pass(self, block_rows: int) -> None:
        """Repeat the steps that gained much in the last pass; make a pass."""
        self._state.revisit()
        self._state.descend(self._rng, block_rows, True)
        self._known_norm2 = None

    def _solve_free_rows(self, touched: int) -> None:
        """Take a Newton step on the free rows where it is due."""
        state, subspace = self._state, self._subspace
        self._solved = False
        if subspace is None or not subspace.may_step(touched):
            return
        change = subspace.step(state.active_rows, state.kept_alpha(), state.w, state)
        if change is not None:
            state.take_alpha(change)
            self._known_norm2 = None
            self._new_rows()
            self._solved = subspace.solved

    def _find_scale(self, expected: float) -> None:
        """Estimate the best scale of w from some active rows; keep it if it saves enough."""
        state = self._state
        stride = stride_of(state.active)
        margins, alpha = state.sample(stride)
        energy = self._lam * self._m * self._norm2() / stride
        share = ABOVE_SHARE * relative_gap(self.bound() + expected, self.bound())
        scale = best_scale(margins, alpha, energy)
        saves = share_saved(margins, alpha, energy, scale) >= LEAST_SAVED
        # Passes to come are shown at this scale as well, so that one chance success is not enough.
        self._scale = scale * (1.0 + min(ABOVE, share)) if saves and self._scale_saved else 1.0
        self._scale_saved = saves
        self._scale_failures = 0 if saves else self._scale_failures + 1
        self._scale_next = self._visited + self._scale_interval()

    def _scale_interval(self) -> float:
        """Entries that passes touch before the scale is found again."""
        active = self._state.active
        rows = active / stride_of(active)
        cost = SCALE_COST + rows * (SCALE_ROW_COST + self._nnz / self._m)
        return math.ldexp(cost / SCALE_SHARE, self._scale_failures)

    def _may_certify(self, expected: float) -> bool:
        """Whether a survey may show the tolerance; the gap has to halve before another one."""
        enough = 0.5 * self._tolerance * self.bound()
        return self._shown > self._tolerance and expected <= min(enough, 0.5 * self._expected)

    def _may_be_stuck(self, expected: float) -> bool:
        """Whether the rows that shrinking left out are to become active again."""
        state = self._state
        if state.active == state.m:
            return False
        worked = self._work > RESTORE_PASSES * self._nnz
        return state.active == 0 or expected < RESTORE_SHARE * self._level or worked

    def _survey(self, expected: float) -> None:
        """Pass over all rows without a step: P - D, and the rows that are active from now on."""
        state = self._state
        self._widen()
        state.survey(True, self._scale)
        self._new_rows()
        self._visited += self._nnz
        self._expected, self._work = expected, 0
        self._certified = self._level = state.slack_sum / self._m
        stretch = 0.5 * self._lam * (self._scale - 1.0) ** 2 * self._norm2()
        scaled = state.scaled_slack_sum / self._m + stretch
        if scaled < self._certified:
            self._certified = scaled
        else:
            self._scale = 1.0
        self._shown = relative_gap(self.bound() + self._certified, self.bound())
        self._progress.correct(self._shown)
        self._current = True

    def _new_rows(self) -> None:
        """Have the acceleration begin anew: rows may have become active or have been moved."""
        self._step_due = False
        if self._accelerator is not None:
            self._accelerator.interrupt()

    def sharpen(self) -> None:
        """Certify a tenth of the tolerance from now on."""
        self._tolerance *= 0.1
        self._expected = math.inf

    def _widen(self) -> None:
        """Shrink fewer rows than by the thresholds of the last pass."""
        self._state.upper *= THRESHOLD_MARGIN
        self._state.lower *= THRESHOLD_MARGIN

    def bound(self) -> float:
        """D(alpha), from the updated sums."""
        return float(self._state.alpha_sum / self._m - 0.5 * self._lam * self._norm2())

    def _norm2(self) -> float:
        """||w||^2, found once for each w: with many features it takes long."""
        if self._known_norm2 is None:
            self._known_norm2 = float(self._state.w @ self._state.w)
        return self._known_norm2

    @property
    def gap(self) -> float:
        """P - D just after a survey; otherwise inf."""
        return self._certified if self._current else math.inf

    @property
    def state(self) -> Descent:
        """The kernel's own state."""
        return self._state

    @property
    def passes(self) -> float:
        """Work so far, in passes over all nonzeros."""
        return float(self._visited / max(1, self._nnz))

    @property
    def expected_gap(self) -> float:
        """Relative gap, as the rows were met in the passes so far; inf at the start."""
        return self._progress.gap

    def expected_passes(self, gap: float) -> float:
        """Passes until the relative gap is so small, by what the last passes have gained."""
        return self._progress.remaining(gap) / max(1, self._nnz)

    @property
    def w(self) -> FloatArray:
        """The weights at their scale, shape (d,); a new array."""
        w: FloatArray = self._scale * self._state.w[: self._d]
        return w

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); a new array."""
        return np.array(self._state.alpha)

    @property
    def exhausted(self) -> bool:
        """Always False: a pass may always change the dual variables."""
        return False


def stride_of(active: int) -> int:
    """From every how many of the active rows the scale is found."""
    return max(1, min(STRIDE, active // FEWEST_ROWS), active // MOST_ROWS)


def best_scale(margins: FloatArray, alpha: FloatArray, energy: float) -> float:
    """The c that minimises P(c w), from some of the rows.

    It is the root of ``energy (c - 1) + sum (alpha_i - [c s_i < 1]) s_i``, which increases with c.
    """
    if not (0.0 < energy < math.inf) or not np.isfinite(margins).all():
        return 1.0
    # Only between these scales do rows change sides; at LEAST_SCALE, those beyond are short of 1.
    turning = np.sort(margins[(margins * LEAST_SCALE < 1.0) & (margins * MOST_SCALE > 1.0)])[::-1]
    kinks = np.append(1.0 / turning, MOST_SCALE)
    short = float(margins[margins * LEAST_SCALE < 1.0].sum())
    slopes = float(alpha @ margins) - short + np.append(0.0, np.cumsum(turning)) - energy
    # The derivative is slopes[k] + energy c from the kink k - 1 to the kink k.
    k = int(np.argmax(slopes + energy * kinks >= 0.0))
    if slopes[k] + energy * kinks[k] < 0.0:
        return MOST_SCALE
    lowest = LEAST_SCALE if k == 0 else float(kinks[k - 1])
    return max(lowest, float(-slopes[k] / energy))


def share_saved(margins: FloatArray, alpha: FloatArray, energy: float, scale: float) -> float:
    """The share of the gap that a scale of w saves, from the same rows as `best_scale`."""
    apart = slack(margins, alpha)
    left = slack(scale * margins, alpha) + 0.5 * energy * (scale - 1.0) ** 2
    return 1.0 - left / apart if 0.0 < apart < math.inf and left < math.inf else 0.0


def slack(margins: FloatArray, alpha: FloatArray) -> float:
    """What the rows add to m (P - D)."""
    beyond = margins - 1.0
    return float(np.where(beyond > 0.0, alpha * beyond, (alpha - 1.0) * beyond).sum())
