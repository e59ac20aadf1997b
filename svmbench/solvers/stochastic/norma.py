"""norma: stochastic gradient descent with steps that decay as 1/sqrt(t)."""

from __future__ import annotations

import math
from typing import Literal

from svmbench.kernels.decaying import DecayingSgd, Schedule
from svmbench.kernels.sampling import draw_rows
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.row_order import RowMethod
from svmbench.solvers.stochastic.decaying import require_contraction


class NormaParameters(Parameters):
    eta0: float | None = parameter(
        None,
        "First step, below 1/lambda; none: 1/(R sqrt(2 lambda)) with R the largest norm of a row, "
        "or 1/(2 lambda) if that is less.",
        source="ours: it minimises the bound D^2 sqrt(T)/(2 eta0) + eta0 R^2 sqrt(T) on the regret "
        "for D = 1/sqrt(lambda), which bounds the norm of the optimum",
        gt=0.0,
    )
    sampling: Literal["iid", "permuted", "stored"] = parameter(
        "iid",
        "Order of the rows. iid: independent draws. permuted: a new permutation in every epoch. "
        "stored: the stored order in every epoch.",
        source="ours; the paper's rows are a stream",
    )
    output: Literal["last", "average"] = parameter(
        "last",
        "last: the iterate after the last step. average: the mean of all iterates that steps start "
        "from.",
        source="IEEE Trans. Signal Processing 52 (2004), whose bound holds for means of iterates",
    )


class Norma(RowMethod):
    """Naive online regularised risk minimisation, for linear models with margin one."""

    name = "norma"
    summary = "SGD with steps η0/√t on rows drawn with replacement"
    source = "Kivinen, Smola and Williamson, IEEE Trans. Signal Processing 52 (2004)"
    schema = NormaParameters
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   w = 0 at the start; t = 1, 2, ...; the next row i, sᵢ at the old w:
                 η = η0/√t;   w ← (1 - ηλ) w + [sᵢ < 1] η yᵢ xᵢ
    rows     drawn with replacement, permuted every epoch, or as stored
    output   the last w, or the mean of all that the steps start from
    cost     nnz of the row, nnz more at a margin error and again for a mean: w is stored
             as a number times a vector, so that shrinking it is free
"""
    unstated = (
        "η0: the paper asks for η0 λ < 1 and no more; the default minimises a bound on the regret.",
        "The margin, which the paper can adapt: it is 1, as in P.",
        "The order of the rows: the paper's rows are a stream.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        self._eta0 = self._first_step()
        steps = (problem.lam, Schedule(self._eta0, 1.0, 2), False, 0.0, self.parameters.precision)
        self._take(DecayingSgd(problem.data.rows, self._order, *steps))
        if self.parameters.output == "average":
            self._kernel.begin_sum()

    @property
    def eta0(self) -> float:
        return self._eta0

    def _first_step(self) -> float:
        given: float | None = self.parameters.eta0
        lam = self._problem.lam
        if given is not None:
            require_contraction(self.name, given, lam)
            return given
        longest = math.sqrt(float(self._problem.data.rows.norms2().max()))
        # If all rows are zero, nothing moves, whatever the step.
        return 1.0 / max(longest * math.sqrt(2.0 * lam), 2.0 * lam)

    def _next_order(self) -> None:
        if self.parameters.sampling == "iid":
            draw_rows(self._rng, self._order, len(self._order))
        elif self.parameters.sampling == "permuted":
            self._rng.shuffle(self._order)
