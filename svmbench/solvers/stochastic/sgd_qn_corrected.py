"""sgd-qn-corrected: the diagonal estimate of sgd-qn after its authors' erratum of 2010."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.sgd_qn import ScheduleState, advance_corrected
from svmbench.solvers.stochastic.scheduled import (
    OWN_TRIAL,
    SKIP_UNSTATED,
    Scheduled,
    SkipParameters,
)


class SgdQnCorrected(Scheduled):
    """SGD with steps B, whose inverse gains an estimate of the curvature with every step.

    Where the published form averages B itself and takes steps B/(t + t0), on dense rows the
    same for all features, this one adds estimates up, feature by feature: features of
    little curvature keep long steps.
    """

    name = "sgd-qn-corrected"
    summary = "SGD with a diagonal quasi-Newton scaling, after the erratum of 2010"
    source = (
        "Bordes, Bottou, Gallinari, Chang and Smith, Erratum: SGDQN is less careful than "
        "expected, JMLR 11 (2010); details as in the code released with it"
    )
    colour = "#7B5EA7"
    schema = SkipParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   B = diag(b)/λ with b = 1/t0 at the start; the next row i, g = -loss'(sᵢ):
                 w ← w + g yᵢ B xᵢ
             every skip steps, ahead of that, w is saved and wⱼ ← (1 - skip bⱼ) wⱼ; the
             next row, unless its g is what it is at the saved w, first moves b:
                 λ/bⱼ ← λ/bⱼ + (steps since the last time) ρⱼ
                 ρⱼ = clip(λ - yᵢ (change of g) xᵢⱼ/(change of wⱼ), λ/10, 100λ);
                      101λ where wⱼ did not change, λ where xᵢⱼ = 0
    cost     nnz of the row, nnz more where g > 0; some d every skip steps
"""
    )
    reconstructed = (*Scheduled.reconstructed, OWN_TRIAL)
    unstated = (
        *Scheduled.unstated,
        *SKIP_UNSTATED,
        "The bounds of ρⱼ and the order of a step's parts: those of the released code are taken.",
    )

    @property
    def scaling(self) -> FloatArray:
        """The diagonal of B, shape (d,); a new array."""
        scaled: FloatArray = self._b.astype(np.float64)
        return scaled / self._problem.lam

    def _begin(self, t0: float) -> None:
        self.counters = self._state = ScheduleState(self._skip)
        self._b, self._kept, self._saved = self._zeros(), self._zeros(), self._zeros()
        self._b[:] = 1.0 / t0

    def _run(self, target: int) -> None:
        self._pass(self._order, target)

    def _trial(self, t0: float, order: Array) -> Array:
        """The weights after one pass of this method over ``order``."""
        self._w = self._zeros()
        self._begin(t0)
        self._pass(order, len(order))
        return self._w

    def _pass(self, order: Array, target: int) -> None:
        problem = self._problem
        advance_corrected(
            problem.data.rows,
            self._w,
            self._b,
            self._kept,
            self._saved,
            order,
            self._state,
            problem.lam,
            self._skip,
            problem.loss.code,
            problem.loss.gamma,
            target,
        )
