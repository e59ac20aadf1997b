"""gd-bias: full subgradient steps on w and an unregularised bias."""

from __future__ import annotations

from svmbench.solvers.stochastic.subgradient_bias import (
    SOURCE,
    SubgradientParameters,
    SubgradientWithBias,
)


class GdBias(SubgradientWithBias):
    """All rows per step, in stored order; last iterate."""

    name = "gd-bias"
    summary = "Full subgradient steps on w and an unregularised b, steps 1/(μ0 + increment·t)"
    source = f"{SOURCE}, experiment 3"
    step = "iteration"
    schema = SubgradientParameters
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   w = 0, b = 0 at the start; t = 0, 1, ...; all rows, sᵢ at the old w and b;
             γ = 1/(μ0 + increment·t):
                 w ← w - γ (λm w - Σ [sᵢ ≤ 1] yᵢ xᵢ),  b ← b + γ Σ [sᵢ ≤ 1] yᵢ
    output   the last w and b
    cost     nnz of all rows, nnz more of those with a margin error
"""

    _shuffles = False

    def advance(self, steps: int) -> None:
        self._run(self._kernel.presentations + steps * len(self._order))

    def step_rows(self, m: int) -> int:
        return m
