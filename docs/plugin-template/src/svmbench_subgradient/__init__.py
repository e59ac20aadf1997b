"""Full subgradient descent on the primal, as a plug-in for svmbench."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter


class SubgradientParameters(Parameters):
    """Parameters of subgradient."""

    eta0: float = parameter(1.0, "First step length, times lambda.", source="ours", gt=0.0)


class Subgradient(Solver):
    """Full subgradient steps eta0/(lambda k)."""

    name = "subgradient"
    summary = "Full subgradient descent, steps η0/(λk)"
    source = "Shor, Minimization Methods for Non-Differentiable Functions, 1985"
    step = "iteration"
    schema = SubgradientParameters

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0."""
        self._problem = problem
        self.counters = Counters()
        self._w = np.zeros(problem.data.n_features)
        self._step = 0

    def advance(self, steps: int) -> None:
        """Take ``steps`` steps over all rows."""
        data, lam = self._problem.data, self._problem.lam
        for _ in range(steps):
            self._step += 1
            alpha = (data.labels * data.rows.dot(self._w) < 1.0).astype(np.float64)
            eta = self.parameters.eta0 / (lam * self._step)
            self._w += eta * lam * (self._problem.weights(alpha) - self._w)
            self.counters.presentations += data.n_samples
            self.counters.updates += int(alpha.sum())
            self.counters.nonzeros += 2 * data.nnz

    @property
    def w(self) -> FloatArray:
        """The last iterate."""
        return self._w.copy()
