"""svmsgd2: SGD that shrinks the weights in some steps only."""

from __future__ import annotations

from typing import Any

from svmbench.data.dataset import Array
from svmbench.kernels.sgd_qn import Svmsgd2 as Svmsgd2Kernel
from svmbench.solvers.stochastic.scheduled import SKIP_UNSTATED, Scheduled, SkipParameters


class Svmsgd2(Scheduled):
    """SGD with steps 1/(lambda (t + t0)) that regularises once every ``skip`` steps."""

    name = "svmsgd2"
    summary = "SGD with steps 1/(λ(t+t0)) that shrinks the weights only every skip steps"
    source = "Bordes, Bottou and Gallinari, JMLR 10 (2009), section 3 and figure 2"
    schema = SkipParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   t = 0, 1, ...; the next row i:
                 w ← w - 1/(λ(t+t0)) loss'(sᵢ) yᵢ xᵢ
             every skip steps, with the same t:  w ← (1 - skip/(t+t0)) w
    cost     nnz of the row, nnz more where loss' is not 0; d every skip steps
"""
    )
    unstated = (*Scheduled.unstated, *SKIP_UNSTATED)

    def _make_kernel(self, t0: float, order: Array) -> Any:
        return self._make_skipping(Svmsgd2Kernel, t0, order)
