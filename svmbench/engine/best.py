"""The best weights and the best dual variables of a fit, with what they prove."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from svmbench.engine.turns import Candidate
from svmbench.problem import Problem, relative_gap
from svmbench.proof import Upper, proven_by_norms, proven_dual, proven_primal
from svmbench.solvers.pairs import PrimalAndDual

#: Below the first relative gap, or the tolerance if that is larger, a fit looks at what rounding
#: takes from the proven bound. It ends if this alone exceeds the tolerance and P - D is down to the
#: second share of it.
SMALL_GAP, ROUNDED_SHARE = 1e-12, 0.5

#: Share of the tolerance that a proof may lose by reading no rows.
SPARED = 0.01

#: Unit of rounding, of numbers near 1.
EPS = float(np.finfo(np.float64).eps)

#: What stands for a method while no weights are better than zeros.
AT_ZERO = "w = 0"


class Best:
    """The best w and the best dual variables so far; those of w = 0 and alpha = 0 at first."""

    def __init__(self, problem: Problem, tolerance: float, longest: float) -> None:
        self.problem, self.tolerance, self._given = problem, tolerance, longest
        self.w, self.bias = np.zeros(problem.data.n_features), 0.0
        self.alpha = np.zeros(problem.data.n_samples)
        self.primal, self.dual = problem.primal_at_zero(), 0.0
        self.method, self.certificates = AT_ZERO, 0
        self._proven, self._checked = 0.0, True
        self._upper, self._bounded = Upper(math.inf, self.w, 0.0), False
        self._lost = [0.0, 0.0]  # of the best P and D, by the proofs' allowance for rounding

    def certify(self, method: Candidate, pair: PrimalAndDual) -> None:
        """Compute P and D of a pair, and keep what is better."""
        w, bias, alpha = pair
        primal, dual = self.problem.primal(w, bias), self.problem.dual(alpha)
        self.certificates += 1
        # Of equal P, w = 0 gives way: it predicts nothing.
        if primal < self.primal or (primal == self.primal and self.method == AT_ZERO):
            self.w, self.bias, self.primal, self.method = w, bias, primal, method.name
            self._bounded = False
        if dual > self.dual:
            self.alpha, self.dual, self._checked = alpha, dual, False
        method.note(primal, dual)

    def nearer(self, primal: float) -> PrimalAndDual | None:
        """The best weights, and dual variables, if their gap is at most half that of this P."""
        if self.method == AT_ZERO or self.primal - self.dual > 0.5 * (primal - self.dual):
            return None
        return self.w, self.bias, self.alpha

    def proven(self) -> float:
        """What the best alpha proves, at least 0; it is D afterwards, and P what weights prove."""
        if not self._checked:
            proven = self._proof()
            self._lost[1] = self.dual - proven
            self._proven = max(self._proven, proven)
            self.dual, self._checked = self._proven, True
        if not self._bounded:
            upper = self._upper_proof()
            self._lost[0] = upper.primal - self.primal
            if upper.primal < self._upper.primal:
                self._upper, self._of_upper = upper, self.method
            self.primal, self.w, self.bias = self._upper
            self.method, self._bounded = self._of_upper, True
        return self._proven

    @property
    def rounding(self) -> float:
        """What the proofs of the best P and D allowed for rounding."""
        return sum(self._lost)

    @cached_property
    def _longest(self) -> float:
        """The largest ||x_i||; to find it reads the rows once, and to prove without it, longer."""
        return self._given if self._given < math.inf else self.problem.longest_norm

    def _proof(self) -> float:
        """What the best dual variables prove; more exactly only where the tolerance needs it."""
        proven = proven_by_norms(self.problem, self.alpha, self.dual, self._longest)
        if self.dual - proven <= SPARED * self.tolerance * proven:
            return proven
        return proven_dual(self.problem, self.alpha)

    def _upper_proof(self) -> Upper:
        """What the best weights prove, likewise."""
        off = self.problem.rounding(self.primal, self.w, self.bias, self._longest)
        if off <= SPARED * self.tolerance * self._proven:
            return Upper(self.primal + off, self.w, self.bias)
        return proven_primal(self.problem, self.w, self.bias)

    @cached_property
    def _stays(self) -> bool:
        """Whether w = 0 may be the best: a bias is free, or no w lowers P by more than rounding."""
        problem, m = self.problem, len(self.alpha)
        if problem.bias == "free":
            return True
        # P is convex: no w lowers it by more than half the squared gradient at 0 over lambda.
        pull = problem.row_sum(np.ones_like(self.alpha)) / m
        return float(pull @ pull) <= EPS * problem.lam

    def settled(self) -> bool:
        """Whether the proven gap is within the tolerance, or rounding alone keeps it above."""
        left, tolerance = self.primal - self.dual, self.tolerance
        if left > max(tolerance, SMALL_GAP) * self.dual or not (self.w.any() or self._stays):
            return False
        proven, lost = self.proven(), self.rounding
        rounded = lost > tolerance * proven and left <= ROUNDED_SHARE * lost
        return rounded or relative_gap(self.primal, proven) <= tolerance
