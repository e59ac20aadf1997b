"""newton: the Newton steps by which `svmbench.train` minimises smooth losses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.names import BIASES
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.cholesky import load
from svmbench.solvers.iterating import Iterating
from svmbench.solvers.pairs import PrimalAndDual, WorkCount
from svmbench.solvers.second_order.smooth import LOSSES, newton


class NewtonParameters(Parameters):
    tolerance: float = parameter(
        1e-3,
        "Relative gap (P - D)/D at which its own stopping rule holds.",
        source="ours, as auto",
        gt=0.0,
    )


class Newton(Iterating):
    """Newton steps on samples of the rows, then on all, by conjugate gradients or a factor."""

    name = "newton"
    summary = "Newton steps, on samples of the rows first; what train uses on smooth losses"
    source = "Dembo and Steihaug, Mathematical Programming 26 (1983); the rest ours"
    losses = LOSSES
    biases = BIASES
    weighted = True
    schema = NewtonParameters
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/m Σ loss(sᵢ); b = 0, or free
    update   w = 0, b = 0 at the start; or, if there are many rows for each feature, those
             of a sample, found by the same steps; αᵢ = -loss'(sᵢ), hᵢ = loss''(sᵢ);
             z = (x, 1) where b is free, else x; E = I, but 0 for b:
                 solve (λE + 1/m Σ hᵢ zᵢ zᵢᵀ) v = -gradient by conjugate gradients to a
                 fifth of the gradient; once they have done as much work as a Cholesky
                 factor takes, by a factor, which preconditions those of later steps; where
                 a factor is expensive, λE and a hundredth of the rest's diagonal do before
                 (w, b) ← (w, b) + kv, k the first of 1, 1/2, 1/4, ... for which P falls
    stop     (P - D)/D ≤ tolerance
    output   w and b, certified by D(α); with a free b, α of the class of the larger sum
             is scaled down until Σ αᵢ yᵢ = 0
    cost     2 nnz, and 2 nnz of the rows with hᵢ > 0 per product with the matrix; or
             nnz²/2 per such row, and d³/3
"""
    unstated = (
        "When conjugate gradients end: at a residual of at most a fifth of the gradient.",
        "When a factor replaces them: after as much work as the factor takes.",
        "The samples: drawn without replacement, the same ones for every seed.",
    )

    def load(self) -> None:
        load()

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        self._problem, self._work = problem, WorkCount()
        self._pairs = newton(problem, count=self._work)
        self._last: PrimalAndDual = np.zeros(data.n_features), 0.0, np.zeros(data.n_samples)
        self._stopped = self._exhausted = False
        self.counters = type(self.counters)()

    @property
    def w(self) -> FloatArray:
        return self._last[0].copy()

    @property
    def bias(self) -> float:
        return self._last[1]

    @property
    def alpha(self) -> FloatArray:
        """Feasible dual variables, shape (m,): minus the slopes of the losses at the iterate."""
        return self._last[2].copy()

    def dual(self) -> float:
        return self._problem.dual(self._last[2])

    def _iterate(self) -> None:
        """Take one step; the first takes those on samples instead, if there are any."""
        work, counters = self._work, self.counters
        if self._exhausted:
            counters.presentations += self._problem.data.n_samples
            return
        before = replace(work)
        while work.steps == before.steps and not self._exhausted:  # w = 0 comes without a step
            pair = next(self._pairs, None)
            self._exhausted = pair is None
            self._last = pair or self._last
        counters.presentations += work.rows - before.rows
        counters.updates += work.steps - before.steps
        counters.nonzeros += work.nonzeros - before.nonzeros
        self._stopped = self._stopped or self._within()

    def _within(self) -> bool:
        """Whether the gap is within the tolerance; where it seems to be, `Problem` computes it."""
        problem, (w, bias, alpha) = self._problem, self._last
        if self._work.gap > self.parameters.tolerance:
            return False
        self.counters.presentations += 2 * problem.data.n_samples
        self.counters.nonzeros += 2 * problem.data.nnz
        gap = relative_gap(problem.primal(w, bias), problem.dual(alpha))
        return bool(gap <= self.parameters.tolerance)
