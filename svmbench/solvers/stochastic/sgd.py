"""sgd: plain stochastic gradient descent on dense weights."""

from __future__ import annotations

from svmbench.kernels.sgd_qn import ScheduleState, advance_sgd
from svmbench.solvers.stochastic.scheduled import Scheduled


class Sgd(Scheduled):
    """SGD with steps 1/(lambda (t + t0)), all weights shrunk in every step.

    A step touches all d weights, however few entries its row has. That is its purpose: it is
    what svmsgd2's schedule, and scaled weight vectors elsewhere, are measured against.
    """

    name = "sgd"
    summary = "SGD with steps 1/(λ(t+t0)) on dense weights, every step of which costs d"
    source = "Bordes, Bottou and Gallinari, JMLR 10 (2009), equation 3 and table 5"
    colour = "#A0785A"
    mathematics = (
        Scheduled.mathematics
        + """\
    update   t = 0, 1, ...; the next row i, sᵢ at the old w:
                 w ← (1 - 1/(t+t0)) w - 1/(λ(t+t0)) loss'(sᵢ) yᵢ xᵢ
    cost     d a row, and nnz of the row twice
"""
    )

    def _begin(self, t0: float) -> None:
        self.counters = self._state = ScheduleState(self._skip)

    def _run(self, target: int) -> None:
        problem = self._problem
        advance_sgd(
            problem.data.rows,
            self._w,
            self._order,
            self._state,
            problem.lam,
            self._t0,
            problem.loss.code,
            problem.loss.gamma,
            target,
        )
