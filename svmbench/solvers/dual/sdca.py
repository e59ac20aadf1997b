"""sdca: stochastic dual coordinate ascent."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.sdca import Sdca as SdcaKernel
from svmbench.names import LOSSES
from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.dual.dcd import COORDINATE_STEP
from svmbench.solvers.output import OutputParameters
from svmbench.solvers.row_method import DualMethod


class SdcaParameters(OutputParameters):
    sampling: Literal["random", "perm", "fixed", "cyclic"] = parameter(
        "random",
        "Order of the rows. random: independent draws. perm: a new permutation in every pass. "
        "fixed: the same one in every pass. cyclic: the stored order.",
        source="JMLR 14 (2013), procedure SDCA; perm is its SDCA-Perm; fixed as Ali, 2018, has "
        "it, who calls it cyclic",
    )
    output: Literal["last", "average"] = parameter(
        "last",
        "last: the iterate after the last step. average: the mean of the iterates that the steps "
        "after the first `begin` start from. For w and alpha alike.",
        source="JMLR 14 (2013), procedure SDCA, whose mean is that of the second half",
    )


class Sdca(DualMethod):
    """Exact maximisation of the dual over one variable at a time.

    The mean of feasible dual variables is feasible, so that every output has dual variables
    that certify it.
    """

    name = "sdca"
    summary = "Stochastic dual coordinate ascent, without shrinking"
    source = "Shalev-Shwartz and Zhang, JMLR 14 (2013), procedures SDCA and SDCA-Perm"
    losses = LOSSES
    schema = SdcaParameters
    mathematics = (
        COORDINATE_STEP
        + """\
    rows     drawn with replacement, a new permutation every pass, the same one, or as
             stored
    output   the last w and α, or the mean of those that the steps after the first begin
             start from. The output's α certifies it: D(α) ≤ P*
"""
    )
    reconstructed = (
        "The step: the course report by Ali, 2018, prints it without the label and half of the "
        "clip; here it is the exact maximum.",
    )
    unstated = (
        "Where the mean begins: the source has the second half of a run of known length.",
        "Rows without entries: their αᵢ has its best value from the start.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        data, given = problem.data, self.parameters
        self._begin(problem, seed)
        self._take(SdcaKernel(data.rows, problem.lam, problem.loss, given.precision))
        self._presented = self._order.copy()
        if given.sampling == "fixed":
            self._rng.shuffle(self._order)
        self._begins = math.inf if given.output == "last" else given.begin

    @property
    def w(self) -> FloatArray:
        """The output's weights; until there is a mean, the last ones."""
        kernel = self._kernel
        w: FloatArray = kernel.w.astype(np.float64)
        tau: float = kernel.tau
        return (tau * w + kernel.u) / tau if tau > 0.0 else w

    @property
    def alpha(self) -> FloatArray:
        """The output's dual variables, shape (m,); a new array."""
        kernel = self._kernel
        alpha: FloatArray = kernel.alpha
        tau: float = kernel.tau
        if tau == 0.0:
            return alpha.copy()
        # Rounding must not take the mean out of the box.
        mean: FloatArray = (tau * alpha + kernel.beta) / tau
        return np.clip(mean, 0.0, self._problem.loss.upper)

    def _next_order(self) -> None:
        if self.parameters.sampling == "perm":
            self._rng.shuffle(self._order)
        elif self.parameters.sampling == "random":
            draw_rows(self._rng, self._order, len(self._order))
            if len(self._order) < self._problem.data.n_samples:
                self._order[:] = self._presented[self._order]
