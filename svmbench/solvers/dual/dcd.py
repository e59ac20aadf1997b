"""dcd: dual coordinate descent with shrinking, LIBLINEAR's method."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.dcd import ShrinkState, advance_pass
from svmbench.kernels.objective import alpha_of_zero_row
from svmbench.kernels.rng import Generator
from svmbench.problem import LOSSES, Problem
from svmbench.solvers.base import Solver, parameter
from svmbench.solvers.row_order import BLOCKS, BlockParameters, RowOrder

#: The step that sdca has in common with dcd.
COORDINATE_STEP = """
    problem  max D(α) = 1/m Σ (αᵢ - ν αᵢ²/2) - λ/2 ‖w(α)‖² over a box: 0 ≤ αᵢ ≤ 1,
             and 0 ≤ αᵢ alone for the squared hinge
    update   α = 0 at the start, w = w(α) kept in step; the next row i, exactly over αᵢ:
                 αᵢ ← clip(αᵢ + λm (1 - sᵢ - ν αᵢ)/(nᵢ + νλm), box)
                 w ← w + (change of αᵢ) yᵢ xᵢ/(λm)
    cost     nnz of the row, nnz more where αᵢ moves
"""


def dual_start(problem: Problem, norms2: FloatArray) -> tuple[FloatArray, Array]:
    """Return alpha = 0 and the rows to present, of ``norms2`` = ||x_i||^2 each.

    A zero row never moves w: its alpha is what it will be, and it is not presented.
    """
    alpha = np.zeros(len(norms2))
    alpha[norms2 == 0.0] = alpha_of_zero_row(problem.loss.code, problem.loss.gamma)
    return alpha, np.flatnonzero(norms2).astype(np.int32)


class DcdParameters(BlockParameters):
    """Parameters of dcd."""

    order: Literal["random", "blocks"] = parameter(
        "random",
        "Which active rows come next. random: a fresh permutation every pass. " + BLOCKS,
        source="random ICML 2008, 3.1; blocks ours",
    )

    tolerance: float = parameter(
        0.1,
        "Largest spread of the projected gradient over all rows at which its own stopping rule "
        "holds. A run that goes on past it tightens its tolerance tenfold each time.",
        source="LIBLINEAR's default for -s 3 and -s 1",
        gt=0.0,
    )
    shrinking: bool = parameter(
        True, "Whether rows that sit firmly on a bound leave the passes.", source="ICML 2008, 3.2"
    )
    restore_after: float = parameter(
        20.0,
        "Presentations of active rows after which all rows return, whatever the tolerance: "
        "a wrongly shrunk row is found at a cost of at most one pass in so many.",
        source="ours",
        unit="epochs",
        gt=0.0,
    )


class Dcd(Solver):
    """Exact minimisation over one dual variable at a time, in fresh random order."""

    name = "dcd"
    summary = "Dual coordinate descent with shrinking (LIBLINEAR's -s 3 and -s 1)"
    source = "Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008"
    losses = LOSSES
    kernels = ("dcd", "sampling", "objective", "rows", "rng")
    colour = "#009E73"
    schema = DcdParameters
    mathematics = (
        COORDINATE_STEP
        + """\
    rows     a fresh permutation of the active rows every pass, or random blocks of them.
             G = sᵢ - 1 + ν αᵢ, and PG the part of it that the box lets αᵢ follow: a
             row leaves where αᵢ sits on a bound and G points outwards by more than any
             PG of the last pass
    stop     if over all rows max PG - min PG, |max PG| and |min PG| are within tolerance;
             where only the active ones are, all return first
    output   w, certified by D(α) ≤ P*
"""
    )
    reconstructed = (
        "The step for the smoothed hinge, which the paper does not have: the same exact maximum.",
    )
    unstated = (
        "How long a row wrongly left out may stay so: restore_after is ours.",
        "How to go on past the stop: with a tenth of the tolerance each time.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Start from alpha = 0, w = 0 with all rows active but those without entries."""
        data = problem.data
        self._problem = problem
        self._rng = Generator(seed)
        self._w = np.zeros(data.n_features, dtype=self.parameters.precision)
        self._norms2 = data.rows.norms2()
        self._alpha, self._order = dual_start(problem, self._norms2)
        blocks = self.parameters.order == "blocks"
        self._orders = RowOrder(self._rng, data, self._order, self.parameters, blocks)
        self._tolerance = self.parameters.tolerance
        self._restored_at = 0
        self._stopped = False
        self.counters = self._state = ShrinkState(len(self._order))
        self._orders.draw(self._order)

    def advance(self, steps: int) -> None:
        """Present ``steps`` active rows."""
        problem, state = self._problem, self._state
        target = state.presentations + steps
        stopped = self._stopped
        if not len(self._order):
            state.presentations, self._stopped = target, True
        while state.presentations < target and not (self.halts and self._stopped > stopped):
            advance_pass(
                problem.data.rows,
                self._w,
                self._alpha,
                self._order,
                self._norms2,
                state,
                problem.lam,
                problem.loss.code,
                problem.loss.gamma,
                self.parameters.shrinking,
                target,
            )
            if state.position == state.active:
                self._end_pass()

    @property
    def w(self) -> FloatArray:
        """The weights kept in step with alpha."""
        return self._w.astype(np.float64)

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); a new array."""
        return self._alpha.copy()

    def dual(self) -> float:
        """D(alpha), with w(alpha) computed anew."""
        return self._problem.dual(self._alpha)

    @property
    def stopped(self) -> bool:
        """Whether a pass over all rows stayed within the tolerance."""
        return self._stopped

    def _end_pass(self) -> None:
        state = self._state
        rows, m = len(self._order), len(self._alpha)
        largest, smallest = state.largest, state.smallest
        within = max(largest - smallest, abs(largest), abs(smallest)) <= self._tolerance
        if state.active == 0:
            within = True  # every row was shrunk: none is left that could be violated
        whole = state.active == rows
        if whole:
            self._restored_at = state.presentations
        if whole and within:
            self._stopped = True
            self._tolerance *= 0.1
        spent = state.presentations - self._restored_at
        if not whole and (within or spent > self.parameters.restore_after * m):
            state.active = rows
            state.upper, state.lower = math.inf, -math.inf
        else:
            state.upper = largest if largest > 0.0 else math.inf
            state.lower = smallest if smallest < 0.0 else -math.inf
        self._orders.draw(self._order[: state.active])
        state.begin_pass()
