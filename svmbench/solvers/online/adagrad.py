"""adagrad: steps and projections scaled by the squares of all subgradients so far."""

from __future__ import annotations

import math
from typing import Any

from pydantic import model_validator

from svmbench.kernels.online import Adagrad as AdagradKernel
from svmbench.solvers.base import parameter
from svmbench.solvers.online.presented import Presented, PresentedParameters


class AdagradParameters(PresentedParameters):
    eta: float | None = parameter(
        None,
        "Step; none: 1/(lambda sqrt(T)) for a run of T steps, or 1/(lambda sqrt(t)) in a single "
        "run without 'epochs'.",
        source="Chor (2020), section 3.2",
        gt=0.0,
    )
    epochs: float | None = parameter(
        None,
        "Length T of the run for which the step is set. If it is not given, a sweep runs a series "
        "of lengths.",
        source="ours",
        unit="epochs",
        gt=0.0,
    )

    @model_validator(mode="after")
    def _epochs_have_a_use(self) -> AdagradParameters:
        if self.eta is not None and self.epochs is not None:
            raise ValueError("'epochs' is for a step that depends on them; leave out eta or epochs")
        return self


class Adagrad(Presented):
    """Adaptive subgradients, diagonal; by default the mean of all iterates."""

    name = "adagrad"
    summary = "Adaptive subgradient steps in the ℓ1 ball, with one step length per feature"
    constraints = ("l1",)
    horizon_parameter = "epochs"
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) over ‖w‖₁ ≤ z
    update   S = 1/(4d), w = 0 at the start; t = 1, ..., T; sᵢ at the old w:
                 g = λw - [sᵢ < 1] yᵢ xᵢ,  S ← S + g²,  h = √S,  v = w - ηg/h, η = 1/(λ√T)
                 w ← the point of the ball at which Σ hⱼ (wⱼ - vⱼ)² is least
    rows     drawn with replacement
    output   the mean of all w, including the first and the last, or the last w
    cost     nnz of the row, nnz more at a margin error, and about 10d
"""
    reconstructed = (
        "The source names AdaGrad without a formula; S = 1/(4d) and η are its program's.",
    )
    unstated = ("η of a run of unknown length: here 1/(λ√t), with t instead of T.",)
    schema = AdagradParameters

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        if self.parameters.eta is None:
            self.horizon = "steps"

    def _first_step(self) -> float:
        given, epochs = self.parameters.eta, self.parameters.epochs
        steps = 1 if epochs is None else math.ceil(epochs * self._problem.data.n_samples)
        return given or 1.0 / (self._problem.lam * math.sqrt(steps))

    def _make_kernel(self) -> AdagradKernel:
        problem = self._problem
        rooted = self.parameters.eta is None and self.parameters.epochs is None
        steps = (problem.lam, problem.l1_radius, self._eta0, rooted)
        return AdagradKernel(problem.data.rows, self._order, *steps)
