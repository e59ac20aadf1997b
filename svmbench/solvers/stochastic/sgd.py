"""sgd: plain stochastic gradient descent on dense weights."""

from __future__ import annotations

from svmbench.data.dataset import Array
from svmbench.kernels.sgd_qn import Sgd as SgdKernel
from svmbench.solvers.stochastic.scheduled import Scheduled


class Sgd(Scheduled):
    """SGD with steps 1/(lambda (t + t0)), all weights shrunk in every step.

    A step changes all d weights, however few nonzeros its row has. This is its purpose: it is the
    baseline for svmsgd2's schedule and for scaled weight vectors elsewhere.
    """

    name = "sgd"
    summary = "SGD with steps 1/(λ(t+t0)) on dense weights; every step costs d"
    source = "Bordes, Bottou and Gallinari, JMLR 10 (2009), equation 3 and table 5"
    mathematics = (
        Scheduled.mathematics
        + """\
    update   t = 0, 1, ...; the next row i, sᵢ at the old w:
                 w ← (1 - 1/(t+t0)) w - 1/(λ(t+t0)) loss'(sᵢ) yᵢ xᵢ
    cost     d per row, and nnz of the row twice
"""
    )

    def _make_kernel(self, t0: float, order: Array) -> SgdKernel:
        problem, precision = self._problem, self.parameters.precision
        return SgdKernel(problem.data.rows, order, problem.lam, t0, problem.loss, precision)
