"""When dual coordinate descent takes steps in the plane of what its passes have moved."""

from __future__ import annotations

import math

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.acceleration import Acceleration
from svmbench.kernels.counters import Counters
from svmbench.kernels.rows import CompactRows

#: Steps begin once a pass raises D by more than this share of the rise of the pass before.
LINGERING = 0.3

#: Cost of a step per feature and per active row, in entries that a pass touches in the same time.
FEATURE_COST, ROW_COST = 4.0, 10.0

#: Passes cost so many times as much as the step that follows them, and twice as much after each
#: step in turn that did not pay, up to so many of these: steps that have failed may pay later.
PASSES_A_STEP, MOST_DOUBLINGS = 3.0, 4

#: Share of D below which a pass's rise is too close to rounding for a step to be judged.
SMALLEST_RISE = 1e-13


class Accelerator:
    """Steps of `Acceleration`, from when passes gain little and for as long as they pay.

    A step pays if it raises D by as much per entry as the pass after it.
    """

    def __init__(
        self,
        rows: CompactRows,
        lam: float,
        nu: float = 0.0,
        upper: float = 1.0,
        row_weights: FloatArray | None = None,
        constant: float = 0.0,
    ) -> None:
        self._problem, self._d = (rows, lam, nu, upper, row_weights, constant), rows.d
        self._kernel: Acceleration | None = None
        self._open = False
        self._cost, self._enough, self._touched = 0.0, 0.0, 0
        self._gain = math.inf
        self._stepped, self._failures = False, 0

    @property
    def may_begin(self) -> bool:
        """Whether `begin` is to be called before the next pass."""
        return self._kernel is not None and not self._open

    def begin(self, moving: Array, alpha: FloatArray, w: FloatArray) -> None:
        """Remember alpha and w before passes over the rows ``moving``."""
        assert self._kernel is not None
        self._kernel.begin(moving, alpha, w)
        self._open, self._touched = True, 0
        self._cost = FEATURE_COST * self._d + ROW_COST * len(moving)
        self._set_interval()

    def interrupt(self) -> None:
        """Have the next pass begin anew: other rows may take part in it."""
        self._open = False

    def shift(self, amount: float) -> None:
        """Take note that the last weight has been moved by so much, with alpha as it was."""
        if self._kernel is not None:
            self._kernel.shift(amount)

    def may_step(self, gain: float, bound: float, touched: int) -> bool:
        """Whether `step` is to be called after a pass that raised D by ``gain``."""
        if self._kernel is None:
            if gain > LINGERING * self._gain:
                self._kernel = Acceleration(*self._problem)
            self._gain = gain
            return False
        self._touched += touched
        if gain <= SMALLEST_RISE * bound:
            self._open = False
        elif self._stepped:
            self._judge(gain, touched)
        self._stepped = False
        return self._open and self._touched >= self._enough

    def _judge(self, gain: float, touched: int) -> None:
        """Compare the last step with the pass after it, which raised D by ``gain``."""
        paid = self._step_gain * touched >= gain * self._step_cost
        self._failures = 0 if paid else self._failures + 1
        self._set_interval()

    def _set_interval(self) -> None:
        self._enough = math.ldexp(PASSES_A_STEP * self._cost, min(self._failures, MOST_DOUBLINGS))

    def step(self, alpha: FloatArray, w: FloatArray, counters: Counters) -> float:
        """Move alpha and w in place; return the change of the sum of alpha."""
        kernel = self._kernel
        assert kernel is not None
        before = kernel.nonzeros
        kernel.step(alpha, w)
        touched = kernel.nonzeros - before
        counters.nonzeros += touched
        self._step_gain, self._step_cost = float(kernel.rise), self._cost + touched
        self._open, self._stepped = False, True
        return float(kernel.change)
