"""seg-pm: stochastic exponentiated gradient with two positive weights a feature."""

from __future__ import annotations

import math

import numpy as np

from svmbench.kernels.online import advance_seg
from svmbench.solvers.base import parameter
from svmbench.solvers.online.presented import DoubleParameters, Presented


class SegPmParameters(DoubleParameters):
    """Parameters of seg-pm."""

    eta0: float | None = parameter(
        None,
        "First step, of the logarithms; none: 2 sqrt(log 2d).",
        source="Chor (2020), section 3.2",
        gt=0.0,
    )


class SegPm(Presented):
    """EG with positive and negative weights; by default the mean of all iterates."""

    name = "seg-pm"
    summary = "Exponentiated gradient EG± with steps η0/√t in the ℓ1 ball"
    constraints = ("l1",)
    mathematics = """
    problem  min P(w) = λ/2 ||w||² + 1/m Σ max(0, 1 - s_i) over ||w||₁ <= z
    update   W+ = W- = 1, w = 0 at the start; t = 1, 2, ...; a row i drawn with replacement:
                 η = η0/√t;   g = λ w - [s_i < 1] y_i x_i at the old w
                 W+ <- W+ exp(-η g),   W- <- W- exp(η g);   w = z (W+ - W-)/Σ(W+ + W-)
             the logarithms are kept and their largest subtracted, so that nothing overflows
    output   the mean of all w, the first and the last among them, or the last w
    cost     nnz of the row, nnz more at a margin error, and d with an exponential each
"""
    reconstructed = (
        "The source names EG± without a formula; η0 = 2 sqrt(log 2d) is its program's.",
    )
    unstated = ("Which constants of the data the step follows: none.",)
    colour = "#BCBD22"
    schema = SegPmParameters

    def _first_step(self) -> float:
        d = max(self._problem.data.n_features, 1)
        return self.parameters.eta0 or 2.0 * math.sqrt(math.log(2 * d))

    def _begin(self) -> None:
        self._logs = np.zeros_like(self._v)

    def _run(self, target: int) -> None:
        problem = self._problem
        advance_seg(
            problem.data.rows,
            self._logs,
            self._v,
            self._u,
            self._order,
            self._state,
            problem.lam,
            problem.l1_radius,
            self._eta0,
            target,
        )
