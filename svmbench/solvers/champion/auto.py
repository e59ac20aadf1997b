"""auto: chooses how to train from the shape of the problem, and says what and why."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.champion.newton_phase import NewtonPhase

#: Time of a multiply-add of a factorisation in that of an entry of a pass over the rows, and the
#: passes that a factorisation may cost for Newton steps to be worth it.
FACTOR_COST, WORTH_PASSES = 0.06, 8.0

#: Features beyond which the d x d system is not formed, whatever the rows.
MOST_FEATURES = 5000


class AutoParameters(Parameters):
    """Parameters of auto."""

    precision: Literal["float64"] = parameter(
        "float64",
        "Single precision gained nothing: an epoch is bound by its gathers.",
        source="ours",
    )
    method: Literal["choose", "newton", "dual"] = parameter(
        "choose",
        "Newton steps, dual coordinate descent, or whichever the shape of the rows suggests.",
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

    method: Literal["newton", "dual"]
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
    choice   Newton steps where a factorisation, d³/3 multiply-adds, costs 8 passes over the rows
             at most; dual descent otherwise
    newton   w minimises λ/2 ‖w‖² + 1/m Σ ψ(sᵢ), -ψ' = αᵢ = clip(cᵢ + σ(1 - sᵢ), 0, 1), by steps
                 (λI + σ/m Σ_J xᵢ xᵢᵀ) dw = 1/m Σ αᵢ yᵢ xᵢ - λw,   J = {i: 0 < αᵢ < 1}
             and an exact line search; then c ← α and σ grows. Samples of the rows come first;
             rows too far from J for the way w has gone since are passed over
    dual     αᵢ ← clip(αᵢ - λm G/nᵢ, 0, 1), G = sᵢ - 1, in random blocks of rows; rows shrunk are
             called back whenever all are looked at
    output   w, certified by D(α) ≤ P*
    stop     (P - D)/D ≤ tolerance, over all rows
    """
    #: Its devices, each with the value that switches it off.
    tricks: ClassVar[tuple[tuple[str, Any], ...]] = (
        ("sampling", False),
        ("sleep", False),
        ("passes", 0),
        ("block_rows", 1),
        ("shrinking", False),
        ("method", "dual"),
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Choose the method and make its first stage ready."""
        self._problem = problem
        parameters, data = self.parameters, problem.data
        self._choice = chosen(data, parameters.method)
        self._phase: NewtonPhase | DualPhase
        if self._choice.method == "newton":
            self._phase = NewtonPhase(
                data.rows,
                problem.lam,
                Generator(seed),
                penalty=parameters.penalty,
                growth=parameters.growth,
                passes=parameters.passes,
                sampling=parameters.sampling,
                sleep=parameters.sleep,
            )
        else:
            self._phase = DualPhase(
                data,
                problem.lam,
                Generator(seed),
                parameters.block_rows,
                parameters.shrinking,
                parameters.tolerance,
            )
        self.counters = self._phase.counters

    def advance(self, steps: int) -> None:
        """Take ``steps`` Newton steps or passes over the active rows."""
        stopped = self.stopped
        for _ in range(steps):
            self._phase.iterate()
            if self.halts and self.stopped and not stopped:
                return

    @property
    def w(self) -> FloatArray:
        """The current weights."""
        return self._phase.w

    def dual(self) -> float:
        """D(alpha), with w(alpha) computed anew; 0 while Newton steps are on a sample."""
        return self._problem.dual(self._phase.alpha)

    @property
    def stopped(self) -> bool:
        """Whether the gap it knows of is within the tolerance."""
        gap, bound = self._phase.gap, self._phase.bound()
        return bool(relative_gap(bound + gap, bound) <= self.parameters.tolerance)

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._phase.exhausted

    @property
    def remark(self) -> str:
        """The method chosen, and why."""
        return f"{self._choice.method}: {self._choice.reason}"


def chosen(data: Dataset, wanted: Literal["choose", "newton", "dual"]) -> Choice:
    """The method for these rows.

    Parameters
    ----------
    data : Dataset
    wanted : {'choose', 'newton', 'dual'}
    """
    m, d, nnz = data.n_samples, data.n_features, data.nnz
    if wanted != "choose":
        return Choice(wanted, "as wanted")
    if not nnz:
        return Choice("dual", "no row has an entry")
    if d > MOST_FEATURES:
        return Choice("dual", f"{d} features are more than {MOST_FEATURES}")
    passes = FACTOR_COST * d**3 / 3.0 / nnz
    facts = f"a factorisation of {d} features costs as much as {passes:.2g} passes over {m} rows"
    if passes > WORTH_PASSES:
        return Choice("dual", f"{facts}, more than {WORTH_PASSES:g}")
    return Choice("newton", f"{facts}, at most {WORTH_PASSES:g}")
