"""svmasgd: Bottou's averaged stochastic gradient descent."""

from __future__ import annotations

import math

from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.decaying import DecayingParameters, FixedOrder


class SvmAsgdParameters(DecayingParameters):
    average_after: float = parameter(
        1.0,
        "Presentations before the first step whose iterate is part of the mean; until then the "
        "output is the last iterate.",
        source="sgd-2.0, svmasgd's -avgstart",
        unit="epochs",
        ge=0.0,
    )


class SvmAsgd(FixedOrder):
    """SGD with steps eta0/(1 + lambda eta0 t)^(3/4); the output is the mean of later iterates.

    The program's recursion, average += mu_t (w - average) with mu_t = 1/(1 + t - t_start), is
    the plain mean of the iterates after the steps t_start, t_start + 1, ....
    """

    name = "svmasgd"
    summary = "SGD with steps η0/(1+λη0t)^(3/4), η0 from a search; mean of iterates after an epoch"
    source = "Bottou, sgd-2.0 (2011), program svmasgd; Xu, arXiv 1107.2490 (2011)"
    schema = SvmAsgdParameters
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ loss(sᵢ); b = 0, or free
    search   η0 = 1 and 2, then by factors of two towards the lower P of the first rows
             after one pass over them with constant steps η0; the lower of the last pair
    update   w = 0, b = 0 at the start; t = 0, 1, ...; the next row i, sᵢ at the old w
             and b; η = η0/(1 + λη0t)^(3/4); ρ = bias_rate:
                 w ← (1 - ηλ) w + g η yᵢ xᵢ,  b ← b + g ρη yᵢ, if free
             g = [sᵢ ≤ 1] for the hinge, 1/(1 + exp(sᵢ)) for the logistic loss
    rows     one order for all epochs
    output   the last w and b during the first average_after epochs, then the mean of the
             iterates since
    cost     nnz of the row, nnz more where g > 0, and again once there is a mean
"""
    quarters = 3

    def start(self, problem: Problem, seed: int) -> None:
        super().start(problem, seed)
        self._begins = math.ceil(self.parameters.average_after * problem.data.n_samples) + 1
