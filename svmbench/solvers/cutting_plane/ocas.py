"""ocas: cutting planes with an exact line search and a best point."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.cutting_plane import line_search
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.cutting_plane.reduced import CuttingPlane

#: Longest step, in multiples of the distance to the reduced problem's point. Without it, the line
#: search would have no limit between points that differ only by rounding.
LONGEST_STEP = 1000.0

#: Share of the way from the best point to the reduced problem's at which a cut is taken.
BEYOND = 0.1


class OcasParameters(Parameters):
    tolerance: float = parameter(
        0.01,
        "Gap between P at the best point and the reduced problem's dual value, as a share of "
        "that P, at which its own stopping rule holds; the reduced problem is solved to half of "
        "it. A run that continues divides the tolerance by ten each time.",
        source="JMLR 10 (2009); the default is libocas's relative tolerance",
        gt=0.0,
        lt=1.0,
    )


class Ocas(CuttingPlane):
    """The reduced problem's solution gives a direction; the best point along it is kept."""

    name = "ocas"
    summary = "Optimised cutting planes: exact line search from the best point"
    source = "Franc and Sonnenburg, JMLR 10 (2009), algorithm 3"
    schema = OcasParameters
    mathematics = (
        CuttingPlane.mathematics
        + """\
    update   from the best point w_b = 0 and a cut of all rows, each iteration:
                 v ← the w of the reduced problem;  k ≥ 0 minimises P(w_b + k(v - w_b))
                 exactly;  w_b ← w_b + k(v - w_b)
                 a cut of the rows with sᵢ ≤ 1 at w_b + μ(v - w_b), μ = 0.1
    output   w_b
    stop     if P(w_b) - D(β) ≤ tolerance · P(w_b)
"""
    )
    unstated = (
        *CuttingPlane.unstated,
        "μ: the bounds hold for any μ in (0, 1]; 0.1 rests on its authors' experience only.",
        "The precision of the reduced problem's solution: half of the tolerance.",
        "How to continue after the stop: with a tenth of the tolerance each time.",
    )
    ties = True

    def start(self, problem: Problem, seed: int) -> None:
        super().start(problem, seed)
        m = problem.data.n_samples
        self._best: FloatArray = np.zeros(problem.data.n_features)
        self._margins = np.zeros(m)
        self._room = np.empty(m), np.empty(m)
        self._tolerance = self.parameters.tolerance

    @property
    def w(self) -> FloatArray:
        return self._best.copy()

    def _tolerance_of_solution(self) -> float:
        return float(0.5 * self._tolerance * self._primal)

    def _judge(self, loss: float) -> bool:
        lam = self._problem.lam
        step = self._reduced.w - self._best
        slope, curvature = lam * float(self._best @ step), lam * float(step @ step)
        search: float = line_search(self._margins, self._at, slope, curvature, *self._room)
        k = min(search, LONGEST_STEP)
        self._best += k * step
        self._margins += k * (self._at - self._margins)
        self._at = self._margins + BEYOND * (self._at - self._margins)
        loss = float(np.maximum(0.0, 1.0 - self._margins).mean())
        self._primal = 0.5 * lam * float(self._best @ self._best) + loss
        if self._primal - self._dual <= self._tolerance * self._primal:
            self._stopped = True
            self._tolerance *= 0.1
        return k > 0.0
