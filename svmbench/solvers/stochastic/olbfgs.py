"""olbfgs: SGD through the inverse Hessian of online limited-memory BFGS."""

from __future__ import annotations

from svmbench.data.dataset import Array
from svmbench.kernels.olbfgs import Olbfgs as OlbfgsKernel
from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.scheduled import OWN_TRIAL, Scheduled, ScheduledParameters


class OlbfgsParameters(ScheduledParameters):
    """Parameters of olbfgs."""

    t0: float | None = parameter(
        None,
        "Steps by which the gain's schedule is ahead, and the curvature added to every pair; "
        "none: the best of 1, 10, ..., 1e10 by the primal after one pass over the first tenth "
        "of the shuffled rows.",
        source="reconstructed: JMLR 10 (2009), section 6, names a package for the schedule",
        unit="steps",
        ge=1.0,
    )
    rank: int = parameter(
        10, "Pairs of differences kept.", source="JMLR 10 (2009), section 6", unit="pairs", ge=1
    )
    gain: float = parameter(
        0.1,
        "Factor of every step. With 1 the late steps are those of SGD, and as long as its theory "
        "has them; 0.1 settles more slowly.",
        source="AISTATS 2007, section 3.2, as in the code released with JMLR 10 (2009)",
        gt=0.0,
    )


class Olbfgs(Scheduled):
    """SGD with H/t steps, H from differences of one row's gradient before and after a step.

    For the squared hinge alone, as in its paper's figures. On the hinge a step however short
    may change the slope by one: such a pair claims any curvature at all, and the later steps,
    being shorter, the more of it. With its default gain it is slow on the smoothed hinge, too.
    """

    name = "olbfgs"
    summary = "SGD with an inverse Hessian of rank 10 by online limited-memory BFGS"
    source = (
        "Schraudolph, Yu and Günter, AISTATS 2007; as a rival in Bordes, Bottou and Gallinari, "
        "JMLR 10 (2009), section 6"
    )
    losses = ("squared-hinge",)
    kernels = ("olbfgs", "sgd_qn", "sampling", "rowwise", "rows", "rng")
    colour = "#A3BF4D"
    schema = OlbfgsParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   t = 0, 1, ...; the next row i, its gradient G(w) = λw + loss'(sᵢ) yᵢ xᵢ:
                 p = -H G(w),  H by the two-loop recursion over the last pairs (σ, ψ), its
                     middle the mean of σ·ψ/ψ·ψ over them, 1e-4 while there are none
                 σ = gain (t0/λ)/(t0+t) p;   w ← w + σ
                 ψ = G(w + σ) - G(w) + t0 σ  of the same row; no pair where σ = 0
    cost     4d a pair and step, some 6d more, and nnz of the row four times
"""
    )
    reconstructed = (
        *Scheduled.reconstructed,
        "The gain schedule: JMLR 10 (2009) replicates that of a package and does not print it.",
        "t0, which the released code derives from λ, is searched for as sgd-qn's is.",
        OWN_TRIAL,
    )
    unstated = (
        *Scheduled.unstated,
        "How much curvature to add to every pair: t0 σ, as in the released code; with little or "
        "none the method diverges.",
    )

    def _make_kernel(self, t0: float, order: Array) -> OlbfgsKernel:
        problem, given = self._problem, self.parameters
        steps = (problem.lam, t0, given.gain, problem.loss, given.rank)
        return OlbfgsKernel(problem.data.rows, order, *steps, given.precision)

    def _make_trial(self, t0: float, order: Array) -> OlbfgsKernel:
        """The method's own kernel."""
        return self._make_kernel(t0, order)
