"""When dual coordinate descent takes steps in the plane of what its passes have moved."""

from __future__ import annotations

import math

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.acceleration import Acceleration
from svmbench.kernels.counters import Counters
from svmbench.kernels.rows import CompactRows

#: Steps begin once a pass raises D by more than this share of the rise of the pass before.
LINGERING = 0.3

#: Entries that passes touch before a step follows: per feature, per active row and per row. A step
#: reads and writes some 15 vectors of length d in order; it visits the active rows some ten times,
#: in the time of about an entry each; and it copies two vectors of length m. So it takes at most
#: about a fifth of the time of these passes.
ENTRIES_A_FEATURE, ENTRIES_AN_ACTIVE_ROW, ENTRIES_A_ROW = 8, 50, 10

#: Share of D below which a pass's rise is too close to rounding for a step to be judged.
SMALLEST_RISE = 1e-13


class Accelerator:
    """Steps of `Acceleration`, from when passes gain little until the end.

    Parameters
    ----------
    rows : CompactRows
    lam : float
    nu, upper : float
        Curvature of the loss, and the upper bound of the dual variables.
    """

    def __init__(self, rows: CompactRows, lam: float, nu: float = 0.0, upper: float = 1.0) -> None:
        self._problem = (rows, lam, nu, upper)
        self._least = ENTRIES_A_FEATURE * rows.d + ENTRIES_A_ROW * rows.m
        self._enough = self._least
        self._kernel: Acceleration | None = None
        self._open = False
        self._touched = 0
        self._gain = math.inf

    @property
    def may_begin(self) -> bool:
        """Whether `begin` is to be called before the next pass."""
        return self._kernel is not None and not self._open

    def begin(self, moving: Array, alpha: FloatArray, w: FloatArray) -> None:
        """Remember alpha and w before passes over the rows ``moving``."""
        assert self._kernel is not None
        self._kernel.begin(moving, alpha, w)
        self._open, self._touched = True, 0
        self._enough = self._least + ENTRIES_AN_ACTIVE_ROW * len(moving)

    def interrupt(self) -> None:
        """Have the next pass begin anew: other rows may take part in it."""
        self._open = False

    def may_step(self, gain: float, bound: float, touched: int) -> bool:
        """Whether `step` is to be called after a pass that raised D by ``gain``.

        Parameters
        ----------
        gain, bound : float
            The rise of D, and D.
        touched : int
            Entries that the pass has touched.
        """
        if self._kernel is None:
            if gain > LINGERING * self._gain:
                self._kernel = Acceleration(*self._problem)
            self._gain = gain
            return False
        self._touched += touched
        if gain <= SMALLEST_RISE * bound:
            self._open = False
        return self._open and self._touched >= self._enough

    def step(self, alpha: FloatArray, w: FloatArray, counters: Counters) -> float:
        """Move alpha and w in place; return the change of the sum of alpha.

        Parameters
        ----------
        alpha : ndarray of float64, shape (m,)
        w : ndarray of float64, shape (d,)
        counters : Counters
            The entries that the step touches are added to these.
        """
        kernel = self._kernel
        assert kernel is not None
        before = kernel.nonzeros
        kernel.step(alpha, w)
        counters.nonzeros += kernel.nonzeros - before
        self._open = False
        return float(kernel.change)
