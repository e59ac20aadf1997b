"""svmsgd: Bottou's stochastic gradient descent, with a search for the first step."""

from __future__ import annotations

from svmbench.solvers.stochastic.decaying import FixedOrder


class SvmSgd(FixedOrder):
    """SGD with steps eta0/(1 + lambda eta0 t), rows in one fixed order by default; last iterate."""

    name = "svmsgd"
    summary = "SGD with steps η0/(1+λη0t), η0 from a search on the first rows; one fixed order"
    source = "Bottou, sgd-2.0 (2011), program svmsgd"
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ loss(sᵢ); b = 0, or free
    search   η0 = 1 and 2, then by factors of two towards the lower P of the first rows
             after one pass over them with constant steps η0; the lower of the last pair
    update   w = 0, b = 0 at the start; t = 0, 1, ...; the next row i, sᵢ at the old w
             and b; η = η0/(1 + λη0t); ρ = bias_rate:
                 w ← (1 - ηλ) w + g η yᵢ xᵢ,  b ← b + g ρη yᵢ, if free
             g = [sᵢ ≤ 1] for the hinge, 1/(1 + exp(sᵢ)) for the logistic loss
    rows     one order for all epochs
    output   the last w and b
    cost     nnz of the row, nnz more where g > 0
"""
    quarters = 4
