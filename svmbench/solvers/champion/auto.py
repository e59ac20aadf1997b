"""auto: chooses how to train from the shape of the problem, and says what and why."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.subset import take_rows
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.champion.newton_phase import NewtonPhase, sample_sizes

#: Time of a multiply-add of a factorisation in that of an entry of a pass over the rows, and the
#: passes that a factorisation may cost for Newton steps to be worth it.
FACTOR_COST, WORTH_PASSES = 0.06, 8.0

#: Features beyond which the d x d system is not formed, whatever the rows.
MOST_FEATURES = 5000

#: Mean ||x_i||^2/(lam m) up to which dual descent is ahead of Newton steps at first, where these
#: have no samples, which costs them many passes over all rows; one; or more, and rows of so many
#: entries that what a pass of dual descent costs a row besides does not count.
EASY, EASY_WITH_A_SAMPLE, EASY_WITH_SAMPLES, LONG_ROWS = 20.0, 2.5, 0.3, 50.0

#: Rows the mean is estimated from.
NORM_ROWS = 1000

#: Relative gap at which dual descent hands over to Newton steps; and passes after which it does
#: so anyway.
HANDOVER_GAP, HANDOVER_PASSES = 1e-3, 60.0

#: Penalty at the handover, times the relative gap: at the optimum for sigma the gap is about
#: that much over sigma.
HANDOVER_PENALTY = 0.05

Method = Literal["newton", "dual", "dual-newton"]


class AutoParameters(Parameters):
    """Parameters of auto."""

    precision: Literal["float64"] = parameter(
        "float64",
        "Single precision gained nothing: an epoch is bound by its gathers.",
        source="ours",
    )
    method: Literal["choose", "newton", "dual", "dual-newton"] = parameter(
        "choose",
        "Newton steps, dual coordinate descent, the one after the other, or whichever of these the "
        "shape of the problem suggests.",
        source="ours",
    )
    tolerance: float = parameter(
        1e-3, "Relative gap (P - D)/D at which its own stopping rule holds.", source="ours", gt=0.0
    )
    sampling: bool = parameter(
        True, "Whether Newton steps begin on samples where the rows are many.", source="ours"
    )
    sleep: bool = parameter(
        True,
        "Whether Newton steps pass over rows that no movement so far can concern.",
        source="ours",
    )
    passes: int = parameter(
        4,
        "Passes of dual descent ahead of Newton steps.",
        source="ours",
        unit="epochs",
        ge=0,
    )
    penalty: float = parameter(5.0, "First penalty sigma of Newton steps.", source="ours", gt=0.0)
    growth: float = parameter(
        3.0, "Factor of sigma from one inner problem to the next.", source="ours", gt=1.0
    )
    block_rows: int = parameter(
        32,
        "Rows of a block in dual descent, visited one after another; 1 for random order.",
        source="ours",
        unit="rows",
        ge=1,
    )
    shrinking: bool = parameter(
        True, "Whether rows that sit firmly on a bound leave dual descent.", source="ICML 2008, 3.2"
    )


class Choice(NamedTuple):
    """A method, and why it was taken."""

    method: Method
    reason: str


class Auto(Solver):
    """Newton steps of the method of multipliers where features are few, else dual descent."""

    name = "auto"
    summary = "The suite's fastest: Newton steps on multipliers, or dual descent in blocks"
    source = "ours, after Yan and Li (2020) and Hsieh et al. (2008); see docs/champion.md"
    step = "iteration"
    kernels = ("descent", "multipliers", "subset", "sampling", "rows", "rng")
    colour = "#D00000"
    schema = AutoParameters
    mathematics = """
    choice   dual descent where a factorisation, d³/3 multiply-adds, costs more than 8
             passes over the rows; Newton steps otherwise, after dual descent down to a
             gap of 1e-3 where mean ‖xᵢ‖²/(λm) is small
    newton   w minimises λ/2 ‖w‖² + 1/m Σ ψ(sᵢ), -ψ' = αᵢ = clip(cᵢ + σ(1 - sᵢ), 0, 1), by
                 (λI + σ/m Σ_J xᵢ xᵢᵀ) dw = 1/m Σ αᵢ yᵢ xᵢ - λw,   J = {i: 0 < αᵢ < 1}
             and an exact line search; then c ← α and σ grows. Samples of the rows come
             first; rows too far from J for the way w has gone since are passed over
    dual     αᵢ ← clip(αᵢ - λm G/nᵢ, 0, 1), G = sᵢ - 1, in random blocks of rows; rows
             shrunk are called back whenever all are looked at
    output   w, certified by D(α) ≤ P*
    stop     (P - D)/D ≤ tolerance, over all rows
