"""Common base of sgd-s and sgd-m: permuted passes in perceptron form, and their certificate."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

import numpy as np

from svmbench.kernels.sgd_primal import Perceptron
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import EitherParameters, parameter
from svmbench.solvers.row_method import RowMethod

#: The form that sgd-r shares with the permuted ones.
PERCEPTRON_FORM = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   a = 0, t = 0, M = 0 at the start; at each presentation of a row i:
                 if yᵢ a·xᵢ ≤ λt:  a ← a + yᵢ xᵢ,  M ← M + 1   (a margin error)
                 t ← t + 1
    output   w = a/(λt), the result of subgradient steps of length 1/(λt)
    cost     nnz of the row for the inner product, nnz more at a margin error
"""


class PassParameters(EitherParameters):
    """Parameters of a method that makes permuted passes."""

    epsilon: float | None = parameter(
        None,
        "Relative gap P/D - 1 at which its own stopping rule holds; none: no such rule.",
        source="arXiv 1304.6383, section 2",
        gt=0.0,
    )
    comparison_coefficient: float = parameter(
        1.2,
        "The exact P is computed once the estimate from the losses during a pass is within this "
        "factor of epsilon.",
        source="ECML-PKDD 2013, section 4",
        gt=0.0,
    )


class PermutedPasses(RowMethod):
    """A new permutation per pass; each row is presented ``multiplicity`` times in succession."""

    schema = PassParameters
    mathematics = (
        PERCEPTRON_FORM
        + """\
    rows     a new permutation every pass
    dual     after whole passes, t = mT, row i had Iᵢ ≤ T margin errors: αᵢ = Iᵢ/T is
             feasible, and D(α) = M/t - ‖a‖²/(2λt²) ≤ P* at the cost of ‖a‖²
    stop     after a pass, if P/D - 1 ≤ ε; P is computed only if the estimate from the
             losses during the pass is within a factor β, comparison_coefficient, of ε
"""
    )
    unstated: ClassVar[tuple[str, ...]] = (
        "How far to raise β for extreme accuracies: the paper raises it until the number of "
        "passes settles; here it keeps the value of the parameter.",
    )

    @abstractmethod
    def multiplicity(self, number: int) -> int:
        """Times each row is presented in succession in pass ``number``, counted from 1."""

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        self._dual = -math.inf
        self._stopped = False
        self._pass = 0
        rows, precision = problem.data.rows, self.parameters.precision
        self._take(Perceptron(rows, self._order, problem.lam, precision), drawn=True)
        self._begin_pass()

    def dual(self) -> float:
        return self._dual

    @property
    def stopped(self) -> bool | None:
        """Whether P/D - 1 <= epsilon held at the end of a pass; None without epsilon."""
        return None if self.parameters.epsilon is None else self._stopped

    def _begin_pass(self) -> None:
        self._pass += 1
        self._kernel.begin_pass(self.multiplicity(self._pass))
        self._rng.shuffle(self._order)

    def _end_pass(self) -> None:
        self._judge()
        self._begin_pass()

    def _judge(self) -> None:
        """Find D, and whether the rule holds."""
        lam, t = self._problem.lam, self._kernel.presentations
        a = self._kernel.a.astype(np.float64, copy=False)
        penalty = float(a @ a) / (2.0 * lam * t * t)
        dual = self._kernel.updates / t - penalty
        self._dual = max(self._dual, dual)
        epsilon = self.parameters.epsilon
        if epsilon is None or self._stopped:
            return
        estimate = penalty + self._kernel.loss_sum / len(self._order)
        if relative_gap(estimate, dual) <= self.parameters.comparison_coefficient * epsilon:
            self._stopped = relative_gap(self._problem.primal(self.w), dual) <= epsilon
