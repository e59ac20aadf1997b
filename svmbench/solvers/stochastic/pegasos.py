"""pegasos: stochastic subgradient steps 1/(lambda t) on rows drawn with replacement."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.pegasos import ScaledState, advance
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter


class PegasosParameters(Parameters):
    """Parameters of pegasos."""

    project: bool = parameter(
        False,
        "Whether each step ends with the projection on the ball of radius 1/sqrt(lambda).",
        source="optional in Math. Prog. B 127 (2011), figure 1",
    )


class Pegasos(Solver):
    """Primal estimated subgradient solver: last iterate, one row a step."""

    name = "pegasos"
    summary = "Primal subgradient steps 1/(λt) on rows drawn with replacement"
    source = "Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 1"
    kernels = ("pegasos", "rows", "rng")
    colour = "#CC79A7"
    schema = PegasosParameters

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0."""
        self._problem = problem
        self._rng = Generator(seed)
        self._v = np.zeros(problem.data.n_features, dtype=self.parameters.precision)
        self.counters = self._state = ScaledState()

    def advance(self, steps: int) -> None:
        """Take ``steps`` steps of one row each."""
        advance(
            self._problem.data.rows,
            self._v,
            self._rng,
            self._state,
            self._problem.lam,
            self.parameters.project,
            self._state.presentations + steps,
        )

    @property
    def w(self) -> FloatArray:
        """The last iterate."""
        scale: float = self._state.scale
        return self._v.astype(np.float64) * scale
