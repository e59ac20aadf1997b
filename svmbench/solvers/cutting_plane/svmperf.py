"""svmperf: the 1-slack cutting-plane method."""

from __future__ import annotations

from typing import Literal

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.cutting_plane.reduced import CuttingPlane

#: epsilon if none is given; it is divided by ten each time the rule holds.
FIRST_EPSILON = 0.1

#: The loss may exceed the slack by epsilon, and the reduced problem is solved to half of epsilon:
#: P <= D + 1.5 epsilon. With this factor, P <= (1 + accuracy) D.
SHARE_OF_ACCURACY = 2.0 / 3.0

#: Consecutive solutions of the reduced problem that leave a cut unused before it is dropped.
IDLE = 50


class SvmperfParameters(Parameters):
    epsilon: float | None = parameter(
        None,
        "Excess of the mean hinge loss over the reduced problem's slack at which it stops; the "
        "reduced problem is solved to half of it. If epsilon is not given, it is 0.1. A run that "
        "continues divides it by ten each time.",
        source="SVMperf's epsilon (Machine Learning 77, 2009, algorithm 3)",
        gt=0.0,
        lt=1.0,
    )
    unit: Literal["accuracy", "objective"] = parameter(
        "accuracy",
        "Unit of epsilon. objective: units of P, as in the paper; then P <= P* + 1.5 epsilon. "
        "accuracy: the relative accuracy that it proves; then P <= (1 + epsilon) P*. The paper's "
        "epsilon is 2/3 of this one times the reduced problem's value.",
        source="objective is the paper's; accuracy ours: P* is not known beforehand",
    )


class Svmperf(CuttingPlane):
    """Adds the most violated joint constraint; the reduced problem's solution is the output."""

    name = "svmperf"
    summary = "1-slack cutting planes, stopped by ε"
    source = "Joachims, KDD 2006; Joachims, Finley and Yu, Machine Learning 77 (2009)"
    schema = SvmperfParameters
    mathematics = (
        CuttingPlane.mathematics
        + """\
    update   from w = 0, each iteration: a cut of the rows with sᵢ < 1, the joint
             constraint most violated at w;  w ← the w of the reduced problem
    output   w
    stop     if the mean loss exceeds ξ = max(0, maxⱼ Δⱼ - w·gⱼ) by at most ε: then
             P(w) ≤ P* + 1.5ε
"""
    )
    reconstructed = ("When cuts are dropped: after 50 consecutive solutions with their βⱼ = 0.",)
    unstated = (
        *CuttingPlane.unstated,
        "The precision of the reduced problem's solution: half of ε.",
        "How to continue after the stop: with a tenth of ε each time.",
    )
    ties = False

    def start(self, problem: Problem, seed: int) -> None:
        super().start(problem, seed)
        self._epsilon = self.parameters.epsilon or FIRST_EPSILON

    @property
    def w(self) -> FloatArray:
        return self._reduced.w.copy()

    def _paper_epsilon(self) -> float:
        if self.parameters.unit == "objective":
            return float(self._epsilon)
        return float(self._epsilon * SHARE_OF_ACCURACY * self._dual)

    def _tolerance_of_solution(self) -> float:
        return 0.5 * self._paper_epsilon()

    def _judge(self, loss: float) -> bool:
        reduced, w = self._reduced, self.w
        if loss - reduced.slack <= self._paper_epsilon():
            self._stopped = True
            self._epsilon *= 0.1
        reduced.drop(IDLE)
        self._primal = 0.5 * self._problem.lam * float(w @ w) + loss
        return False  # P may rise and fall: only the bound measures progress
