"""What a ``--help`` states of problems, without NumPy, which no ``--help`` should load."""

from __future__ import annotations

from typing import Literal, get_args

LossName = Literal["hinge", "squared-hinge", "smoothed-hinge", "logistic"]
BiasName = Literal["none", "free"]

#: In the order of LossKind in kernels/loss.pxd.
LOSSES: tuple[LossName, ...] = get_args(LossName)

#: The losses whose conjugate is a parabola.
HINGES = tuple(name for name in LOSSES if name != "logistic")

BIASES: tuple[BiasName, ...] = get_args(BiasName)
CONSTRAINTS = ("none", "l1")

#: What `svmbench.train` can train. none: no bias. regularised: the weight of a constant feature, as
#: LIBLINEAR's -B has it. free: not regularised, as in the textbooks.
TRAINED_LOSSES = ("hinge", "squared-hinge", "logistic")
TRAINED_BIASES = ("none", "regularised", "free")
