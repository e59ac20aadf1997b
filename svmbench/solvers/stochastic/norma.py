"""norma: stochastic gradient descent with steps that decay as 1/sqrt(t)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.decaying import DecayingSgd, Schedule
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_rows
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
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


class Norma(Solver):
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
        data = problem.data
        self._problem = problem
        self._rng = Generator(seed)
        self._eta0 = self._first_step()
        self._order = np.arange(data.n_samples, dtype=np.int32)
        steps = (problem.lam, Schedule(self._eta0, 1.0, 2))
        self.counters = self._kernel = DecayingSgd(
            data.rows, self._order, *steps, ties=False, precision=self.parameters.precision
        )
        if self.parameters.output == "average":
            self._kernel.begin_sum()
        self._kernel.position = data.n_samples  # the first order is yet to be drawn

    def advance(self, steps: int) -> None:
        kernel = self._kernel
        target = kernel.presentations + steps
        while kernel.presentations < target:
            if kernel.position == len(self._order):
                self._next_order()
            kernel.advance(target)

    @property
    def eta0(self) -> float:
        return self._eta0

    @property
    def w(self) -> FloatArray:
        kernel = self._kernel
        if kernel.summed:
            mean: FloatArray = kernel.total / kernel.summed
            return mean
        last: FloatArray = kernel.iterate
        return last

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
        self._kernel.position = 0
