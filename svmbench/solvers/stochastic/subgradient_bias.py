"""Common base of sgd-bias, minibatch-bias and gd-bias: steps 1/mu on w and a free bias."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.batches import Batches
from svmbench.problem import Problem
from svmbench.solvers.base import EitherParameters, parameter
from svmbench.solvers.row_method import RowMethod

SOURCE = "Garrido, Stochastic gradient descent for SVM (2021)"


class SubgradientParameters(EitherParameters):
    """Parameters of gd-bias, which the other methods extend."""

    mu0: float | None = parameter(
        None,
        "Inverse of the first step on the sum of a batch's losses; none: the rows of a batch "
        "times (1 + the largest squared norm of a row), plus the increment's default, so that no "
        "step changes a margin by more than one or reverses w.",
        source=f"{SOURCE}, experiment 1: 100, for 200 points of the plane; none, ours",
        gt=0.0,
    )
    increment: float | None = parameter(
        None,
        "Amount that each step, or each epoch, adds to the inverse of the step; none: the factor "
        "of w in the subgradient, the rows of a batch times lambda, or lambda m as printed, per "
        "step: the decay 1/(lambda t) of strongly convex problems.",
        source=f"{SOURCE}, experiment 1: 1, 0.5 or 0.1; none, ours",
        ge=0.0,
    )


class FormParameters(SubgradientParameters):
    """Parameters of sgd-bias, which minibatch-bias extends."""

    form: Literal["consistent", "printed"] = parameter(
        "consistent",
        "Share of the regulariser in a step on M of m rows. consistent: M/m, the share of the M "
        "losses in their sum. printed: all of it, which minimises "
        "lambda/2 ||w||^2 + M/m mean loss instead of P.",
        source=f"{SOURCE}, section 1, prints the second; the first, ours",
    )
    mu_grows: Literal["per-step", "per-epoch"] = parameter(
        "per-step",
        "When the increment is added to the inverse of the step: after each step or after each "
        "epoch.",
        source=f"{SOURCE}, experiment 1, 'after each iteration', which may be either",
    )


class SubgradientWithBias(RowMethod):
    """Steps w - gamma (lambda' w - sum_S [y (w.x + b) <= 1] y x), and similarly for b."""

    biases = ("free",)
    reconstructed: ClassVar[tuple[str, ...]] = (
        "The source's lambda weighs a sum of losses: it is m times the lambda of the mean.",
        "mu grows after each step, whatever its number of rows, or after each epoch (mu_grows); "
        "the source says iteration.",
    )
    unstated: ClassVar[tuple[str, ...]] = (
        "The initial point: w = 0 and b = 0.",
        "Steps for other data than the source's 200 points: by default they come from lambda "
        "and the longest row; mu0 = 100 and increment = 1, 0.5 or 0.1 are the source's.",
    )

    #: Whether rows are shuffled before each epoch.
    _shuffles: ClassVar[bool] = True

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        m = data.n_samples
        batch = self.step_rows(m)
        mu0, increment = self.parameters.mu0, self.parameters.increment
        self._begin(problem, seed)
        of_a_row, of_a_step = self._pulls()
        pull = batch * of_a_row + of_a_step
        if mu0 is None:
            mu0 = batch * (1.0 + float(data.rows.norms2().max())) + pull
        each_epoch = self._mu_grows_per_epoch
        if increment is None:
            increment = pull * (math.ceil(m / batch) if each_epoch else 1)
        self._mu0, self._increment, self._epoch = mu0, increment, -1
        # The kernel adds its increment after each step, and none if mu grows per epoch.
        self._take(Batches(
            data.rows, self._order, batch, mu0, 0.0 if each_epoch else increment,
            pull=of_a_step, row_pull=of_a_row, free=True, precision=self.parameters.precision,
        ))  # fmt: skip

    @property
    def w(self) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):  # too long steps may overflow
            return super().w

    @property
    def bias(self) -> float:
        b: float = self._kernel.bias
        return b

    @abstractmethod
    def step_rows(self, m: int) -> int:
        """Number of rows in one step on ``m`` rows."""

    @property
    def _mu_grows_per_epoch(self) -> bool:
        """Whether the inverse of the step grows after each epoch, and not after each step."""
        return False

    def _pulls(self) -> tuple[float, float]:
        """Shrinking of w in a step, over gamma: the part per row, and the part per step."""
        return self._problem.lam, 0.0

    def _next_order(self) -> None:
        if self._shuffles:
            self._rng.shuffle(self._order)
        self._epoch += 1
        if self._mu_grows_per_epoch:
            self._kernel.first = self._mu0 + self._increment * self._epoch


class Stochastic(SubgradientWithBias):
    """Steps on some of the rows, with a new permutation every epoch."""

    schema = FormParameters
    reconstructed = (
        *SubgradientWithBias.reconstructed,
        "The printed step has the whole regulariser and minimises another function "
        "(form: printed); by default a step has its rows' share of it.",
    )

    @property
    def _mu_grows_per_epoch(self) -> bool:
        per_epoch: bool = self.parameters.mu_grows == "per-epoch"
        return per_epoch

    def _pulls(self) -> tuple[float, float]:
        lam = self._problem.lam
        if self.parameters.form == "consistent":
            return lam, 0.0
        return 0.0, lam * self._problem.data.n_samples
