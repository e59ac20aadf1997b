"""sgd-bias: one subgradient step per row on w and an unregularised bias."""

from __future__ import annotations

from svmbench.solvers.stochastic.subgradient_bias import SOURCE, Stochastic


class SgdBias(Stochastic):
    """One row per step, a new permutation every epoch; last iterate."""

    name = "sgd-bias"
    summary = "SGD on w and an unregularised b, steps 1/(μ0 + increment·t), rows permuted per epoch"
    source = f"{SOURCE}, section 1 and experiment 1"
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   w = 0, b = 0 at the start; t = 0, 1, ...; the next row i, sᵢ at the old w
             and b; γ = 1/(μ0 + increment·t):
                 w ← w - γ (λw - [sᵢ ≤ 1] yᵢ xᵢ),  b ← b + γ [sᵢ ≤ 1] yᵢ
             mu_grows per-epoch: the number of the epoch, from 0, in place of t in γ
             form printed: λm w, the source's λw, in place of λw
    rows     a new permutation every epoch
    output   the last w and b
    cost     nnz of the row, nnz more at a margin error
"""

    def step_rows(self, m: int) -> int:
        return 1
