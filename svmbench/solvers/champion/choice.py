"""What auto expects dual descent and Newton steps to cost, counted in passes of dual descent.

Work, not time, is compared, so that a seed gives the same run on every machine.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from svmbench.kernels.counters import Counters
from svmbench.kernels.rng import Generator
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.sampling import draw_rows
from svmbench.kernels.subset import take_rows
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.champion.newton_phase import sample_sizes
from svmbench.solvers.cholesky import factor_cost
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES

#: Newton steps to this gap cost about this many passes over the rows, this many factorisations, and
#: the outer products of this share of the rows with themselves.
NEWTON_PASSES, FACTORISATIONS, OUTER_PRODUCTS = 15.0, 40.0, 0.5
NEWTON_GAP = 1e-3

#: A multiply-add relative to the time per nonzero of a pass: of the outer product of a sparse row,
#: which is scattered, and of a dense one.
SPARSE_OUTER_COST, DENSE_OUTER_COST = 0.8, 0.16

#: What a pass costs besides its entries, in entries: its calls take 10 us.
CALL_COST = 10_000.0

#: Fewest and most rows on which dual descent is tried, and their share of all rows between these.
TRIAL_ROWS, TRIAL_SHARE = (2000, 4000), 1.0 / 16.0

#: Share of the cost of Newton steps that dual descent may cost before them.
FIRST_SHARE = 0.25

Method = Literal["newton", "dual", "dual-newton"]


class Choice(NamedTuple):
    """A method and the reason; for dual descent before Newton steps, what both may cost.

    Parameters
    ----------
    method : {'newton', 'dual', 'dual-newton'}
    budget : float
        Passes of dual descent before it is first compared with Newton steps.
    newton : float
        Passes that Newton steps are expected to cost from a gap of 1 to 1e-3.
    reason : str
    """

    method: Method
    budget: float
    newton: float
    reason: str


class Trial(NamedTuple):
    """Passes in which dual descent reached its gap on some rows; inf if it took too many."""

    rows: int
    passes: float


def factorisation_passes(rows: CompactRows) -> float:
    """Cost of a factorisation, in passes over the rows."""
    passes: float = factor_cost(rows.d) / (rows.nnz + CALL_COST)
    return passes


def newton_passes(rows: CompactRows) -> float:
    """Expected cost of Newton steps to a gap of 1e-3, in passes of dual descent."""
    each = DENSE_OUTER_COST if rows.indptr is None else SPARSE_OUTER_COST
    outer: float = OUTER_PRODUCTS * each * 0.5 * rows.nnz / rows.m
    return NEWTON_PASSES + FACTORISATIONS * factorisation_passes(rows) + outer


def tried(
    rows: CompactRows, lam: float, rng: Generator, gap: float, most: float, counters: Counters
) -> Trial:
    """Dual descent on a few rows, with the lambda for which it needs as many passes as on all.

    Its number of passes depends on ||x_i||^2/(lambda m), so lambda times the number of rows is
    kept. The weights are those of another problem, and are dropped.

    Parameters
    ----------
    rows : CompactRows
    lam : float
    rng : Generator
    gap : float
        Relative gap to reach.
    most : float
        Passes after which the trial ends.
    counters : Counters
        The work is added to these.
    """
    wanted = min(max(int(TRIAL_SHARE * rows.m), TRIAL_ROWS[0]), TRIAL_ROWS[1])
    drawn = np.empty(min(wanted, rows.m), dtype=np.int32)
    draw_rows(rng, drawn, rows.m)
    part = take_rows(rows, np.unique(drawn))
    # N rests on plain passes, and on few rows acceleration takes longer than the passes themselves.
    plain = {"acceleration": False, "subspace": False, "scaling": False}
    phase = DualPhase(part, lam * rows.m / part.m, rng, 1, True, gap, **plain)
    while phase.gap == math.inf and phase.passes <= most:
        phase.iterate()
    counters.presentations += phase.counters.presentations
    counters.updates += phase.counters.updates
    counters.nonzeros += phase.counters.nonzeros
    return Trial(part.m, phase.passes if phase.gap < math.inf else math.inf)


def chosen(
    rows: CompactRows,
    lam: float,
    wanted: Literal["choose"] | Method,
    sampling: bool,
    rng: Generator,
    gap: float,
    counters: Counters,
) -> Choice:
    """The method for these rows.

    Parameters
    ----------
    rows : CompactRows
    lam : float
    wanted : {'choose', 'newton', 'dual', 'dual-newton'}
    sampling : bool
        Whether Newton steps may begin on samples.
    rng : Generator
        Draws the rows of the trial.
    gap : float
        Relative gap that the trial has to reach.
    counters : Counters
        The work of the trial is added to these.
    """
    if not rows.nnz:
        return Choice("dual", math.inf, math.inf, "no row has an entry")
    newton = newton_passes(rows)
    first = FIRST_SHARE * newton
    if wanted != "choose":
        return Choice(wanted, first, newton, "as configured")
    if rows.d > MOST_FEATURES:
        reason = f"{rows.d} features are more than {MOST_FEATURES}"
        return Choice("dual", math.inf, newton, reason)
    facts = f"Newton steps are expected to cost {newton:.0f} passes"
    if not (sampling and sample_sizes(rows.m, rows.d)):
        facts += f", and may follow after {first:.0f} of descent"
        return Choice("dual-newton", first, newton, facts)
    trial = tried(rows, lam, rng, gap, newton, counters)
    if trial.passes > newton:
        facts += f"; descent on {trial.rows} rows took more"
        # A sample saves passes over all rows, but costs as many factorisations again.
        if FACTORISATIONS * factorisation_passes(rows) > NEWTON_PASSES:
            return Choice("dual-newton", first, newton, f"{facts}, and samples would cost too much")
        return Choice("newton", 0.0, newton, facts)
    budget = max(first, trial.passes)
    facts += f"; descent on {trial.rows} rows took {trial.passes:.0f}"
    return Choice("dual-newton", budget, newton, facts)
