"""auto: dual descent, Newton steps, or one after the other, as a trial on a few rows suggests."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.data.derived import without_empty_columns
from svmbench.kernels.counters import Counters
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.champion.choice import FIRST_PASSES, NEWTON_GAP, ExpectedCosts, Method, chosen
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.champion.interior_phase import InteriorPhase, load_methods
from svmbench.solvers.champion.newton_phase import PENALTY, NewtonPhase, weights_or_zeros
from svmbench.solvers.champion.work import add_work
from svmbench.solvers.cholesky import load
from svmbench.solvers.iterating import Iterating
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES

#: Penalty at the handover, times the gap as a share of P: at the optimum for sigma this share is
#: about this value over sigma.
HANDOVER_PENALTY = 0.05

#: Relative gap above which the interior-point method continues where rounding ends Newton steps.
UNFINISHED = 1e-9

#: Share of the tolerance below which the gap by updated sums is rounding, if fresh sums deny it.
DENIED = 1e-6


class AutoParameters(Parameters):
    method: Literal["choose", "newton", "dual", "dual-newton"] = parameter(
        "choose",
        "newton: Newton steps. dual: dual coordinate descent. dual-newton: descent, then Newton "
        "steps. choose: one of these, by a trial on a few rows.",
        source="ours",
    )
    tolerance: float = parameter(
        1e-3, "Relative gap (P - D)/D at which its own stopping rule holds.", source="ours", gt=0.0
    )


class Auto(Iterating):
    """Newton steps of the method of multipliers if there are few features, else dual descent."""

    name = "auto"
    summary = "Our fastest: Newton steps on multipliers, or dual descent in blocks"
    source = "ours, after Yan and Li (2020) and Hsieh et al. (2008); see docs/champion.md"
    schema = AutoParameters
    mathematics = """
    choice   dual descent if d > 5000; otherwise dual descent until Newton steps from its α
             are expected to cost less than twice what its last passes suggest it needs
             still. With many rows, this is first tried on a few at the same λm; if dual
             descent falls behind there, Newton steps on samples come at once
    newton   w minimises λ/2 ‖w‖² + 1/m Σ ψ(sᵢ), -ψ' = αᵢ = clip(cᵢ + σ(1 - sᵢ), 0, 1), by
                 (λI + σ/m Σ_J xᵢ xᵢᵀ) dw = 1/m Σ αᵢ yᵢ xᵢ - λw,   J = {i: 0 < αᵢ < 1}
             and an exact line search; then c ← α and σ grows. Samples of the rows come
             first; rows too far from J for the distance w has moved are skipped
    dual     αᵢ ← clip(αᵢ - λm G/nᵢ, 0, 1), G = sᵢ - 1, in random blocks of rows; shrunk
             rows return whenever all rows are processed. Steps that raised D much are
             repeated, and those that would raise it little left out. Once passes gain
             little, the best step in the plane of what they moved and of the step before
             follows
    output   w, scaled in dual descent so that P is least on a few rows; certified by
             D(α) ≤ P*
    stop     (P - D)/D ≤ tolerance, over all rows
