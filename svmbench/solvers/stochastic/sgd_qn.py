"""sgd-qn: SGD with a diagonal estimate of the inverse Hessian, as published in 2009."""

from __future__ import annotations

from typing import Any, Literal

from svmbench.data.dataset import Array
from svmbench.kernels.sgd_qn import SgdQn as SgdQnKernel
from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.scheduled import SKIP_UNSTATED, Scaled, Scheduled, SkipParameters


class SgdQnParameters(SkipParameters):
    averaging: Literal["printed", "released"] = parameter(
        "printed",
        "Weight of a new ratio in B. printed: 2/r, so that B leaves 1/λ at once. released: "
        "2 skip/(t + t0 + skip), so that B leaves 1/λ as slowly as the steps fall; a row whose "
        "slope its own step does not change is then left out.",
        source="printed: JMLR 10 (2009), figure 2; released: the authors' program as kept in "
        "Shogun, SGDQN.cpp",
    )


class SgdQn(Scaled):
    """SGD with steps B/(t + t0), where the diagonal B averages ratios of secants.

    B never exceeds 1/lambda, its initial value, so that it can only shorten steps. The authors'
    correction of 2010 is sgd-qn-corrected.
    """

    name = "sgd-qn"
    summary = "SGD with a diagonal quasi-Newton scaling, as published in 2009"
    source = "Bordes, Bottou and Gallinari, JMLR 10 (2009), section 5 and figure 2"
    schema = SgdQnParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   B = diag(b)/λ with b = 1 at the start; t = 0, 1, ...; the next row i:
                 w ← w - 1/(t+t0) loss'(sᵢ) yᵢ B xᵢ
             every skip steps then  wⱼ ← (1 - skip bⱼ/(t+t0)) wⱼ,  and the next row's
             step also updates b:
                 bⱼ ← max(bⱼ + 2/r (qⱼ - bⱼ), 0.01),  r = 2, 3, ...
                 qⱼ = λ (change of wⱼ)/(change of that row's gradient)ⱼ,  0/0 read as 1
             with averaging: released, 2 skip/(t+t0+skip) stands for 2/r, and b stays where
             the row's own step does not change loss'(sᵢ)
    cost     nnz of the row, nnz more where loss' is not 0; several d every skip steps
"""
    )
    unstated = (*Scheduled.unstated, *SKIP_UNSTATED)

    def _make_kernel(self, t0: float, order: Array) -> Any:
        kernel = self._make_skipping(SgdQnKernel, t0, order)
        kernel.released = self.parameters.averaging == "released"
        return kernel
