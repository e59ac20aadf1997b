"""sgd-m: sgd-s with passes that present each row several times in succession."""

from __future__ import annotations

from typing import Literal

from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.stochastic.perceptron import PassParameters, PermutedPasses


class SgdMParameters(PassParameters):
    schedule: Literal["4/9", "blocks"] = parameter(
        "4/9",
        "Which passes are multiple. 4/9: the first four of every nine, with five presentations "
        "per row. blocks: three quarters of each octave of passes from the fourth on, with two.",
        source="4/9 ECML-PKDD 2013, section 4; blocks ours",
    )


class SgdM(PermutedPasses):
    """Permuted SGD; in its multiple passes one inner product gives many updates."""

    name = "sgd-m"
    summary = "sgd-s with multiple-update passes: one inner product serves several presentations"
    source = "Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383), section 3"
    schema = SgdMParameters
    mathematics = (
        PermutedPasses.mathematics
        + """\
    passes   a multiple pass presents each row ℓ times in succession and adds ℓ to T; one
             inner product serves all ℓ, p = yᵢ a·xᵢ - λt, and κ of them are margin errors:
                 κ = clip(floor(((ℓ-1)λ - p)/max(nᵢ, λ)) + 1, 0, ℓ)
                 a ← a + κ yᵢ xᵢ,  M ← M + κ,  t ← t + ℓ
    schedule 4/9: ℓ = 5 in pass k, counted from 1, if 0 < k mod 9 < 5; else ℓ = 1
"""
    )
    reconstructed = (
        "Passes are counted from 1, so that the first pass is a multiple one: the published "
        "numbers of passes at small C agree with that and not with a count from 0.",
    )

    def __init__(self, parameters: Parameters | None = None) -> None:
        super().__init__(parameters)
        self.cycle = 9 if self.parameters.schedule == "4/9" else 1

    def multiplicity(self, number: int) -> int:
        """Presentations per row in pass ``number``; a pass with l of them counts as l epochs."""
        if self.parameters.schedule == "4/9":
            return 5 if 0 < number % 9 < 5 else 1
        octave = 1 << (number.bit_length() - 1)
        return 2 if number >= 4 and 4 * number < 7 * octave else 1

    def visits(self) -> int:
        """Rows visited: a multiple pass visits each row once."""
        return (self._pass - 1) * len(self._order) + int(self._kernel.position)

    def steps_to(self, visits: int) -> int:
        """Presentations until so many rows are visited, or to the end of the pass."""
        rows_left = len(self._order) - int(self._kernel.position)
        return min(visits - self.visits(), rows_left) * self.multiplicity(self._pass)