"""
    #: Threads that Newton steps may use. Sweeps measure one thread: with more, one may go on
    #: preparing later stages when `advance` has returned, which a clock around it does not see.
    threads: int = 1

    def load(self) -> None:
        load()
        load_methods()

    def start(self, problem: Problem, seed: int) -> None:
        self._prepare(problem, seed, self.parameters.method)

    def resume(self, problem: Problem, seed: int, alpha: FloatArray) -> None:
        """Start from dual variables near the optimum, without a trial: descent comes first."""
        many = problem.data.n_features > MOST_FEATURES
        self._prepare(problem, seed, "dual" if many else "dual-newton")
        if isinstance(self._phase, DualPhase):
            self._phase.resume(alpha, self._problem.weights(alpha))

    def _prepare(self, problem: Problem, seed: int, method: Literal["choose"] | Method) -> None:
        """Choose the method unless it is given, and make its first stage."""
        data, self._d = problem.data, problem.data.n_features
        rest = without_empty_columns(data, data.n_features // 2)
        self._columns = None if rest is None else rest[1]
        problem = problem if rest is None else replace(problem, data=rest[0])
        self._problem, self._rng = problem, Generator(seed)
        parameters, rows = self.parameters, problem.data.rows
        gap = max(parameters.tolerance, NEWTON_GAP)
        looking = Counters()
        looking.nonzeros += 0 if rest is None else data.nnz
        self._costs = ExpectedCosts(rows, rows.m, [])
        self._choice = chosen(rows, problem.lam, method, self._rng, gap, looking)
        self._phase: NewtonPhase | DualPhase | InteriorPhase
        if self._choice.method == "newton":
            self._phase = self._newton(PENALTY, None)
        else:
            self._phase = self._descent()
        self.counters = self._phase.counters
        add_work(self.counters, looking)
        self._stopped, self._enough, self._passes = False, parameters.tolerance, 0.0
        self._done, self._looked = 0, looking

    def _iterate(self) -> None:
        if self._choice.method == "dual-newton" and isinstance(self._phase, DualPhase):
            self._hand_over(self._phase)
        self._phase.iterate()
        self._done += 1
        denied = self._enough < DENIED * self.parameters.tolerance
        if isinstance(self._phase, NewtonPhase) and (self._phase.exhausted or denied):
            self._fall_back(self._phase)
        self._stopped = self._stopped or self._within()

    def _within(self) -> bool:
        """Whether the gap is within the tolerance; where it seems to be, check with fresh sums."""
        phase = self._phase
        gap, bound = phase.gap, phase.bound()
        if relative_gap(bound + gap, bound) > self._enough:
            return False
        if not isinstance(phase, NewtonPhase):
            return True
        self._enough *= 0.1
        return bool(self._gap_of(phase) <= self.parameters.tolerance)

    def _gap_of(self, newton: NewtonPhase) -> float:
        """Its relative gap with fresh sums: it updates its own, and rounding errors accumulate."""
        gap = relative_gap(self._problem.primal(newton.w), self._problem.dual(newton.kept_alpha))
        newton.counters.presentations += self._problem.data.n_samples
        newton.counters.nonzeros += 2 * self._problem.data.nnz
        return float(gap)

    def sharpen(self) -> None:
        """Seek a tenth of the gap: sums made anew did not confirm that the tolerance was met."""
        self._stopped = False
        self._enough *= 0.1
        if isinstance(self._phase, DualPhase):
            self._phase.sharpen()

    def _falls_behind(self, dual: DualPhase) -> bool:
        """Whether Newton steps are expected to close the rest of the gap at less cost."""
        if self._done < FIRST_PASSES:
            return False
        # A survey follows where half of the tolerance is expected.
        wanted = 0.5 * self.parameters.tolerance
        if self._stopped:
            wanted = min(wanted, 0.1 * dual.expected_gap)
        visits = dual.counters.presentations - self._looked.presentations
        entries = dual.counters.nonzeros - self._looked.nonzeros
        spent = self._costs.descent(self._done, visits, entries)
        return self._costs.falls_behind(dual, spent, wanted)

    def _hand_over(self, dual: DualPhase) -> None:
        """Switch to Newton steps once these are expected to cost less than further passes."""
        if self._falls_behind(dual):
            self._passes = dual.passes
            # The first penalty follows from the gap: with too small a one nearly all rows have
            # curvature, and a Newton step costs many times a pass.
            penalty = HANDOVER_PENALTY * (1.0 + 1.0 / max(dual.expected_gap, 1e-12))
            penalty = max(PENALTY, penalty)
            self._phase = self._newton(penalty, dual.state)
            self.counters = self._phase.counters

    def _fall_back(self, newton: NewtonPhase) -> None:
        """Continue with the interior-point method if rounding has ended Newton steps too early."""
        if self._gap_of(newton) > UNFINISHED:
            self._phase = InteriorPhase(self._problem, self._weights, self.alpha, newton.counters)
            self.counters = self._phase.counters

    def _descent(self) -> DualPhase:
        """Dual descent from alpha = 0, with what suits the method that was chosen."""
        rows, method = self._problem.data.rows, self._choice.method
        return DualPhase(
            rows, self._problem.lam, self._rng, self.parameters.tolerance,
            # Where Newton steps on the features follow soon, those on free rows are in vain.
            subspace=method == "dual" or self._costs.dear,
        )  # fmt: skip

    def _newton(self, penalty: float, warm: Descent | None) -> NewtonPhase:
        """Newton steps from w = 0, or from the state of dual descent."""
        rows, lam = self._problem.data.rows, self._problem.lam
        return NewtonPhase(rows, lam, self._rng, warm, penalty, self.threads)

    @property
    def rounded(self) -> bool:
        """Whether rounding has ended Newton steps, so that an interior-point method continues."""
        return isinstance(self._phase, InteriorPhase)

    @property
    def w(self) -> FloatArray:
        """The current weights, or zeros while these are known to be better."""
        if self._columns is None:
            return self._weights
        w = np.zeros(self._d)
        w[self._columns] = self._weights
        return w

    @property
    def _weights(self) -> FloatArray:
        """Those of the columns with entries, if the others are left out."""
        phase = self._phase
        return weights_or_zeros(phase.w, phase.bound(), phase.gap)

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); zeros while Newton steps are on a sample or D < 0."""
        alpha: FloatArray = self._phase.alpha
        return alpha if self._phase.bound() >= 0.0 else np.zeros_like(alpha)

    def dual(self) -> float:
        return max(0.0, self._problem.dual(self.alpha))

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._phase.exhausted

    @property
    def remark(self) -> str:
        """The chosen method and the reason, and the changes of method since."""
        remark = f"{self._choice.method}: {self._choice.reason}"
        if self._passes:
            remark += f"; Newton steps since pass {self._passes:.0f}"
        if isinstance(self._phase, InteriorPhase):
            remark += "; interior point since rounding ended them"
        return remark
