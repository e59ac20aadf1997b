"""Common base of the online methods: one random row per step, and the mean of all iterates."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal

from svmbench.data.dataset import FloatArray
from svmbench.kernels.sampling import draw_rows
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.row_method import RowMethod

SOURCE = "Chor, On Pegasos and first order optimizers for online convex optimization (2020)"


def rooted_step(problem: Problem) -> float:
    """The eta0 that minimises the bound D^2 sqrt(T)/(2 eta0) + eta0 G^2 sqrt(T) on the regret.

    D is the largest distance from w = 0, z or 1/sqrt(lam); G the largest norm of a subgradient, lam
    z + R or R, R that of a row. Without a ball eta0 is at most 1/(2 lam).
    """
    lam, longest = problem.lam, math.sqrt(float(problem.data.rows.norms2().max()))
    if problem.constraint == "l1":
        farthest = problem.l1_radius
        return farthest / (math.sqrt(2.0) * (lam * farthest + longest))
    return 1.0 / max(longest * math.sqrt(2.0 * lam), 2.0 * lam)


class PresentedParameters(Parameters):
    output: Literal["average", "last"] = parameter(
        "average",
        "The mean of all iterates, including the initial point and the last one; or the last.",
        source="Chor (2020), algorithm 1",
    )


class RootedParameters(PresentedParameters):
    """Parameters of the online methods with steps eta0/sqrt(t)."""

    eta0: float | None = parameter(
        None,
        "First step; none: the one that minimises the bound on the regret. In a ball of radius z "
        "it is z/(sqrt 2 (lambda z + R)), R the largest norm of a row; without one, 1/max(R "
        "sqrt(2 lambda), 2 lambda).",
        source="Zinkevich, ICML 2003; Chor (2020) has 1, whatever the rows",
        gt=0.0,
    )


class Presented(RowMethod):
    """One row per step, drawn with replacement; the kernel sums the iterates."""

    source = SOURCE
    schema: ClassVar[type[Parameters]] = PresentedParameters

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        self._eta0 = self._first_step()
        self._take(self._make_kernel())
        if self.parameters.output == "average":
            self._kernel.begin_sum()

    def _next_order(self) -> None:
        draw_rows(self._rng, self._order, len(self._order))

    @property
    def w(self) -> FloatArray:
        if self.parameters.output == "last":
            return self.iterate
        kernel = self._kernel
        mean: FloatArray = (kernel.total + kernel.iterate) / (kernel.steps + 1)
        return mean

    def regret_bound(self, steps: int) -> float | None:
        """A proved bound on the regret after ``steps`` steps, or None."""
        return None

    def _first_step(self) -> float:
        return self.parameters.eta0 or rooted_step(self._problem)

    @abstractmethod
    def _make_kernel(self) -> Any:
        """The method's kernel at w = 0."""
