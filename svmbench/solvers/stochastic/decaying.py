"""Common base of svmsgd and svmasgd: the order of rows, and the search for the first step."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.errors import ConfigError
from svmbench.kernels.decaying import DecayingSgd, Schedule
from svmbench.problem import Problem
from svmbench.solvers.base import EitherParameters, parameter
from svmbench.solvers.row_method import RowMethod

#: Rows on which the search tries first steps: sgd-2.0 says 1000 and takes one more.
SEARCH_ROWS = 1001


class DecayingParameters(EitherParameters):
    order: Literal["fixed", "stored"] = parameter(
        "fixed",
        "Order of the rows. fixed: one random permutation for all epochs, drawn at the start; it "
        "is the first that sgd-s and sgd-m draw from the seed. stored: the stored order, for "
        "data already in random order.",
        source="sgd-2.0, which shuffles its data once and then reads them from front to back",
    )
    eta0: float | None = parameter(
        None,
        "First step, below 1/lambda; none: found by a search at the start, whose time counts as "
        "training but whose presentations do not.",
        source="sgd-2.0, determineEta0",
        gt=0.0,
    )
    bias_rate: float | None = parameter(
        None,
        "Step of a free bias as a share of the weights' step; unused without a free bias. none: "
        "0.01, or lambda (but at most 1) if that is more: the steps of T presentations sum to "
        "only ln(1 + lambda eta0 T)/lambda, and the bias has to reach its optimum.",
        source="sgd-2.0, whose bias has a hundredth of the step; the lower limit lambda ours",
        gt=0.0,
    )


def require_contraction(solver: str, eta0: float, lam: float) -> None:
    """Raise ConfigError for a first step that would reverse w instead of shrinking it."""
    if not eta0 * lam < 1.0:
        raise ConfigError(
            f"solver {solver}: eta0 {eta0:g} is not below 1/lambda = {1.0 / lam:g}; lower it"
        )


class FixedOrder(RowMethod):
    """Steps eta0/(1 + lambda eta0 t)^p over the rows, by default in the same order every epoch."""

    losses = ("hinge", "logistic")
    biases = ("none", "free")
    schema = DecayingParameters

    #: Four times the power p.
    quarters: ClassVar[int]

    unstated = (
        "The step of a free bias where lambda is not small: the program's 0.01 of the weights' "
        "step would keep it from the optimum; bias_rate is lambda if that is more.",
        "Whether the search for the first step is training: its time counts, its presentations "
        "do not.",
        "A first step of 1/lambda or more, which would reverse w: the search does not try it.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        self._begin(problem, seed)
        if self.parameters.order != "stored":
            self._rng.shuffle(self._order)
        if self.parameters.eta0 is not None:
            require_contraction(self.name, self.parameters.eta0, problem.lam)
        self._bias_rate: float = 0.0
        if problem.bias == "free":
            self._bias_rate = self.parameters.bias_rate or max(0.01, min(1.0, problem.lam))
        self._eta0: float = self.parameters.eta0 or self._search()
        decay = problem.lam * self._eta0
        self._take(self._make_kernel(self._order, self._eta0, decay), drawn=True)

    @property
    def w(self) -> FloatArray:
        kernel = self._kernel
        last: FloatArray = kernel.iterate
        if not kernel.summed:
            return last
        mean: FloatArray = (kernel.total + last) / (kernel.summed + 1.0)
        return mean

    @property
    def bias(self) -> float:
        kernel = self._kernel
        last: float = kernel.bias
        return (kernel.bias_sum + last) / (kernel.summed + 1.0) if kernel.summed else last

    def _make_kernel(self, order: Array, eta0: float, decay: float) -> DecayingSgd:
        schedule = Schedule(eta0, decay, self.quarters)
        problem, precision = self._problem, self.parameters.precision
        steps = (problem.lam, schedule, True, self._bias_rate, precision, problem.loss)
        return DecayingSgd(problem.data.rows, order, *steps)

    def _search(self) -> float:
        """The first step, from a search by factors of two from one towards the lower cost.

        It is the smaller of the last pair. Costs that are equal or no numbers end the search.
        """
        low = 1.0
        while low * self._problem.lam >= 1.0:
            low /= 2.0
        cost_low, cost_high = self._cost(low), self._cost(2.0 * low)
        if cost_low < cost_high:
            while cost_low < cost_high:
                low, cost_high = low / 2.0, cost_low
                cost_low = self._cost(low)
        else:
            while cost_high < cost_low:
                low, cost_low = 2.0 * low, cost_high
                cost_high = self._cost(2.0 * low)
        return low

    def _cost(self, eta: float) -> float:
        """P on the first rows, after one pass over them with constant step ``eta``."""
        problem = self._problem
        if eta * problem.lam >= 1.0:
            return math.inf
        order = self._order[:SEARCH_ROWS]
        trial = self._make_kernel(order, eta, 0.0)
        trial.advance(len(order))
        with np.errstate(over="ignore"):  # the search may try steps that are too long
            norm2 = float(np.sum(np.square(trial.v * trial.scale, dtype=np.float64)))
        loss: float = trial.mean_loss()
        return 0.5 * problem.lam * norm2 + loss
