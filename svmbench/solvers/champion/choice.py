"""What auto expects descent and Newton steps to cost still, counted in work, and the choice."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from svmbench.kernels.counters import Counters
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows, take_rows
from svmbench.kernels.sampling import draw_rows
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.champion.work import add_work
from svmbench.solvers.cholesky import factor_cost
from svmbench.solvers.samples import sample_sizes
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES

#: What a pass of dual descent costs, in ns: its calls, per row visited, and per entry touched.
PASS_COST, VISIT_COST, TOUCH_COST = 12_000.0, 14.0, 0.45

#: What a Newton step costs besides its factor and as much per entry: its calls, and per row.
STEP_COST, ROW_COST = 40_000.0, 25.0

#: A multiply-add of the outer product of a sparse row; what BLAS takes for a row, over d^2; and the
#: share of the rows whose outer products Newton steps add.
SPARSE_OUTER_COST, BLAS_OUTER_COST, OUTER_PRODUCTS = 1.0, 0.05, 0.7

#: Newton steps to this gap are about the first times the d/m to the power of the second, over D to
#: the power of the third: a plane nearly separates rows with many features or a small D.
STEPS, STEPS_BY_SHAPE, STEPS_BY_DUAL = 32.0, 0.3, 0.1
NEWTON_GAP = 1e-3

#: Fewest Newton steps to this gap: two for each of the penalties that lead there.
LEAST_STEPS = 8.0

#: Share of these steps that is needed however small the gap is at which they begin.
BEGINNING = 0.5

#: Share of the cost of steps on all rows that steps on samples before them save.
SAVED = 0.5

#: Passes still cost so many times as much as those so far suggest: they gain less and less.
SLOWING = 2.0

#: Passes before dual descent is first compared with Newton steps. What is spent until
#: then is not lost: Newton steps begin where they end.
FIRST_PASSES = 3

#: Fewest and most rows on which dual descent is tried, and their share of all rows between these.
TRIAL_ROWS, TRIAL_SHARE = (2000, 4000), 1.0 / 16.0

#: Least D, and least relative gap, that count.
SMALLEST_DUAL, ROUNDING = 1e-12, 1e-15

Method = Literal["newton", "dual", "dual-newton"]


class Choice(NamedTuple):
    method: Method
    reason: str


class ExpectedCosts:
    """What Newton steps are expected to cost, and what passes of dual descent have cost."""

    def __init__(self, rows: CompactRows, m: int, samples: list[int]) -> None:
        self._m, self._samples = m, samples
        self._d: int = rows.d
        self._share: float = m / max(1, rows.m)
        self._length: float = rows.nnz / max(1, rows.m)
        scattered = SPARSE_OUTER_COST * 0.5 * self._length**2
        self._outer = OUTER_PRODUCTS * min(scattered, BLAS_OUTER_COST * float(self._d) ** 2)

    def descent(self, passes: int, visits: float, entries: float) -> float:
        """Cost of passes that visited so many of the given rows, if all rows had been there."""
        rows = VISIT_COST * visits + TOUCH_COST * entries
        return PASS_COST * passes + self._share * rows

    @property
    def dear(self) -> bool:
        """Whether a single Newton step costs more than the first passes, so that it is far off."""
        passes = FIRST_PASSES * self._m * (VISIT_COST + TOUCH_COST * self._length)
        return factor_cost(self._d) > passes

    def steps(self, m: int, bound: float) -> float:
        """Newton steps that m rows need to `NEWTON_GAP`, where D is ``bound``."""
        shape = (self._d / m) ** STEPS_BY_SHAPE
        steps = STEPS * shape * max(bound, SMALLEST_DUAL) ** -STEPS_BY_DUAL
        return float(max(steps, LEAST_STEPS))

    def newton(self, bound: float) -> float:
        """Expected cost of Newton steps to `NEWTON_GAP`, where D is ``bound``."""
        whole = self._newton_on(self._m, bound)
        return min(whole, self._sampled(whole, bound)) if self._samples else whole

    def samples_pay(self, bound: float) -> bool:
        """Whether Newton steps that begin on samples are expected to cost less."""
        whole = self._newton_on(self._m, bound)
        return self._sampled(whole, bound) < whole

    def _newton_on(self, m: int, bound: float) -> float:
        rows = m * (ROW_COST + TOUCH_COST * self._length)
        each: float = STEP_COST + factor_cost(self._d) + rows
        cost: float = self.steps(m, bound) * each + m * self._outer
        return cost

    def _sampled(self, whole: float, bound: float) -> float:
        first: float = sum(self._newton_on(size, bound) for size in self._samples)
        return first + (1.0 - SAVED) * whole

    def falls_behind(self, dual: DualPhase, spent: float, wanted: float) -> bool:
        """Whether Newton steps are expected to close the rest of the gap at less cost."""
        gap, newton = dual.expected_gap, self.newton(dual.bound())
        # The price of a wrong expectation stays bounded.
        if spent > newton * _share(1.0, wanted):
            return True
        if gap <= wanted:
            return False
        still = dual.expected_passes(wanted) * spent / dual.passes
        return SLOWING * still > newton * _share(min(gap, 1.0), wanted)


def _share(gap: float, wanted: float) -> float:
    """Newton steps between these gaps, as a share of those from a gap of 1 to `NEWTON_GAP`."""
    fall = math.log(gap / max(wanted, ROUNDING)) / math.log(1.0 / NEWTON_GAP)
    return BEGINNING + (1.0 - BEGINNING) * fall


class Trial(NamedTuple):
    """What dual descent did on some rows."""

    rows: int
    passes: float  # passes until it reached its gap or fell behind
    behind: bool  # whether Newton steps were expected to cost less
    samples_pay: bool  # whether these are then to begin on samples


def tried(rows: CompactRows, lam: float, rng: Generator, gap: float, counters: Counters) -> Trial:
    """Dual descent on a few rows, whose weights are dropped.

    Its number of passes depends on ||x_i||^2/(lambda m): lambda times the number of rows is kept.
    """
    wanted = min(max(int(TRIAL_SHARE * rows.m), TRIAL_ROWS[0]), TRIAL_ROWS[1])
    drawn = np.empty(min(wanted, rows.m), dtype=np.int32)
    draw_rows(rng, drawn, rows.m)
    drawn.sort()  # np.unique takes ten times as long
    part = take_rows(rows, drawn[np.append(True, drawn[1:] != drawn[:-1])])
    costs = ExpectedCosts(part, rows.m, sample_sizes(rows.m, rows.d))
    phase = DualPhase(part, lam * rows.m / part.m, rng, gap, trial=True)
    work, passes, behind = phase.counters, 0, False
    while phase.gap == math.inf and not behind:
        phase.iterate()
        passes += 1
        if passes >= FIRST_PASSES and phase.gap == math.inf:
            spent = costs.descent(passes, work.presentations, work.nonzeros)
            behind = costs.falls_behind(phase, spent, 0.5 * gap)
    add_work(counters, work)
    return Trial(part.m, phase.passes, behind, costs.samples_pay(phase.bound()))


def chosen(
    rows: CompactRows,
    lam: float,
    wanted: Literal["choose"] | Method,
    rng: Generator,
    gap: float,
    counters: Counters,
) -> Choice:
    """The method for these rows."""
    if not rows.nnz:
        return Choice("dual", "no row has an entry")
    if wanted != "choose":
        return Choice(wanted, "as configured")
    if rows.d > MOST_FEATURES:
        return Choice("dual", f"{rows.d} features are more than {MOST_FEATURES}")
    if not sample_sizes(rows.m, rows.d):
        return Choice("dual-newton", "too few rows to try both on a sample")
    trial = tried(rows, lam, rng, gap, counters)
    facts = f"descent on {trial.rows} rows"
    if not trial.behind:
        return Choice("dual-newton", f"{facts} took {trial.passes:.0f} passes")
    facts += f" fell behind Newton steps in {trial.passes:.0f} passes"
    if not trial.samples_pay:
        return Choice("dual-newton", f"{facts}, and samples would cost too much")
    return Choice("newton", facts)
