"""sgd-r: one presentation a row, rows drawn at random."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.sgd_primal import PassState, advance_pass
from svmbench.problem import Problem
from svmbench.solvers.base import Solver
from svmbench.solvers.stochastic.perceptron import PERCEPTRON_FORM


class SgdR(Solver):
    """SGD with step 1/(lambda t) on rows drawn at random, in perceptron form.

    Some rows are presented more often than others, so that the shares of margin errors are
    no feasible duals: it has neither a certificate nor a rule to stop by.
    """

    name = "sgd-r"
    summary = "SGD with step 1/(λt) on rows drawn with replacement, in perceptron form"
    source = "Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383), section 2"
    kernels = ("sgd_primal", "sampling", "rows", "rng")
    colour = "#56B4E9"
    mathematics = (
        PERCEPTRON_FORM
        + """\
    rows     drawn uniformly, with replacement
"""
    )
    unstated = (
        "When to stop, other than after a given number of presentations: with no feasible duals "
        "nothing it keeps tells the gap.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Start from a = 0, t = 0."""
        data = problem.data
        self._problem = problem
        self._rng = Generator(seed)
        self._a = np.zeros(data.n_features, dtype=self.parameters.precision)
        self._order = np.empty(data.n_samples, dtype=np.int32)
        self._norms2 = np.empty(0)
        self.counters = self._state = PassState()
        self._state.position = data.n_samples  # the first rows are yet to be drawn

    def advance(self, steps: int) -> None:
        """Make ``steps`` presentations."""
        rows, state = self._problem.data.rows, self._state
        target = state.presentations + steps
        while state.presentations < target:
            if state.position == len(self._order):
                draw_rows(self._rng, self._order, len(self._order))
                state.position = 0
            advance_pass(rows, self._a, self._order, self._norms2, state, self._problem.lam, target)

    @property
    def w(self) -> FloatArray:
        """The weights a / (lam t); zero before the first presentation."""
        t: int = max(self._state.presentations, 1)
        return self._a.astype(np.float64) / (self._problem.lam * t)
