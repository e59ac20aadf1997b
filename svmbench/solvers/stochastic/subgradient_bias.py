"""What sgd-bias, minibatch-bias and gd-bias share: steps 1/mu on w and an unregularised bias."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.rng import Generator
from svmbench.kernels.sgd_bias import SgdWithBias
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter

SOURCE = "Garrido, Stochastic gradient descent for SVM (2021)"


class SubgradientParameters(Parameters):
    """Parameters of gd-bias, and of the others besides."""

    mu0: float | None = parameter(
        None,
        "Inverse of the first step on the sum of a batch's losses; none: the rows of a batch "
        "times (1 + the largest squared norm of a row), and the increment's default, so that no "
        "step moves a margin by more than one and none turns w round.",
        source=f"{SOURCE}, experiment 1: 100, for 200 points of the plane; none, ours",
        gt=0.0,
    )
    increment: float | None = parameter(
        None,
        "What each step adds to the inverse of the step; none: what a step multiplies w by in "
        "its subgradient, the rows of a batch times lambda, or lambda m as printed: the decay "
        "1/(lambda t) of strongly convex problems.",
        source=f"{SOURCE}, experiment 1: 1, 0.5 or 0.1; none, ours",
        ge=0.0,
    )


class FormParameters(SubgradientParameters):
    """Parameters of sgd-bias, and of minibatch-bias besides."""

    form: Literal["consistent", "printed"] = parameter(
        "consistent",
        "How much of the regulariser a step on M of m rows carries. consistent: the M/m of it "
        "that M losses are of their sum. printed: all of it, which leads to the minimum of "
        "lambda/2 ||w||^2 + M/m mean loss and not to that of P.",
        source=f"{SOURCE}, section 1, prints the second; the first, ours",
    )


class SubgradientWithBias(Solver):
    """Steps w - gamma (lambda' w - sum_S [y (w.x + b) <= 1] y x), and alike for b."""

    biases = ("free",)
    kernels = ("sgd_bias", "scaled", "rowwise", "rows", "rng")
    reconstructed: ClassVar[tuple[str, ...]] = (
        "The source's lambda weighs a sum of losses: it is m times the lambda of the mean.",
        "mu grows after each step, whatever its number of rows; the source says iteration.",
    )
    unstated: ClassVar[tuple[str, ...]] = (
        "The initial point: w = 0 and b = 0.",
        "Steps for other data than the source's 200 points: by default they come from lambda "
        "and the longest row; mu0 = 100 and increment = 1, 0.5 or 0.1 are the source's.",
    )

    #: Whether rows are shuffled before each epoch.
    _shuffles: ClassVar[bool] = True

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0 and b = 0, and settle the steps of the whole run."""
        data = problem.data
        m = data.n_samples
        batch = self.step_rows(m)
        mu0, increment = self.parameters.mu0, self.parameters.increment
        self._problem = problem
        self._rng = Generator(seed)
        self._order = np.arange(m, dtype=np.int32)
        of_a_row, of_a_step = self._pulls()
        pull = batch * of_a_row + of_a_step
        if mu0 is None:
            mu0 = batch * (1.0 + float(data.rows.norms2().max())) + pull
        if increment is None:
            increment = pull
        steps = (batch, mu0, increment, of_a_row, of_a_step)
        precision = self.parameters.precision
        self.counters = self._kernel = SgdWithBias(data.rows, self._order, *steps, precision)
        self._kernel.position = m  # the first order is yet to be drawn

    def advance(self, steps: int) -> None:
        """Make ``steps`` presentations, rounded up to whole batches."""
        self._run(self._kernel.presentations + steps)

    @property
    def w(self) -> FloatArray:
        """The last iterate."""
        with np.errstate(over="ignore", invalid="ignore"):  # steps too long are a result
            last: FloatArray = self._kernel.iterate
        return last

    @property
    def bias(self) -> float:
        """The last iterate's bias."""
        b: float = self._kernel.bias
        return b

    @property
    def mu0(self) -> float:
        """Inverse of the first step, given or found."""
        mu0: float = self._kernel.mu0
        return mu0

    @property
    def increment(self) -> float:
        """What each step adds to it, given or found."""
        increment: float = self._kernel.increment
        return increment

    @abstractmethod
    def step_rows(self, m: int) -> int:
        """Rows of one step on ``m`` rows."""

    def _pulls(self) -> tuple[float, float]:
        """What a step shrinks w by, over gamma: so much a row, and so much besides."""
        return self._problem.lam, 0.0

    def _run(self, target: int) -> None:
        kernel = self._kernel
        while kernel.presentations < target:
            if kernel.position == len(self._order):
                if self._shuffles:
                    self._rng.shuffle(self._order)
                kernel.position = 0
            kernel.advance(target)


class Stochastic(SubgradientWithBias):
    """Steps on a part of the rows, a fresh permutation of them an epoch."""

    schema = FormParameters
    reconstructed = (
        *SubgradientWithBias.reconstructed,
        "The printed step carries the whole regulariser and minimises another function "
        "(form: printed); by default a step carries its rows' share of it.",
    )

    def _pulls(self) -> tuple[float, float]:
        lam = self._problem.lam
        if self.parameters.form == "consistent":
            return lam, 0.0
        return 0.0, lam * self._problem.data.n_samples
