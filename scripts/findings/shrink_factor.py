"""The shrinking every ``skip`` steps, as printed and guarded, and a t0 that is too small.

svmsgd2 and sgd-qn shrink w by 1 - skip/(t + t0) where dense SGD shrinks it by 1 - 1/(t + t0) in
each of the skip steps. In the erratum's sgd-qn the same factor is 1 - skip lam B, and lam B is
1/t0 until B first changes.
"""

from __future__ import annotations

import math

from measure import catalogued, markdown, wants_real

from svmbench.problem import Loss
from svmbench.solvers.stochastic.scheduled import SkipParameters
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2

SKIP = 16
GUARD = 0.8


def factor(rate: float, guarded: bool) -> float:
    """Factor of w after ``SKIP`` steps that each shrink it by ``rate``."""
    left = 1.0 - SKIP * rate
    return (1.0 - rate) ** SKIP if guarded and left < GUARD else left


def first_factors(t0: float) -> tuple[float, ...]:
    """Factors at the first shrinking: printed, dense, guarded; erratum, unguarded and guarded."""
    rate = 1.0 / (SKIP - 1 + t0)  # the counter starts at skip and acts before t increases
    dense = math.prod(1.0 - 1.0 / (k + t0) for k in range(SKIP))
    erratum = [factor(1.0 / t0, guarded) for guarded in (False, True)]
    return factor(rate, False), dense, factor(rate, True), *erratum


def squared_hinge() -> list[tuple[str, ...]]:
    """P after one pass of svmbench's own svmsgd2 on tiny-dense, by t0 over max n/(2 lam)."""
    rows: list[tuple[str, ...]] = []
    problem = catalogued("tiny-dense", 1e-4, Loss("squared-hinge"))
    bound = float(problem.data.rows.norms2().max()) / (2.0 * problem.lam)
    for t0 in (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, None):
        solver = Svmsgd2(SkipParameters(t0=t0, skip=SKIP))
        solver.start(problem, seed=1)
        solver.advance(problem.data.n_samples)
        primal = problem.primal(solver.w)
        value = f"{primal:.2g}" if math.isfinite(primal) else "overflow"
        searched = " (searched)" if t0 is None else ""
        rows.append((f"{solver.t0:g}{searched}", f"{solver.t0 / bound:.1e}", value))
    return rows


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        return
    starts = (1.0, 2.0, 4.0, 8.0, 16.0, 100.0)
    factors = [(f"{t0:g}", *(f"{one:.4f}" for one in first_factors(t0))) for t0 in starts]
    header = ("t0", "printed", "dense steps", "guarded", "erratum, unguarded")
    print(markdown((*header, "erratum, guarded"), factors))
    print(markdown(("t0", "t0 over max n/(2λ)", "P after one pass"), squared_hinge()), end="")


if __name__ == "__main__":
    main()
