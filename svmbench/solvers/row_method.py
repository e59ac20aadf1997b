"""Methods whose kernel takes one row after another."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers.base import Solver


class RowMethod(Solver):
    """A method whose kernel takes row after row, in an order that is drawn anew as it ends."""

    _kernel: Any

    #: Presentations before the iterates are summed, for a mean of them; inf for the last one.
    _begins: float = math.inf

    #: Whether its own rule has held, if it has one.
    _stopped = False

    def _begin(self, problem: Problem, seed: int, rows: int | None = None) -> None:
        self._problem, self._rng = problem, Generator(seed)
        self._order = np.arange(problem.data.n_samples if rows is None else rows, dtype=np.int32)

    def _take(self, kernel: Any, drawn: bool = False) -> None:
        """Go on with this kernel at w = 0; its order is yet to be drawn by default."""
        self.counters = self._kernel = kernel
        self._order = kernel.order
        if not drawn:
            kernel.position = len(self._order)

    def advance(self, steps: int) -> None:
        kernel = self._kernel
        target = kernel.presentations + steps
        if kernel.presentations <= self._begins <= target:
            self._run(int(self._begins))
            kernel.begin_sum()
        self._run(target)

    def _run(self, target: int) -> None:
        """Take steps until the presentations reach ``target``; without rows they count alone."""
        kernel, stopped = self._kernel, self._stopped
        if not len(self._order):
            kernel.presentations, self._stopped = max(target, kernel.presentations), True
        while kernel.presentations < target and not (self.halts and self._stopped > stopped):
            if kernel.position == kernel.end:
                self._next_order()
                kernel.position = 0
            kernel.advance(target)
            if kernel.position == kernel.end:
                self._end_pass()

    def _next_order(self) -> None:
        """Draw the next order into ``_order``, if all passes do not have the same."""

    def _end_pass(self) -> None:
        """Look at a whole pass, and perhaps begin the next one."""

    @property
    def w(self) -> FloatArray:
        """The last iterate, or the mean of those that steps started from, if they are summed."""
        kernel = self._kernel
        found: FloatArray = kernel.total / kernel.summed if kernel.summed else kernel.iterate
        return found

    @property
    def iterate(self) -> FloatArray:
        """The vector that the next step starts from, shape (d,)."""
        last: FloatArray = self._kernel.iterate
        return last

    @property
    def presented(self) -> int | None:
        """Row of the last step; None where a step has several."""
        return int(self._order[self._kernel.position - 1])


class DualMethod(RowMethod):
    """A method whose kernel keeps dual variables in their box."""

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); a new array."""
        alpha: FloatArray = self._kernel.alpha.copy()
        return alpha

    def dual(self) -> float:
        return self._problem.dual(self.alpha)