"""
    tricks = (
        ("sampling", False),
        ("sleep", False),
        ("passes", 0),
        ("block_rows", 1),
        ("shrinking", False),
        ("method", "dual"),
        ("method", "newton"),
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Choose the method and make its first stage ready."""
        self._problem, self._rng = problem, Generator(seed)
        parameters, data = self.parameters, problem.data
        self._choice = chosen(problem, parameters.method, parameters.sampling, self._rng)
        self._phase: NewtonPhase | DualPhase
        if self._choice.method == "newton":
            self._phase = self._newton(parameters.penalty, None)
        else:
            self._phase = DualPhase(
                data,
                problem.lam,
                self._rng,
                parameters.block_rows,
                parameters.shrinking,
                max(parameters.tolerance, HANDOVER_GAP)
                if self._choice.method == "dual-newton"
                else parameters.tolerance,
            )
        self.counters = self._phase.counters
        self._stopped, self._enough = False, parameters.tolerance

    def advance(self, steps: int) -> None:
        """Take ``steps`` Newton steps or passes over the active rows."""
        for _ in range(steps):
            if self._choice.method == "dual-newton" and isinstance(self._phase, DualPhase):
                self._hand_over(self._phase)
            self._phase.iterate()
            if not self._stopped and self._within():
                self._stopped = True
                if self.halts:
                    return

    def _within(self) -> bool:
        """Whether the gap is within the tolerance, by sums made anew where it seems to be."""
        phase = self._phase
        gap, bound = phase.gap, phase.bound()
        if relative_gap(bound + gap, bound) > self._enough:
            return False
        if isinstance(phase, DualPhase):
            return True
        # Its sums are kept in step, and rounding adds up.
        gap = relative_gap(self._problem.primal(phase.w), self._problem.dual(phase.alpha))
        phase.counters.presentations += self._problem.data.n_samples
        phase.counters.nonzeros += 2 * self._problem.data.nnz
        self._enough *= 0.1
        return bool(gap <= self.parameters.tolerance)

    def _hand_over(self, dual: DualPhase) -> None:
        """Begin with Newton steps if dual descent has done its part."""
        gap = dual.gap / (dual.gap + dual.bound()) if dual.gap < math.inf else 1.0
        if gap <= HANDOVER_GAP or dual.passes > HANDOVER_PASSES:
            penalty = max(self.parameters.penalty, HANDOVER_PENALTY / max(gap, 1e-12))
            self._phase = self._newton(penalty, dual.state)
            self.counters = self._phase.counters

    def _newton(self, penalty: float, warm: Descent | None) -> NewtonPhase:
        return NewtonPhase(
            self._problem.data.rows,
            self._problem.lam,
            self._rng,
            penalty=penalty,
            growth=self.parameters.growth,
            passes=self.parameters.passes if warm is None else 0,
            sampling=self.parameters.sampling,
            sleep=self.parameters.sleep,
            warm=warm,
        )

    @property
    def w(self) -> FloatArray:
        """The current weights."""
        return self._phase.w

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); zeros while Newton steps are on a sample."""
        return self._phase.alpha

    def dual(self) -> float:
        """D(alpha), with w(alpha) computed anew; 0 while Newton steps are on a sample."""
        return self._problem.dual(self._phase.alpha)

    @property
    def stopped(self) -> bool:
        """Whether the gap has been within the tolerance, over all rows."""
        return self._stopped

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._phase.exhausted

    @property
    def remark(self) -> str:
        """The method chosen, and why."""
        return f"{self._choice.method}: {self._choice.reason}"


def chosen(
    problem: Problem, wanted: Literal["choose"] | Method, sampling: bool, rng: Generator
) -> Choice:
    """The method for this problem.

    Parameters
    ----------
    problem : Problem
    wanted : {'choose', 'newton', 'dual', 'dual-newton'}
    sampling : bool
        Whether Newton steps may begin on samples.
    rng : Generator
        Draws the rows that the mean norm is estimated from.
    """
    data = problem.data
    m, d, nnz = data.n_samples, data.n_features, data.nnz
    if not nnz:
        return Choice("dual", "no row has an entry")
    if wanted != "choose":
        return Choice(wanted, "as wanted")
    if d > MOST_FEATURES:
        return Choice("dual", f"{d} features are more than {MOST_FEATURES}")
    passes = FACTOR_COST * d**3 / 3.0 / nnz
    facts = f"a factorisation of {d} features costs as much as {passes:.2g} passes over {m} rows"
    if passes > WORTH_PASSES:
        return Choice("dual", f"{facts}, more than {WORTH_PASSES:g}")
    samples = len(sample_sizes(m, d)) if sampling else 0
    if samples > 1:
        easy = EASY_WITH_SAMPLES if nnz >= LONG_ROWS * m else 0.0
    else:
        easy = EASY_WITH_A_SAMPLE if samples else EASY
    drawn = np.empty(min(m, NORM_ROWS), dtype=np.int32)
    draw_rows(rng, drawn, m)
    hardness = float(take_rows(data.rows, drawn).norms2().mean()) / (problem.lam * m)
    facts += f", at most {WORTH_PASSES:g}; mean ||x||^2/(lam m) is {hardness:.2g}"
    if hardness <= easy:
        return Choice("dual-newton", f"{facts}, at most {easy:g}")
    return Choice("newton", f"{facts}, more than {easy:g}")
