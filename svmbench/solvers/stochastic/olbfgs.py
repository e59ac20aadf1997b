"""olbfgs: SGD with the inverse Hessian of online limited-memory BFGS."""

from __future__ import annotations

from svmbench.data.dataset import Array
from svmbench.kernels.olbfgs import Olbfgs as OlbfgsKernel
from svmbench.solvers.base import parameter
from svmbench.solvers.stochastic.scheduled import OWN_TRIAL, Scheduled, ScheduledParameters


class OlbfgsParameters(ScheduledParameters):
    t0: float | None = parameter(
        None,
        "Offset in steps of the gain's schedule, and the curvature added to every pair; none: the "
        "one of 1, 10, ..., 1e10 with the lowest primal after one pass over the first tenth of "
        "the shuffled rows.",
        source="reconstructed: JMLR 10 (2009), section 6, names a package for the schedule",
        unit="steps",
        ge=1.0,
    )
    rank: int = parameter(
        10, "Stored pairs of differences.", source="JMLR 10 (2009), section 6", unit="pairs", ge=1
    )
    gain: float = parameter(
        0.1,
        "Factor of every step. With 1 the late steps are those of SGD, with the lengths of its "
        "theory; 0.1 converges more slowly.",
        source="AISTATS 2007, section 3.2, as in the code released with JMLR 10 (2009)",
        gt=0.0,
    )


class Olbfgs(Scheduled):
    """SGD with H/t steps, H from differences of one row's gradient before and after a step.

    It supports only the squared hinge, as in its paper's figures. On the hinge even a short step
    may change the slope by one. Such a pair suggests an arbitrary curvature, which is larger the
    shorter the step. With its default gain it is also slow on the smoothed hinge.
    """

    name = "olbfgs"
    summary = "SGD with an inverse Hessian of rank 10 by online limited-memory BFGS"
    source = (
        "Schraudolph, Yu and Günter, AISTATS 2007; a baseline in Bordes, Bottou and Gallinari, "
        "JMLR 10 (2009), section 6"
    )
    losses = ("squared-hinge",)
    schema = OlbfgsParameters
    mathematics = (
        Scheduled.mathematics
        + """\
    update   t = 0, 1, ...; the next row i, its gradient G(w) = λw + loss'(sᵢ) yᵢ xᵢ:
                 p = -H G(w),  H by the two-loop recursion over the last pairs (σ, ψ); its
                     initial scale is their mean of σ·ψ/ψ·ψ, or 1e-4 without pairs
                 σ = gain (t0/λ)/(t0+t) p;   w ← w + σ
                 ψ = G(w + σ) - G(w) + t0 σ  of the same row; no pair where σ = 0
    cost     4d per pair and step, about 6d more, and nnz of the row four times
"""
    )
    reconstructed = (
        *Scheduled.reconstructed,
        "The gain schedule: JMLR 10 (2009) uses that of a package and does not print it.",
        "t0: the released code derives it from λ; here a search finds it, as for sgd-qn.",
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
