"""seg-pm: stochastic exponentiated gradient with two positive weights per feature."""

from __future__ import annotations

import math

from svmbench.kernels.online import SegPm as SegPmKernel
from svmbench.solvers.base import parameter
from svmbench.solvers.online.presented import Presented, PresentedParameters


class SegPmParameters(PresentedParameters):
    eta0: float | None = parameter(
        None,
        "First step of the logarithms; none: 2 sqrt(log 2d).",
        source="Chor (2020), section 3.2",
        gt=0.0,
    )


class SegPm(Presented):
    """EG with positive and negative weights; by default the mean of all iterates."""

    name = "seg-pm"
    summary = "Exponentiated gradient EG± with steps η0/√t in the ℓ1 ball"
    constraints = ("l1",)
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) over ‖w‖₁ ≤ z
    update   u = v = 1, w = 0 at the start; t = 1, 2, ...; sᵢ at the old w; η = η0/√t:
                 g = λw - [sᵢ < 1] yᵢ xᵢ,  uⱼ ← uⱼ exp(-ηgⱼ),  vⱼ ← vⱼ exp(ηgⱼ)
                 w ← z (u - v)/Σ (uⱼ + vⱼ)
             logarithms are stored and their maximum subtracted, so that nothing overflows
    rows     drawn with replacement
    output   the mean of all w, including the first and the last, or the last w
    cost     nnz of the row, nnz more at a margin error, and d, each with an exponential
"""
    reconstructed = (
        "The source names EG± without a formula; η0 = 2 sqrt(log 2d) is its program's.",
    )
    unstated = ("Whether the step depends on the data: it does not.",)
    schema = SegPmParameters

    def _first_step(self) -> float:
        d = max(self._problem.data.n_features, 1)
        return self.parameters.eta0 or 2.0 * math.sqrt(math.log(2 * d))

    def _make_kernel(self) -> SegPmKernel:
        problem = self._problem
        steps = (problem.lam, problem.l1_radius, self._eta0)
        return SegPmKernel(problem.data.rows, self._order, *steps)
