"""sgd-r: one presentation per step, rows drawn at random."""

from __future__ import annotations

from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.sgd_primal import Perceptron
from svmbench.problem import Problem
from svmbench.solvers.base import EitherParameters
from svmbench.solvers.row_method import RowMethod
from svmbench.solvers.stochastic.perceptron import PERCEPTRON_FORM


class SgdR(RowMethod):
    """SGD with step 1/(lambda t) on rows drawn at random, in perceptron form.

    Some rows are presented more often than others, so that the shares of margin errors are not
    feasible duals. It has neither a certificate nor a stopping rule.
    """

    name = "sgd-r"
    summary = "SGD with step 1/(λt) on rows drawn with replacement, in perceptron form"
    source = "Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383), section 2"
    schema = EitherParameters
    mathematics = (
        PERCEPTRON_FORM
        + """\
    rows     drawn uniformly, with replacement
"""
    )
    unstated = (
        "When to stop, other than after a given number of presentations: without feasible duals it "
        "cannot compute the gap.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        rows, precision = problem.data.rows, self.parameters.precision
        self._take(Perceptron(rows, self._order, problem.lam, precision))

    def _next_order(self) -> None:
        draw_rows(self._rng, self._order, len(self._order))
