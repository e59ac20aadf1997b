"""svmsgd: Bottou's stochastic gradient descent, with a searched first step."""

from __future__ import annotations

from svmbench.solvers.stochastic.decaying import FixedOrder


class SvmSgd(FixedOrder):
    """SGD with steps eta0/(1 + lambda eta0 t), rows in one fixed order; last iterate."""

    name = "svmsgd"
    summary = "SGD with steps η0/(1+λη0t), η0 searched for on the first rows; one fixed order"
    source = "Bottou, sgd-2.0 (2011), program svmsgd, without its bias"
    colour = "#88CCEE"
    quarters = 4
