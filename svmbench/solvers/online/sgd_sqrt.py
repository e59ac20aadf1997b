"""sgd-sqrt: online gradient descent with steps that decay as 1/sqrt(t)."""

from __future__ import annotations

from typing import Any

from svmbench.kernels.batches import Batches
from svmbench.kernels.decaying import DecayingSgd, Schedule
from svmbench.solvers.base import EitherParameters
from svmbench.solvers.online.presented import Presented, RootedParameters


class SgdSqrtParameters(EitherParameters, RootedParameters):
    """Parameters of sgd-sqrt."""


class SgdSqrt(Presented):
    """Online (projected) gradient descent; by default the mean of all iterates.

    Without a ball a step costs only the nonzeros of its row; in a ball a margin error costs a
    projection.
    """

    name = "sgd-sqrt"
    summary = "SGD with steps η0/√t, projected onto the ℓ1 ball if there is one"
    constraints = ("none", "l1")
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ), or that over ‖w‖₁ ≤ z
    update   w = 0 at the start; t = 1, 2, ...; sᵢ at the old w; η = η0/√t; Π(v) is the
             point of the ball nearest to v, or v where there is no ball:
                 w ← Π(w - η (λw - [sᵢ < 1] yᵢ xᵢ))
    rows     drawn with replacement
    output   the mean of all w, including the first and the last, or the last w
    cost     nnz of the row, nnz more at a margin error and again for a mean; in a ball a
             margin error costs about 10d
"""
    unstated = (
        "η0: the source has 1; the default minimises the bound on the regret.",
        "The value of G in the source's η = G/√t: its program takes 1.",
    )
    schema = SgdSqrtParameters

    def _make_kernel(self) -> Any:
        problem, precision = self._problem, self.parameters.precision
        rows, order, lam, radius = problem.data.rows, self._order, problem.lam, problem.l1_radius
        if problem.constraint == "l1":
            how = {"pull": lam, "rooted": True, "radius": radius, "precision": precision}
            return Batches(rows, order, 1, 1.0 / self._eta0, 0.0, **how)
        schedule = Schedule(self._eta0, 1.0, 2)
        return DecayingSgd(rows, order, lam, schedule, ties=False, precision=precision)
