"""What a ``--help`` states of problems, without NumPy, which no ``--help`` should load."""

from __future__ import annotations

#: The losses whose conjugate is a parabola.
HINGES = ("hinge", "squared-hinge", "smoothed-hinge")
LOSSES = (*HINGES, "logistic")
BIASES = ("none", "free")
CONSTRAINTS = ("none", "l1")

#: What `svmbench.train` can train. none: no bias. regularised: the weight of a constant feature, as
#: LIBLINEAR's -B has it. free: not regularised, as in the textbooks.
TRAINED_LOSSES = ("hinge", "squared-hinge", "logistic")
TRAINED_BIASES = ("none", "regularised", "free")

#: Most shards of a problem.
MOST_SHARDS = 1024
