"""gd and, in the l1 ball, pgd: full subgradient steps that decay as 1/t."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.online.presented import SOURCE


class GdParameters(Parameters):
    eta0: float | None = parameter(
        None,
        "First step; none: 1/lambda, with which 1/t steps converge for every lambda.",
        source="Zinkevich's and Hazan's analysis; Chor (2020) has eta0 = 1 at lambda = 1/3, with "
        "which the influence of the start decays only as t^-lambda",
        gt=0.0,
    )


class Gd(Solver):
    """Full subgradient descent; the last iterate."""

    name = "gd"
    summary = "Full subgradient steps η0/t"
    source = SOURCE
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    update   w = 0 at the start; t = 1, 2, ...; all rows, sᵢ at the old w:
                 w ← w - η0/t (λw - 1/m Σ [sᵢ < 1] yᵢ xᵢ)
    output   the last w
    cost     nnz of all rows, nnz more of those with a margin error
"""
    unstated = (
        "η0: the source has 1 at λ = 1/3, and 1/√t for all but pegasos; the default is 1/λ.",
    )
    step = "iteration"
    schema: ClassVar[type[Parameters]] = GdParameters

    def start(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self._eta0: float = self.parameters.eta0 or 1.0 / problem.lam
        self._w = np.zeros(problem.data.n_features)
        self._lengths = problem.data.rows.lengths()
        self._t = 0
        self.counters = Counters()

    def advance(self, steps: int) -> None:
        problem, counters = self._problem, self.counters
        for _ in range(steps):
            self._t += 1
            data, wrong = problem.data, problem.margins(self._w) < 1.0
            pull = combination(data.rows, wrong.astype(np.float64)) / data.n_samples
            self._w -= self._eta0 / self._t * (problem.lam * self._w - pull)
            self._project()
            counters.presentations += data.n_samples
            counters.updates += int(np.count_nonzero(wrong))
            counters.nonzeros += data.nnz + int(self._lengths[wrong].sum())

    def step_rows(self, m: int) -> int:
        return m

    @property
    def w(self) -> FloatArray:
        return self._w.copy()

    def _project(self) -> None:
        return
