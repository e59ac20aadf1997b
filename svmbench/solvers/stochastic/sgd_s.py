"""sgd-s: one presentation per row, a new permutation every epoch."""

from __future__ import annotations

from svmbench.solvers.stochastic.perceptron import PermutedPasses


class SgdS(PermutedPasses):
    """SGD with step 1/(lambda t) over permuted epochs, in perceptron form."""

    name = "sgd-s"
    summary = "SGD with step 1/(λt), a new permutation per epoch, certified by its own duals"
    source = "Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383), section 2"

    def multiplicity(self, number: int) -> int:
        """Every pass is single."""
        return 1
