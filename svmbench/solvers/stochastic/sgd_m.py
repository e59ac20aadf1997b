"""sgd-m: sgd-s with passes that present each row several times in succession."""

from __future__ import annotations

from typing import Literal

from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.perceptron import PassParameters, PermutedPasses


class SgdMParameters(PassParameters):
    """Parameters of sgd-m."""

    schedule: Literal["5/9", "blocks"] = parameter(
        "5/9",
        "Which passes are multiple. 5/9: every ninth, with five presentations per row. blocks: "
        "three quarters of each octave of passes from the fourth on, with two.",
        source="5/9 reconstructed from arXiv 1304.6383, section 3; blocks ours",
    )


class SgdM(PermutedPasses):
    """Permuted SGD; in its multiple passes one inner product gives many updates."""

    name = "sgd-m"
    summary = "sgd-s with multiple-update passes: one inner product serves several presentations"
    source = "Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383), section 3"
    colour = "#D55E00"
    schema = SgdMParameters
    mathematics = (
        PermutedPasses.mathematics
        + """\
    passes   a multiple pass presents each row ℓ times in succession and adds ℓ to T; one
             inner product serves all ℓ, p = yᵢ a·xᵢ - λt, and κ of them are margin errors:
                 κ = clip(floor(((ℓ-1)λ - p)/max(nᵢ, λ)) + 1, 0, ℓ)
                 a ← a + κ yᵢ xᵢ,  M ← M + κ,  t ← t + ℓ
"""
    )
    reconstructed = (
        *PermutedPasses.reconstructed,
        "The schedule 5/9, ℓ = 5 in passes 9, 18 and so on: the closest reading of a text that "
        "could not be recovered in full.",
    )
    unstated = (
        *PermutedPasses.unstated,
        "Which passes should be multiple: large ℓ in late passes restores noise that single passes "
        "average out; the schedule blocks, with ℓ = 2, is ours.",
    )

    def multiplicity(self, number: int) -> int:
        """Presentations per row in pass ``number``; a pass with l of them counts as l epochs."""
        if self.parameters.schedule == "5/9":
            return 5 if number % 9 == 0 else 1
        octave = 1 << (number.bit_length() - 1)
        return 2 if number >= 4 and 4 * number < 7 * octave else 1
