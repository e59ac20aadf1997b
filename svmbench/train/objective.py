"""The losses that can be trained, and the constant that users know them by.

Users write 1/2 ||w||^2 + C sum_i loss_i. `Problem` has lam/2 ||w||^2 and a mean, so that lam = 1/(C
m); and it halves the squared hinge, so that there lam = 1/(2 C m).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from svmbench.errors import ConfigError
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Loss
from svmbench.proof import TINY

#: Name of each loss in LIBLINEAR's models, its solvers of the dual problem.
SOLVER_TYPES = {
    "hinge": "L2R_L1LOSS_SVC_DUAL",
    "squared-hinge": "L2R_L2LOSS_SVC_DUAL",
    "logistic": "L2R_LR",
}

#: Each loss at w = 0 and b = 0, as `Problem` has it.
LOSS_AT_ZERO = {"hinge": 1.0, "squared-hinge": 0.5, "logistic": math.log(2.0)}


@dataclass(frozen=True)
class Objective:
    """What is minimised, except for the rows. Raises ConfigError for what is out of range."""

    loss: str = "hinge"
    C: float = 1.0  # weight of the sum of losses beside 1/2 ||w||^2, positive
    bias: str = "none"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("loss", self.loss, TRAINED_LOSSES),
            ("bias", self.bias, TRAINED_BIASES),
        ):
            if value not in known:
                raise ConfigError(f"{what} {value!r}: known are {', '.join(known)}")
        if not 0.0 < self.C < math.inf:
            raise ConfigError(f"C must be positive and finite, not {self.C!r}")

    def regularisation(self, m: int) -> float:
        """Lambda for m rows. Raises ConfigError where it has not all the digits of a double."""
        product = _factor(self.loss) * self.C * m
        lam = 1.0 / product if product > 0.0 else math.inf
        if not TINY <= lam < math.inf:
            raise ConfigError(f"C = {self.C:g} is out of range for {m} rows; choose one nearer 1")
        return lam

    @classmethod
    def of_lambda(cls, loss: str, lam: float, m: int, bias: str) -> Objective:
        """The objective with this lambda on m rows. Raises ConfigError out of range."""
        if not 0.0 < lam < math.inf:
            raise ConfigError(f"lambda must be positive and finite, not {lam!r}")
        product = _factor(loss) * lam * m
        C = 1.0 / product if product > 0.0 else math.inf
        if lam < TINY or not 0.0 < C < math.inf:
            raise ConfigError(f"lambda = {lam!r} is out of range for {m} rows")
        return cls(loss, C, bias)

    def as_loss(self) -> Loss:
        return Loss(self.loss)


def _factor(loss: str) -> float:
    """A loss as users write it over the same as `Problem` has it: 1/(lam C m)."""
    return 2.0 if loss == "squared-hinge" else 1.0
