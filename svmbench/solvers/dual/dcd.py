"""dcd: dual coordinate descent with shrinking, LIBLINEAR's method."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.errors import SvmbenchError
from svmbench.kernels.dcd import Dcd as DcdKernel
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_blocks
from svmbench.names import HINGES, LOSSES
from svmbench.problem import Problem
from svmbench.solvers.base import EitherParameters, parameter
from svmbench.solvers.dual.accelerator import Accelerator
from svmbench.solvers.dual.progress import HIGH_GAIN, TYPICAL
from svmbench.solvers.row_method import DualMethod

#: The step that sdca and dcd share.
COORDINATE_STEP = """
    problem  max D(α) = 1/m Σ q(αᵢ) - λ/2 ‖w(α)‖² over a box: 0 ≤ αᵢ ≤ 1, and
             0 ≤ αᵢ alone for the squared hinge. q(αᵢ) = αᵢ - ν αᵢ²/2 for hinges, and
             -αᵢ log αᵢ - (1 - αᵢ) log(1 - αᵢ) for the logistic loss
    update   α = 0 at the start, w = w(α) throughout; the next row i, exact over αᵢ:
                 αᵢ ← clip(αᵢ + λm (1 - sᵢ - ν αᵢ)/(nᵢ + νλm), box)
                 w ← w + (change of αᵢ) yᵢ xᵢ/(λm)
             With the logistic loss, Newton steps on t = log((1 - αᵢ)/αᵢ) come near
             t = sᵢ + nᵢ/(λm) (change of αᵢ)
    cost     nnz of the row, nnz more where αᵢ moves
"""


class DcdParameters(EitherParameters):
    order: Literal["random", "blocks"] = parameter(
        "random",
        "Order of the active rows. random: a new permutation in every pass. blocks: a new order in "
        "every pass, of random blocks of contiguous rows, four of them interleaved; a permutation "
        "where the active rows fit in block_bytes.",
        source="random ICML 2008, 3.1; blocks ours",
    )
    block_rows: int = parameter(
        32,
        "Contiguous rows per block, where the order is blocks.",
        source="ours: blocks of 128 rows or more need up to five times as many passes",
        unit="rows",
        ge=1,
    )
    block_bytes: int = parameter(
        2_000_000,
        "Bytes of rows that fit in a processor's caches, where the order is blocks: rows that "
        "take no more than this are permuted at random, which then costs nothing.",
        source="ours",
        unit="bytes",
        ge=0,
    )
    tolerance: float = parameter(
        0.1,
        "Largest spread of the projected gradient over all rows at which its own stopping rule "
        "holds. A run that continues divides the tolerance by ten each time.",
        source="LIBLINEAR's default for -s 3 and -s 1",
        gt=0.0,
    )
    shrinking: bool = parameter(
        True, "Whether passes drop rows firmly at a bound.", source="ICML 2008, 3.2"
    )
    restore_after: float = parameter(
        20.0,
        "Presentations of active rows after which all rows return, whatever the tolerance: the "
        "search for wrongly shrunk rows then costs at most one pass per this many epochs.",
        source="ours",
        unit="epochs",
        gt=0.0,
    )
    acceleration: bool = parameter(
        False,
        "Whether passes, once they gain little, are followed by the best step in the plane of what "
        "they moved and of the step before. Only for hinges, in double precision.",
        source="ours",
    )
    greedy: bool = parameter(
        False,
        "Whether steps that raised D much are repeated before the next pass, and rows are shrunk "
        "also by the mean projected gradient. Of use where rows are long, as those of text.",
        source="ours",
    )


class RowOrder:
    """Draws the order of each pass: a random permutation, or blocks of rows adjacent in memory.

    Access to a random row waits for its first bytes, several times as long as the work on a short
    row; a block needs one such wait. Blocks converge if they are many, move, and are interleaved.
    """

    def __init__(
        self, rng: Generator, data: Dataset, rows: Array, parameters: DcdParameters, blocks: bool
    ) -> None:
        self._rng = rng
        self._rows = rows.copy() if blocks else rows[:0]
        self._block_rows = parameters.block_rows
        most = len(rows)
        if blocks:
            most = int(parameters.block_bytes * data.n_samples / max(data.nbytes, 1))
        self._most_shuffled = most

    def draw(self, order: Array) -> None:
        """Permute ``order``, which holds distinct rows, in place."""
        if len(order) <= self._most_shuffled:
            self._rng.shuffle(order)
        else:
            draw_blocks(self._rng, order, self._ascending(order), self._block_rows)

    def _ascending(self, order: Array) -> Array:
        """The rows in ``order``, sorted, in another array than ``order``."""
        if len(order) == len(self._rows):
            return self._rows
        there = np.zeros(int(self._rows[-1]) + 1, dtype=bool)
        there[order] = True
        return np.flatnonzero(there).astype(np.int32)


class Dcd(DualMethod):
    """Exact minimisation over one dual variable at a time, in a new random order each pass."""

    name = "dcd"
    summary = "Dual coordinate descent with shrinking (LIBLINEAR's -s 3, -s 1 and -s 7)"
    source = (
        "Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008; with the logistic loss Yu, Huang "
        "and Lin, Machine Learning 85 (2011)"
    )
    losses = LOSSES
    weighted = True
    schema = DcdParameters
    mathematics = (
        COORDINATE_STEP
        + """\
    rows     a new permutation of the active rows every pass, or random blocks of them.
             G = sᵢ - 1 + ν αᵢ or sᵢ - t; PG is the projected gradient. A row is shrunk if
             αᵢ is at a bound and G points outwards by more than any PG of the last pass
    stop     if over all rows max PG - min PG, |max PG| and |min PG| are within tolerance;
             if only the active rows satisfy this, all rows return first
    output   w, certified by D(α) ≤ P*
    faster   on request, the best step in the plane of what passes moved and of the step
             before follows passes that gain little; and steps that raised D much are
             repeated
