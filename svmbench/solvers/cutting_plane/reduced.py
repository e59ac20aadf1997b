"""The reduced problem of the cutting-plane methods, and what these have in common.

    min lam/2 ||w||^2 + xi,   xi >= 0,   xi >= delta_j - w.g_j for every cut j

Its dual is over one beta_j a cut (see kernels/cutting_plane.pyx), and its value bounds P*
from below: alpha = sum of beta_j c_j is feasible.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.cutting_plane import add_rows, margins, maximise
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter

#: Gap, as a share of the optimum, below which rounding rules.
ROUNDING = 1e-15

#: Steps a solution of the reduced problem may take, for each of its cuts.
STEPS_PER_CUT = 1000


class ReducedProblem:
    """Cuts, and the weights that are best for them.

    Parameters
    ----------
    lam : float
    d : int
        Features.

    Attributes
    ----------
    w : ndarray of float64, shape (d,)
        1/lam sum of beta_j g_j.
    dual : float
        D(beta), a lower bound of P*.
    """

    def __init__(self, lam: float, d: int) -> None:
        self._lam = lam
        # Cut 0 is the one that says xi >= 0: delta = 0, g = 0, and no vector is kept for it.
        self._size = 1
        self._vectors = np.empty((3, d))
        self._gram = np.zeros((4, 4))
        self._offsets = np.zeros(4)
        self._beta = np.zeros(4)
        self._beta[0] = 1.0
        self._idle = np.zeros(4, dtype=np.int64)
        self.w: FloatArray = np.zeros(d)
        self.dual = 0.0

    @property
    def cuts(self) -> int:
        """Cuts that were added and not dropped."""
        return self._size - 1

    @property
    def slack(self) -> float:
        """xi: the largest mean loss that a cut proves at w."""
        n = self._size
        proved: FloatArray = self._offsets[1:n] - self._vectors[: n - 1] @ self.w
        return float(np.max(proved, initial=0.0))

    def add(self, vector: FloatArray, offset: float) -> None:
        """Add the cut xi >= offset - w.vector; the weights change with the next solution."""
        n = self._size
        if n == len(self._offsets):
            self._grow()
        self._vectors[n - 1] = vector
        products = self._vectors[:n] @ self._vectors[n - 1]
        self._gram[n, 1 : n + 1] = self._gram[1 : n + 1, n] = products / self._lam
        self._gram[n, 0] = self._gram[0, n] = 0.0
        self._offsets[n], self._beta[n], self._idle[n] = offset, 0.0, 0
        self._size = n + 1

    def solve(self, tolerance: float) -> None:
        """Bring D(beta) within ``tolerance`` of its maximum, from the last solution on."""
        n = self._size
        beta = self._beta[:n]
        maximise(
            self._gram[:n, :n],
            self._offsets[:n],
            beta,
            max(tolerance, ROUNDING * self.dual),
            STEPS_PER_CUT * n,
        )
        beta /= max(beta.sum(), 1.0)  # a sum above one, be it by rounding, would prove nothing
        beta[0] = max(0.0, 1.0 - beta[1:].sum())
        self.w = beta[1:] @ self._vectors[: n - 1] / self._lam
        self.dual = float(beta @ self._offsets[:n] - 0.5 * self._lam * (self.w @ self.w))
        self._idle[:n] = np.where(beta > 0.0, 0, self._idle[:n] + 1)

    def drop(self, idle: int) -> None:
        """Drop the cuts that had no part in the last ``idle`` solutions."""
        keep = self._idle[: self._size] < idle
        keep[0] = True
        if keep.all():
            return
        kept = np.flatnonzero(keep)
        n = len(kept)
        self._gram[:n, :n] = self._gram[np.ix_(kept, kept)]
        self._vectors[: n - 1] = self._vectors[kept[1:] - 1]
        for array in (self._offsets, self._beta, self._idle):
            array[:n] = array[kept]
        self._size = n

    def _grow(self) -> None:
        n = self._size
        vectors = np.empty((2 * n - 1, self._vectors.shape[1]))
        vectors[: n - 1] = self._vectors
        self._vectors = vectors
        self._gram = np.pad(self._gram, (0, n))
        self._offsets, self._beta = np.pad(self._offsets, (0, n)), np.pad(self._beta, (0, n))
        self._idle = np.pad(self._idle, (0, n))


class CuttingPlaneParameters(Parameters):
    """Parameters of every cutting-plane method."""

    precision: Literal["float64"] = parameter(
        "float64",
        "Differences of margins at near points leave single precision no digits.",
        source="ours",
    )


class CuttingPlane(Solver):
    """One cut, one solution of the reduced problem and one pass of margins an iteration.

    A subclass leaves in ``_at`` the margins at which the next cut is to be taken. Where an
    iteration moves neither the bound nor the output, the next one would only repeat it: the
    reduced problem is then solved to a tenth of the tolerance, until rounding rules.

    Class attributes
    ----------------
    ties : bool
        Whether rows of margin 1 belong to a cut.
    """

    ties: bool
    step = "iteration"
    kernels = ("cutting_plane", "rows")
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    cut      for a set of rows, g = 1/m Σ yᵢ xᵢ and Δ = their share of all m: at every w
             the mean loss is at least Δ - w·g
    reduced  max D(β) = Σ βⱼ Δⱼ - 1/(2λ) ‖Σ βⱼ gⱼ‖²,  β ≥ 0, Σ βⱼ ≤ 1, one βⱼ
             a cut; w = 1/λ Σ βⱼ gⱼ.  αᵢ = sum of βⱼ over the cuts that hold row i is
             feasible and has the same D: D(β) ≤ P*
    cost     an iteration: nnz of all rows and of the cut's, d for each cut, and pairwise
             steps on β that cost a number of operations per cut
"""
    unstated: ClassVar[tuple[str, ...]] = (
        "How the reduced problem is solved: by pairwise steps from the last solution on.",
        "What to do where an iteration moves neither bound nor output: the reduced problem is "
        "solved ten times more precisely, until rounding rules.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0 without a cut; all margins are 0, so that the first holds all rows."""
        data = problem.data
        self._problem = problem
        self._reduced = ReducedProblem(problem.lam, data.n_features)
        self._at = np.zeros(data.n_samples)
        self._dual, self._primal = 0.0, 1.0
        self._sharper = 1.0
        self._stopped = False
        self._exhausted = False
        self.counters = type(self.counters)()

    def advance(self, steps: int) -> None:
        """Make ``steps`` iterations; nothing moves once rounding has closed the gap."""
        stopped = self._stopped
        for _ in range(steps):
            if self.halts and self._stopped > stopped:
                return
            self._iterate()

    def dual(self) -> float:
        """The largest value that a reduced problem had."""
        return self._dual

    @property
    def stopped(self) -> bool:
        """Whether its rule has held."""
        return self._stopped

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._exhausted

    @abstractmethod
    def _tolerance_of_solution(self) -> float:
        """How near to its maximum the reduced problem is to be brought."""

    @abstractmethod
    def _judge(self, loss: float) -> bool:
        """Take up the reduced problem's w, of which ``_at`` holds margins and ``loss`` the mean.

        Sets ``_primal``, P at the output; returns whether the output moved.
        """

    def _iterate(self) -> None:
        data, reduced, counters = self._problem.data, self._reduced, self.counters
        m = data.n_samples
        counters.presentations += m
        counters.nonzeros += data.nnz
        if self._exhausted:
            return
        cut = np.zeros(data.n_features)
        chosen, nonzeros = add_rows(data.rows, self._at, self.ties, cut)
        counters.updates += chosen
        counters.nonzeros += nonzeros
        reduced.add(cut / m, chosen / m)
        tolerance = self._sharper * self._tolerance_of_solution()
        reduced.solve(tolerance)
        rose = reduced.dual > self._dual * (1.0 + ROUNDING)
        self._dual = max(self._dual, reduced.dual)
        moved = self._judge(margins(data.rows, reduced.w, self._at) / m)
        if not (rose or moved):
            self._sharper *= 0.1
        self._exhausted = self._primal - self._dual <= ROUNDING * self._primal or (
            tolerance < ROUNDING * self._dual and not (rose or moved)
        )
