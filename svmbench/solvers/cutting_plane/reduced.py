"""The reduced problem of the cutting-plane methods, and their common base.

    min lam/2 ||w||^2 + xi,   xi >= 0,   xi >= delta_j - w.g_j for every cut j

Its dual has one variable beta_j per cut (see kernels/cutting_plane.pyx). The dual value bounds P*
from below, because alpha = sum of beta_j c_j is feasible.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.cutting_plane import maximise
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.solvers.iterating import Iterating

#: Gap, as a share of the optimum, below which rounding dominates.
ROUNDING = 1e-15

#: Most steps of a solution of the reduced problem, per cut.
STEPS_PER_CUT = 1000


class ReducedProblem:
    """A set of cuts, the best weights ``w`` for them, and ``dual``, which bounds P* from below."""

    def __init__(self, lam: float, d: int) -> None:
        self._lam = lam
        # Cut 0 is xi >= 0: delta = 0 and g = 0, so that no vector is stored for it.
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
        """Number of cuts that were added and not dropped."""
        return self._size - 1

    @property
    def slack(self) -> float:
        """xi: the largest lower bound that a cut gives for the mean loss at w."""
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
        """Bring D(beta) within ``tolerance`` of its maximum, starting from the last solution."""
        n = self._size
        beta = self._beta[:n]
        maximise(
            self._gram[:n, :n],
            self._offsets[:n],
            beta,
            max(tolerance, ROUNDING * self.dual),
            STEPS_PER_CUT * n,
        )
        beta /= max(beta.sum(), 1.0)  # a sum above one, even by rounding, would be infeasible
        beta[0] = max(0.0, 1.0 - beta[1:].sum())
        self.w = beta[1:] @ self._vectors[: n - 1] / self._lam
        self.dual = float(beta @ self._offsets[:n] - 0.5 * self._lam * (self.w @ self.w))
        self._idle[:n] = np.where(beta > 0.0, 0, self._idle[:n] + 1)

    def drop(self, idle: int) -> None:
        """Drop the cuts that were unused in the last ``idle`` solutions."""
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


class CuttingPlane(Iterating):
    """One cut, one solution of the reduced problem and one pass of margins per iteration.

    A subclass stores in ``_at`` the margins for the next cut; ``ties`` says whether rows of margin
    1 belong to it. If an iteration changes neither bound nor output, the reduced problem is solved
    to a tenth of the tolerance, until rounding dominates.
    """

    ties: bool
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ)
    cut      for a set of rows, g = 1/m Σ yᵢ xᵢ and Δ = their share of all m: at every w
             the mean loss is at least Δ - w·g
    reduced  max D(β) = Σ βⱼ Δⱼ - 1/(2λ) ‖Σ βⱼ gⱼ‖²,  β ≥ 0, Σ βⱼ ≤ 1, one βⱼ
             per cut; w = 1/λ Σ βⱼ gⱼ.  αᵢ = sum of βⱼ over the cuts that hold row i is
             feasible and has the same D: D(β) ≤ P*
    cost     per iteration: nnz of all rows and of the cut's, d per cut, and pairwise
             steps on β, each of which costs a number of operations per cut
"""
    unstated: ClassVar[tuple[str, ...]] = (
        "The solver of the reduced problem: pairwise steps from the last solution.",
        "What to do if an iteration changes neither bound nor output: the reduced problem is "
        "solved ten times more precisely, until rounding dominates.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        self._problem = problem
        self._reduced = ReducedProblem(problem.lam, data.n_features)
        self._at, self._lengths = np.zeros(data.n_samples), data.rows.lengths()
        self._dual, self._primal = 0.0, 1.0
        self._sharper = 1.0
        self._stopped = self._exhausted = False
        self.counters = type(self.counters)()

    def dual(self) -> float:
        return self._dual

    @abstractmethod
    def _tolerance_of_solution(self) -> float:
        """The tolerance to which the reduced problem is solved."""

    @abstractmethod
    def _judge(self, loss: float) -> bool:
        """Process the reduced problem's w and margins ``_at``; set ``_primal`` to P at the output.

        Whether the output changed is returned.
        """

    def _iterate(self) -> None:
        data, reduced, counters = self._problem.data, self._reduced, self.counters
        m = data.n_samples
        counters.presentations += m
        counters.nonzeros += data.nnz
        if self._exhausted:
            return
        in_cut = self._at <= 1.0 if self.ties else self._at < 1.0
        chosen = int(np.count_nonzero(in_cut))
        counters.updates += chosen
        counters.nonzeros += int(self._lengths[in_cut].sum())
        reduced.add(combination(data.rows, in_cut.astype(np.float64)) / m, chosen / m)
        tolerance = self._sharper * self._tolerance_of_solution()
        reduced.solve(tolerance)
        rose = reduced.dual > self._dual * (1.0 + ROUNDING)
        self._dual = max(self._dual, reduced.dual)
        np.multiply(data.labels, data.rows.dot(reduced.w), out=self._at)
        moved = self._judge(float(np.maximum(0.0, 1.0 - self._at).sum()) / m)
        if not (rose or moved):
            self._sharper *= 0.1
        self._exhausted = self._primal - self._dual <= ROUNDING * self._primal or (
            tolerance < ROUNDING * self._dual and not (rose or moved)
        )
