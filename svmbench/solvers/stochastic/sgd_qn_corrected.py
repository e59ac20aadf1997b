"""sgd-qn-corrected: the diagonal estimate of sgd-qn after its authors' erratum of 2010."""

from __future__ import annotations

from typing import Any

from svmbench.data.dataset import Array
from svmbench.kernels.sgd_qn import SgdQnCorrected as SgdQnCorrectedKernel
from svmbench.solvers.stochastic.scheduled import (
    OWN_TRIAL,
    SKIP_UNSTATED,
    Scaled,
    Scheduled,
    SkipParameters,
)


class SgdQnCorrected(Scaled):
    """SGD with steps B, whose inverse gains an estimate of the curvature with every step.

    The published form averages B and takes steps B/(t + t0), which on dense rows are the same for
    all features. This form sums the estimates per feature, so that features with little curvature
    keep long steps.
    """

    name = "sgd-qn-corrected"
    summary = "SGD with a diagonal quasi-Newton scaling, after the erratum of 2010"
    source = (
        "Bordes, Bottou, Gallinari, Chang and Smith, Erratum: SGDQN is less careful than "
        "expected, JMLR 11 (2010); details as in the code released with it"
    )
    schema = SkipParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   B = diag(b)/λ with b = 1/t0 at the start; the next row i, g = -loss'(sᵢ):
                 w ← w + g yᵢ B xᵢ
             every skip steps, before that, w is saved and wⱼ ← (1 - skip bⱼ) wⱼ; the
             next row, unless its g is the same at the saved w, first updates b:
                 λ/bⱼ ← λ/bⱼ + (steps since the last time) ρⱼ
                 ρⱼ = clip(λ - yᵢ (change of g) xᵢⱼ/(change of wⱼ), λ/10, 100λ);
                      101λ where wⱼ did not change, λ where xᵢⱼ = 0
    cost     nnz of the row, nnz more where g > 0; several d every skip steps
"""
    )
    reconstructed = (*Scheduled.reconstructed, OWN_TRIAL)
    unstated = (
        *Scheduled.unstated,
        *SKIP_UNSTATED,
        "The bounds of ρⱼ and the order of a step's parts: those of the released code.",
    )

    def _make_kernel(self, t0: float, order: Array) -> Any:
        return self._make_skipping(SgdQnCorrectedKernel, t0, order)
