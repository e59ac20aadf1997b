"""smo: sequential minimal optimisation for the linear kernel, with an unregularised bias."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.objective import combination
from svmbench.kernels.smo import WorkingSet
from svmbench.names import HINGES
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.iterating import Iterating

#: Share of the violation over all rows to which a working set is solved.
INNER = 0.1

#: Pair steps per row of the working set after which another set is chosen.
PATIENCE = 50

#: Iterations after which w is recomputed from alpha, because rounding makes it drift.
RENEWAL = 64

#: Violation, as a share of the gradients, that counts as rounding.
ROUNDING = 1e-14


class SmoParameters(Parameters):
    tolerance: float = parameter(
        1e-3,
        "Violation, the largest gradient of a pair that could still move, at which its own "
        "stopping rule holds; a run may continue after it.",
        source="LIBSVM's default for -e",
        gt=0.0,
    )
    working_set: int = parameter(
        256,
        "Rows that provide the pairs between two passes over all rows. 2: only the maximal "
        "violating pair; m or more: the second-order choice among all pairs.",
        source="ours; Joachims (1999) has 10",
        unit="rows",
        ge=2,
    )


class Smo(Iterating):
    """Pair steps inside sets of the most violating rows; w is stored."""

    name = "smo"
    summary = "Sequential minimal optimisation: pairs of dual variables, second-order selection"
    source = "Platt (1999); Fan, Chen and Lin, JMLR 6 (2005); Joachims (1999) for working sets"
    losses = HINGES
    biases = ("free",)
    schema = SmoParameters
    mathematics = """
    problem  max D(α) = 1/m Σ (αᵢ - ν αᵢ²/2) - λ/2 ‖w(α)‖² over a box and Σ αᵢ yᵢ = 0:
             0 ≤ αᵢ ≤ 1, and 0 ≤ αᵢ alone for the squared hinge
    update   α = 0 at the start; fᵢ = yᵢ (1 - ναᵢ) - w·xᵢ; up: rows whose yᵢ αᵢ can grow,
             low: those whose yᵢ αᵢ can fall. A quarter of a working set has the largest
             f of up, a quarter the smallest f of low; the rest are rows of the last set,
             free α first. Inside it, until its violation is a tenth of that of all rows:
                 i = argmax fᵢ over up,  aᵢⱼ = ‖xᵢ - xⱼ‖²/(λm) + 2ν
                 j = argmax (fᵢ - fⱼ)²/aᵢⱼ over the rows of low with fⱼ < fᵢ
                 yᵢ αᵢ grows and yⱼ αⱼ falls by (fᵢ - fⱼ)/aᵢⱼ, or as far as both can
             then w ← w(α), and f is recomputed
    stop     if max f over up - min f over low ≤ tolerance, over all rows
    output   w and the b of least P(w, b), certified by D(α) ≤ P*
    cost     the set's size q per pair; nnz, and q times its rows' nnz, per iteration
"""
    reconstructed = (
        "The squared and the smoothed hinge, which the papers lack: ν enters f and a_ij.",
    )
    unstated = (
        "How working sets and second-order selection combine: a set is solved to a tenth of the "
        "violation over all rows, in at most 50 pairs per row.",
        "The bias b: papers take the mean of y_i - w·x_i over free α; here it is the exact "
        "minimiser of P(w, b) for the current w, the middle if there are several.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        m = data.n_samples
        self._problem = problem
        self._labels = data.labels.astype(np.float64)
        self._alpha = np.zeros(m)
        self._w = np.zeros(data.n_features)
        self._scores = np.zeros(m)
        self._set = np.arange(0 if m > self.parameters.working_set else m)
        self._iterations = 0
        self._stopped = False
        self.counters = self._kernel = WorkingSet(data.rows, problem.lam, problem.loss)
        self._look()
        self._bias = best_bias(problem, self._scores)

    def advance(self, steps: int) -> None:
        super().advance(steps)
        self._bias = best_bias(self._problem, self._scores)

    @property
    def w(self) -> FloatArray:
        return self._w.copy()

    @property
    def bias(self) -> float:
        return self._bias

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); a new array."""
        return self._alpha.copy()

    def dual(self) -> float:
        return self._problem.dual(self._problem.repaired(self._alpha))

    @property
    def exhausted(self) -> bool:
        """Whether no pair of rows violates, so that no variable changes any more."""
        return self._violation == 0.0

    def _look(self) -> None:
        """Compute f, the rows of up and low, and the violation, from alpha and the scores."""
        alpha, positive = self._alpha, self._labels > 0.0
        loss = self._problem.loss
        f = self._labels * (1.0 - loss.nu * alpha) - self._scores
        some, more = alpha > 0.0, alpha < loss.upper
        self._f = f
        self._up = np.where(np.where(positive, more, some), f, -math.inf)
        self._low = np.where(np.where(positive, some, more), f, math.inf)
        highest, lowest = float(self._up.max()), float(self._low.min())
        rounding = ROUNDING * max(1.0, abs(highest), abs(lowest))
        violation = highest - lowest
        self._violation = violation if violation > rounding else 0.0
        self._stopped = self._stopped or self._violation <= self.parameters.tolerance

    def _iterate(self) -> None:
        problem, kernel = self._problem, self._kernel
        data = problem.data
        kernel.presentations += data.n_samples
        if self._violation == 0.0:
            return
        chosen = self._choose()
        kernel.choose(chosen, self._alpha, self._f)
        kernel.advance(INNER * self._violation, PATIENCE * len(chosen))
        change = np.zeros(data.n_samples)
        change[chosen] = kernel.alpha - self._alpha[chosen]
        self._alpha[chosen] = kernel.alpha
        scale = problem.lam * data.n_samples
        self._iterations += 1
        if self._iterations % RENEWAL:
            self._w += np.asarray(combination(data.rows, change)) / scale
        else:
            self._w = np.asarray(combination(data.rows, self._alpha)) / scale
        self._scores = data.rows.dot(self._w)
        self._set = chosen
        kernel.updates += int(np.count_nonzero(change))
        kernel.nonzeros += data.nnz
        self._look()

    def _choose(self) -> Array:
        """The rows of the next working set, shape (q,), int64, including the worst pair."""
        last, size = self._set, self.parameters.working_set
        if len(last) == len(self._alpha):
            return last
        share = max(1, size // 4)
        up, low = _largest(self._up, share), _largest(-self._low, share)
        # Rows in no violating pair would only fill the set.
        up = up[self._up[up] > self._low.min()]
        low = low[self._low[low] < self._up.max()]
        worst = np.union1d(up, low)
        free = (self._alpha[last] > 0.0) & (self._alpha[last] < self._problem.loss.upper)
        kept = np.concatenate([last[free], last[~free]])
        kept = kept[~np.isin(kept, worst)][: size - len(worst)]
        return np.concatenate([worst, kept]).astype(np.int64)


def _largest(values: FloatArray, count: int) -> Array:
    """Indices of the ``count`` largest values, fewer than all; among equals, the first."""
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)
    return np.concatenate([above, equal[: count - len(above)]])
