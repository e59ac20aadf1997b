"""Newton steps of the method of multipliers, and what is known where they have come to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import normal
from svmbench.solvers.cholesky import factor_of

#: The inner problem counts as solved once ||lam w - u||^2/(2 lam) is this share of the rest of the
#: gap, or after this many steps.
INNER_SHARE, INNER_STEPS = 0.3, 40

#: The first inner problem may begin again with a smaller penalty, if this is less than such a share
#: of the present one.
LOWERED = 0.1

#: Rounding is the reason where so many inner problems in turn were not solved, and did not lower P
#: to this share of what it was.
UNSOLVED, FALLING = 2, 0.99

#: Relative gap below which rounding dominates.
NEGLIGIBLE = 1e-13

#: Shares of the diagonal to add to it, until the system has a factor.
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)

#: Penalty at w = 0 with the centres 1/2: every row's 1/2 + sigma (1 - 0) lies in (0, 1).
FROM_ZERO = 0.4

#: Penalty beyond which only rounding errors remain.
LARGEST_PENALTY = 1e12


class Seen(NamedTuple):
    """What is known of a point: P, and P - D where alpha is balanced, in two parts."""

    primal: float
    rest: float
    left: float  # ||lam w - u||^2/(2 lam), which the inner problem leaves

    @property
    def gap(self) -> float:
        return self.rest + self.left


class InnerProblem:
    """The smooth function of a kernel's rows, centres and penalty, and Newton's steps on it.

    ``state`` is a `Multipliers`, or what has the same attributes.
    """

    #: Least diagonal of the system, as a share of its largest value so far: the size of rounding.
    _floor = 1e-14

    def __init__(self, state: Any, lam: float, free: bool = False) -> None:
        self.state, self._lam, self._free = state, lam, free
        # The largest value so far of each entry of the system's diagonal.
        self._largest: FloatArray = np.zeros(len(state.w))
        self._system: FloatArray | None = None

    def begin(self, w: FloatArray, centres: FloatArray, penalty: float, *bias: float) -> None:
        """Begin at w, and at a bias that is free."""
        self._largest[:] = 0.0
        self.state.begin(w, centres, penalty, *bias)

    def seen(self) -> Seen:
        """P and the gap, from the sums over the rows that are kept.

        This form does not subtract ||u||^2/(2 lam), which exceeds P by far where a feature is
        large.
        """
        state, lam, m = self.state, self._lam, self.state.m
        w, pull = state.w, state.pull
        gradient = lam * w - pull
        primal = (state.alpha_sum + state.slack_sum) / m + w @ (0.5 * lam * w - pull)
        if self._free:
            primal -= state.bias * state.bias_pull
        left = float(gradient @ gradient) / (2.0 * lam)
        return Seen(float(primal), float(state.slack_sum / m), left)

    def step(self) -> bool:
        """Take a step; return False if rounding has made the system indefinite."""
        state = self.state
        factor, right = self._factor(), state.pull - self._lam * state.w
        if factor is None:
            return False
        right = np.append(right, state.bias_pull) if self._free else right
        state.move(normal.solution(factor, right))
        return True

    def _factor(self) -> FloatArray | None:
        """Cholesky factor of the system, its diagonal raised as little as rounding demands."""
        state, d = self.state, len(self.state.w)
        if self._system is None:
            # One matrix for all steps: to get memory for a new one takes as long as to fill it.
            self._system = np.empty((d + self._free, d + self._free))
        system, scale = self._system, state.penalty / state.m
        diagonal = scale * np.diagonal(state.curvature)
        # The rounding error in a column is a share of its largest value so far.
        self._largest = np.maximum(self._largest, diagonal)
        diagonal = np.maximum(diagonal, self._floor * self._largest) + self._lam
        for ridge in RIDGES:
            np.multiply(state.curvature, scale, out=system[:d, :d])
            system[:d, :d].flat[:: d + 1] = diagonal * (1.0 + ridge)
            if self._free:  # as if a row had curvature, where none has
                system[:d, d] = scale * state.border
                system[d, d] = scale * max(state.corner, 1.0) * (1.0 + ridge)
            factor = factor_of(system, spoil=True)
            if factor is not None:
                return factor
        return None
