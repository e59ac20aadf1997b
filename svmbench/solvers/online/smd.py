"""smd: lazy stochastic mirror descent."""

from __future__ import annotations

from svmbench.kernels.online import Smd as SmdKernel
from svmbench.solvers.online.presented import Presented, RootedParameters


class Smd(Presented):
    """Lazy mirror descent with the Euclidean norm; by default the mean of all iterates.

    Without a ball it is sgd-sqrt.
    """

    name = "smd"
    summary = "Lazy mirror descent: sums steps η0/√t and projects the sum onto the ℓ1 ball"
    constraints = ("l1",)
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) over ‖w‖₁ ≤ z
    update   w = θ = 0 at the start; t = 1, 2, ...; sᵢ at the old w; η = η0/√t; Π(θ) is
             the point of the ball nearest to θ:
                 θ ← θ - η (λw - [sᵢ < 1] yᵢ xᵢ),  w ← Π(θ)
    rows     drawn with replacement
    output   the mean of all w, including the first and the last, or the last w
    cost     nnz of the row, nnz more at a margin error, and about 10d
"""
    reconstructed = ("The lazy form: the source names mirror descent without a formula.",)
    unstated = ("η0: the source has 1; the default minimises the bound on the regret.",)
    schema = RootedParameters

    def _make_kernel(self) -> SmdKernel:
        problem = self._problem
        steps = (problem.lam, problem.l1_radius, self._eta0)
        return SmdKernel(problem.data.rows, self._order, *steps)
