"""svmperf: the 1-slack cutting-plane method."""

from __future__ import annotations

from typing import Literal

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.cutting_plane.reduced import CuttingPlane, CuttingPlaneParameters

#: epsilon where none is given; a tenth of it follows each time the rule holds.
FIRST_EPSILON = 0.1

#: epsilon may be exceeded by epsilon, and the reduced problem be solved to half of it: then
#: P <= D + 1.5 epsilon, which this makes P <= (1 + accuracy) D.
SHARE_OF_ACCURACY = 2.0 / 3.0

#: Multiples of an accuracy that are run as epsilon. In units of accuracy the last one is sure
#: to reach it, and P is mostly nearer to P* than it proves; in units of P nothing is sure.
LADDER = {
    "accuracy": (4.0, 2.0, 1.0),
    "objective": tuple(2.0**-k for k in range(7)),
}

#: Largest epsilon of a ladder; w = 0 is next to good enough for it.
MOST_EPSILON = 0.9


class SvmperfParameters(CuttingPlaneParameters):
    """Parameters of svmperf."""

    epsilon: float | None = parameter(
        None,
        "Excess of the mean hinge loss over the reduced problem's slack at which it stops; the "
        "reduced problem is solved to half of it. Where none is given it is 0.1, and a sweep "
        "runs a ladder of them. A run that goes on past its stop makes it a tenth.",
        source="SVMperf's epsilon (Machine Learning 77, 2009, algorithm 3)",
        gt=0.0,
        lt=1.0,
    )
    unit: Literal["accuracy", "objective"] = parameter(
        "accuracy",
        "What epsilon is measured in. objective: units of P, as in the paper; then "
        "P <= P* + 1.5 epsilon. accuracy: the relative accuracy it proves, 2/3 of whose multiple "
        "of the reduced problem's value is the paper's; then P <= (1 + epsilon) P*.",
        source="objective is the paper's; accuracy ours: P* is not known beforehand",
    )
    keep: int = parameter(
        50,
        "Solutions of the reduced problem in a row without a part in which a cut is dropped.",
        source="reconstructed",
        unit="iterations",
        ge=1,
    )


class Svmperf(CuttingPlane):
    """The most violated joint constraint joins; the reduced problem's solution is the output."""

    name = "svmperf"
    summary = "1-slack cutting planes, stopped by ε"
    source = "Joachims, KDD 2006; Joachims, Finley and Yu, Machine Learning 77 (2009)"
    horizon = "accuracy"
    horizon_parameter = "epsilon"
    colour = "#4B6E2F"
    schema = SvmperfParameters
    mathematics = (
        CuttingPlane.mathematics
        + """\
    update   from w = 0 on, each iteration: a cut of the rows with sᵢ < 1, the joint
             constraint most violated at w;  w ← the w of the reduced problem
    output   w
    stop     if the mean loss exceeds ξ = max(0, maxⱼ Δⱼ - w·gⱼ) by at most ε: then
             P(w) ≤ P* + 1.5ε
"""
    )
    reconstructed = ("When cuts are dropped: after 50 solutions in a row in which their βⱼ is 0.",)
    unstated = (
        *CuttingPlane.unstated,
        "How precisely the reduced problem is solved: to half of ε.",
        "Which ε serves a relative accuracy: a sweep runs a ladder of them and takes the best.",
        "How to go on past the stop: with a tenth of ε each time.",
    )
    ties = False

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """Values of epsilon, descending, among them the best for each accuracy to a factor of 2."""
        ladder = LADDER[self.parameters.unit]
        values = {min(rung * value, MOST_EPSILON) for value in accuracy for rung in ladder}
        return tuple(sorted(values, reverse=True))

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0, where every row is violated."""
        super().start(problem, seed)
        self._epsilon = self.parameters.epsilon or FIRST_EPSILON

    @property
    def w(self) -> FloatArray:
        """The solution of the last reduced problem."""
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
        reduced.drop(self.parameters.keep)
        self._primal = 0.5 * self._problem.lam * float(w @ w) + loss
        return False  # P may go up and down: the bound alone tells progress