"""
    )
    reconstructed = (
        "The step for the smoothed hinge, which the paper lacks: the same exact maximum.",
        "The step for the logistic loss: one variable a row, where the paper has αᵢ and 1 - αᵢ, "
        "and no inner tolerance that falls.",
    )
    unstated = (
        "How long a wrongly shrunk row may stay shrunk: restore_after is ours.",
        "How to continue after the stop: with a tenth of the tolerance each time.",
    )

    #: The value of one more, last feature of each row, for descents that represent a bias by it.
    _constant = 0.0

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        self._problem = problem
        self._rng = Generator(seed)
        given = self.parameters
        self._refuse(problem)
        steps = (
            problem.lam, problem.loss, given.shrinking, given.precision, problem.row_weights,
            self._constant,
        )  # fmt: skip
        self._take(DcdKernel(data.rows, *steps), drawn=True)
        blocks = given.order == "blocks"
        self._orders = RowOrder(self._rng, data, self._order, given, blocks)
        if given.greedy:
            self._kernel.high_gain = HIGH_GAIN
        self._tolerance = given.tolerance
        self._restored_at = 0
        self._stopped, self._expected = False, math.inf
        self._slack = math.inf
        self._accelerator: Accelerator | None = None
        if given.acceleration:
            loss = problem.loss
            self._accelerator = Accelerator(
                data.rows, problem.lam, loss.nu, loss.upper, problem.row_weights, self._constant
            )
        self._orders.draw(self._order)
        self._begin_pass()

    def _refuse(self, problem: Problem) -> None:
        given = self.parameters
        if given.acceleration and problem.loss.name not in HINGES:
            raise SvmbenchError(
                f"dcd: acceleration is for hinges, not for the {problem.loss.name} loss"
            )
        if given.acceleration and given.precision != "float64":
            raise SvmbenchError("dcd: acceleration needs precision float64")

    @property
    def stopped(self) -> bool:
        """Whether a pass over all rows stayed within the tolerance."""
        return self._stopped

    @property
    def expected_gap(self) -> float:
        """P - D after the last pass, if it was greedy, as its rows suggest; inf if not known.

        It is taken to fall in one more pass as in the last one, and shrunk rows to add nothing.
        """
        return self._expected

    def _expect(self, slack: float) -> None:
        before = self._slack
        fallen = slack / before if 0.0 < before < math.inf else 1.0
        self._slack, self._expected = slack, slack * min(1.0, fallen)

    def _end_pass(self) -> None:
        kernel = self._kernel
        rows, m = len(self._order), self._problem.data.n_samples
        largest, smallest = kernel.largest, kernel.smallest
        if self.parameters.greedy:
            self._expect(kernel.slack_sum / m)
        within = max(largest - smallest, abs(largest), abs(smallest)) <= self._tolerance
        if kernel.end == 0:
            within = True  # all rows are shrunk: none can violate
        whole = kernel.end == rows
        if whole:
            self._restored_at = kernel.presentations
        if whole and within:
            self._stopped = True
            self._tolerance *= 0.1
        if not (whole and within):
            self._accelerate()
        spent = kernel.presentations - self._restored_at
        if not whole and (within or spent > self.parameters.restore_after * m):
            kernel.restore()
            if self._accelerator is not None:
                self._accelerator.interrupt()
        else:
            kernel.tighten(TYPICAL if self.parameters.greedy else math.inf)
        self._orders.draw(self._order[: kernel.end])
        kernel.begin_pass()
        self._begin_pass()
        kernel.revisit()

    def _begin_pass(self) -> None:
        """Remember where a pass begins, for the acceleration."""
        accelerator, kernel = self._accelerator, self._kernel
        if accelerator is None:
            return
        if accelerator.may_begin:
            accelerator.begin(self._order[: kernel.end], kernel.alpha, kernel.w)
        self._earlier, self._touched = self._bound(), kernel.nonzeros

    def _accelerate(self) -> None:
        """Take a step of the acceleration where it is due."""
        accelerator, kernel = self._accelerator, self._kernel
        if accelerator is None:
            return
        bound, touched = self._bound(), kernel.nonzeros - self._touched
        if accelerator.may_step(bound - self._earlier, bound, touched):
            accelerator.step(kernel.alpha, kernel.w, kernel)

    def _bound(self) -> float:
        """D(alpha), from the updated w."""
        problem, w = self._problem, self._kernel.w
        total = problem.conjugate_sum(self._kernel.alpha)
        return total / problem.data.n_samples - 0.5 * problem.lam * float(w @ w)
