"""Common base of svmsgd2, sgd-qn and related methods: passes over shuffled rows, t0 and skip.

The counters begin with the first step after the search for t0, which is inside the clock.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.sgd_qn import SgdQn, mean_loss
from svmbench.names import LOSSES
from svmbench.problem import Problem
from svmbench.solvers.base import EitherParameters, parameter
from svmbench.solvers.row_method import RowMethod

_CANDIDATES = tuple(10.0**k for k in range(11))

#: Details that the sources of methods with a skip leave open.
SKIP_UNSTATED = (
    "The default of skip: the paper has 16 over the share of nonzeros, the code released with "
    "it has 8; here it is the paper's.",
    "What to do if a shrinking for skip steps at once is too strong: (1 - c)^skip replaces a "
    "factor 1 - skip c below 0.8, as in the released code. As printed the factor stays positive; "
    "the erratum's, 1 - skip/t0, is negative for t0 < skip.",
)

#: How the search for t0 of sgd-qn-corrected and olbfgs differs from the paper's.
OWN_TRIAL = (
    "The trial passes of the search for t0 are passes of the method itself; the paper describes "
    "them for sgd-qn."
)


class ScheduledParameters(EitherParameters):
    """Parameters of a method with steps 1/(lambda (t + t0)) over shuffled rows."""

    t0: float | None = parameter(
        None,
        "Offset in steps of the schedule of step lengths; none: that of t0_rule.",
        source="JMLR 10 (2009), table 4",
        unit="steps",
        ge=1.0,
    )
    t0_rule: Literal["search", "released"] = parameter(
        "search",
        "Where t0 comes from if it is not given. search: the one of 1, 10, ..., 1e10 with the "
        "lowest primal after one pass over the first tenth of the shuffled rows. released: "
        "1/(λ η0) with η0 = u/max(1, -loss'(-u)), u = λ^(-1/4), and at least 1.",
        source="search: JMLR 10 (2009), section 6, its candidates reconstructed; released: the "
        "authors' program as kept in Shogun, SGDQN.cpp; the limit of 1 ours",
    )
    sampling: Literal["fixed", "permuted"] = parameter(
        "fixed",
        "fixed: shuffle the rows once. permuted: shuffle them before every pass.",
        source="JMLR 10 (2009), section 2.1: sequential passes over the shuffled set",
    )


class SkipParameters(ScheduledParameters):
    """Parameters of a method that shrinks the weights in some steps only."""

    skip: int | None = parameter(
        None,
        "Steps from one shrinking of the weights to the next; none: 16 over the share of "
        "nonzeros, so that shrinking costs a sixteenth of the rows' own steps.",
        source="JMLR 10 (2009), section 3 and table 4",
        unit="steps",
        ge=1,
    )


def released_t0(problem: Problem) -> float:
    """The t0 that the authors' released program computes from λ and the loss."""
    typical = 1.0 / math.sqrt(math.sqrt(problem.lam))
    # The slope of every other loss is at most 1.
    steepest = 1.0 + typical if problem.loss.name == "squared-hinge" else 1.0
    return max(1.0, steepest / (problem.lam * typical))


class Scheduled(RowMethod):
    """Passes over shuffled rows, with t0 from a search."""

    losses: ClassVar[tuple[str, ...]] = LOSSES
    schema = ScheduledParameters
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ loss(sᵢ)
    rows     shuffled once for all passes, or before every pass
    t0       if not given, the one of 1, 10, ..., 1e10 with the lowest P on the first
             tenth of these rows after a trial pass over them, timed as training; or
             1/(λη0), η0 = u/max(1, -loss'(-u)), u = λ^(-1/4)
    output   the last w
"""
    reconstructed: ClassVar[tuple[str, ...]] = (
        "The candidates for t0, powers of ten from 1 to 1e10: the paper speaks of several values.",
    )
    unstated: ClassVar[tuple[str, ...]] = (
        "Whether each pass has its own order: all passes share one, unless sampling says "
        "otherwise.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        self._rng.shuffle(self._order)
        self._skip = self._steps_to_skip()
        given: float | None = self.parameters.t0
        if given is not None:
            self._t0 = given
        elif self.parameters.t0_rule == "released":
            self._t0 = released_t0(problem)
        else:
            self._t0 = self._search()
        self._take(self._make_kernel(self._t0, self._order), drawn=True)

    def _next_order(self) -> None:
        if self.parameters.sampling != "fixed":
            self._rng.shuffle(self._order)

    @property
    def t0(self) -> float:
        """The t0 in use: given, found by the search, or that of the released formula."""
        return self._t0

    @abstractmethod
    def _make_kernel(self, t0: float, order: Array) -> Any:
        """The method's kernel at w = 0."""

    def _make_trial(self, t0: float, order: Array) -> Any:
        """The kernel whose pass over ``order`` evaluates t0: sgd-qn's for all methods."""
        return self._make_skipping(SgdQn, t0, order)

    def _make_skipping(self, kernel: Any, t0: float, order: Array) -> Any:
        """A kernel that shrinks the weights in some steps only."""
        problem = self._problem
        steps = (problem.lam, t0, self._skip, problem.loss)
        return kernel(problem.data.rows, order, *steps, self.parameters.precision)

    def _search(self) -> float:
        """The candidate of lowest primal on the first tenth; the largest if none is finite."""
        problem = self._problem
        order = self._order[: math.ceil(0.1 * len(self._order))]
        found, least = _CANDIDATES[-1], math.inf
        for t0 in _CANDIDATES:
            trial = self._make_trial(t0, order)
            trial.advance(len(order))
            w = trial.w
            losses = mean_loss(problem.data.rows, w, order, problem.loss)
            with np.errstate(over="ignore", invalid="ignore"):  # too small a t0 may overflow
                primal = 0.5 * problem.lam * float(w @ w) + losses
            if primal < least:  # false for nan
                found, least = t0, primal
        return found

    def _steps_to_skip(self) -> int:
        if isinstance(self.parameters, SkipParameters) and self.parameters.skip is not None:
            return self.parameters.skip
        data = self._problem.data
        # Without nonzeros there is nothing to shrink.
        share = max(data.nnz, 1) / (data.n_samples * max(data.n_features, 1))
        return max(1, round(16.0 / share))


class Scaled(Scheduled):
    """Steps that a diagonal B multiplies; the kernel has it as b = lambda B."""

    @property
    def scaling(self) -> FloatArray:
        """The diagonal of B, shape (d,); a new array."""
        scaled: FloatArray = self._kernel.b.astype(np.float64)
        return scaled / self._problem.lam

    def _make_trial(self, t0: float, order: Array) -> Any:
        """The method's own kernel."""
        return self._make_kernel(t0, order)
