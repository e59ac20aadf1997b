"""pgd: gd with projection onto the l1 ball."""

from __future__ import annotations

from svmbench.kernels.projection import project_l1
from svmbench.solvers.online.gd import Gd


class Pgd(Gd):
    """Full subgradient descent, projected; the last iterate."""

    name = "pgd"
    summary = "Full subgradient steps η0/t, projected onto the ℓ1 ball"
    constraints = ("l1",)
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ) over ‖w‖₁ ≤ z
    update   w = 0 at the start; t = 1, 2, ...; all rows, sᵢ at the old w; Π(v) is the
             point of the ball nearest to v:
                 w ← Π(w - η0/t (λw - 1/m Σ [sᵢ < 1] yᵢ xᵢ))
    output   the last w
    cost     nnz of all rows, nnz more of those with a margin error; the projection is
             negligible
"""

    def _project(self) -> None:
        project_l1(self._w, self._problem.l1_radius)
