"""minibatch-bias: subgradient steps on sums over batches, for w and an unregularised bias."""

from __future__ import annotations

from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.subgradient_bias import SOURCE, FormParameters, Stochastic


class MinibatchParameters(FormParameters):
    batch: int = parameter(
        10,
        "Rows per step, M, at most all rows. The last batch of an epoch holds the remaining rows "
        "and their share of the regulariser.",
        source=f"{SOURCE}, experiment 2: 10, 20 or 50 of 200",
        unit="rows",
        ge=1,
    )


class MinibatchBias(Stochastic):
    """The summed losses of M rows per step; a new permutation every epoch; last iterate."""

    name = "minibatch-bias"
    summary = "Mini-batch steps on w and an unregularised b; the losses of a batch are summed"
    source = f"{SOURCE}, section 1 and experiment 2"
    schema = MinibatchParameters
    unstated = (
        *Stochastic.unstated,
        "The remaining rows where M does not divide m: they form the last, smaller batch of the "
        "epoch.",
    )
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   w = 0, b = 0 at the start; t = 0, 1, ...; the next k ≤ M rows A, sᵢ at the
             old w and b; γ = 1/(μ0 + increment·t):
                 w ← w - γ (λk w - Σ_A [sᵢ ≤ 1] yᵢ xᵢ),  b ← b + γ Σ_A [sᵢ ≤ 1] yᵢ
             mu_grows per-epoch: the number of the epoch, from 0, in place of t in γ
             form printed: λm w, the source's λw, in place of λk w
    rows     a new permutation every epoch
    output   the last w and b
    cost     nnz of the rows, nnz more at a margin error
"""

    def step_rows(self, m: int) -> int:
        return min(int(self.parameters.batch), m)
