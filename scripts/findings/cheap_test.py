"""The cheap test of sgd-s: the ratio of its estimate to the true gap, and the cost of beta."""

from __future__ import annotations

import math

import numpy as np
from measure import catalogued, markdown, wants_real

from svmbench.problem import Problem, relative_gap
from svmbench.solvers.stochastic.sgd_s import SgdS

BETAS = (1.0, 1.2, 2.0, 3.0)
MOST = 2000


class Listening(SgdS):
    """sgd-s that records, after each epoch, the values that its stopping rule compares."""

    name = "sgd-s-listening"

    def start(self, problem: Problem, seed: int) -> None:
        """Start with an empty record."""
        self.heard: list[tuple[float, float]] = []
        super().start(problem, seed)

    def _end_pass(self) -> None:
        problem, kernel, w = self._problem, self._kernel, self.w
        penalty = 0.5 * problem.lam * float(w @ w)
        dual = kernel.updates / kernel.presentations - penalty
        estimate = penalty + kernel.loss_sum / problem.data.n_samples
        self.heard.append((relative_gap(estimate, dual), relative_gap(problem.primal(w), dual)))
        super()._end_pass()


def trace(problem: Problem, epsilon: float) -> list[tuple[float, float]]:
    """Estimate and true relative gap after each epoch, until the least beta's rule holds."""
    solver = Listening()
    solver.start(problem, seed=1)
    while len(solver.heard) < MOST:
        solver.advance(problem.data.n_samples)
        if max(solver.heard[-1]) <= epsilon:
            break
    return solver.heard


def stop(seen: list[tuple[float, float]], epsilon: float, beta: float) -> str:
    """The epoch after which the rule holds, and the number of computations of P until then."""
    asked = [(k, gap) for k, (estimate, gap) in enumerate(seen, 1) if estimate <= beta * epsilon]
    for times, (epoch, gap) in enumerate(asked, 1):
        if gap <= epsilon:
            return f"{epoch} ({times})"
    return f"> {MOST}"


def row(name: str, c: float, epsilon: float) -> tuple[str, ...]:
    """The epoch at which the gap reaches epsilon, the ratio, and the end for each beta."""
    m = catalogued(name, 1.0).data.n_samples
    seen = trace(catalogued(name, 1.0 / (c * m)), epsilon)
    there = next(k for k, (_, gap) in enumerate(seen, 1) if gap <= epsilon)
    ratios = [estimate / gap for estimate, gap in seen[there // 2 :] if math.isfinite(gap)]
    spread = f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    ends = [stop(seen, epsilon, beta) for beta in BETAS]
    return (name, f"{c:g}", f"{epsilon:g}", str(there), spread, *ends)


def main() -> None:
    """Print the table."""
    if wants_real(__doc__):
        cases = [("adult", 0.1, 0.01), ("adult", 1.0, 0.03)]
        cases += [("reuters21578", 0.1, 0.01), ("reuters21578", 1.0, 0.01)]
        cases += [("imdb.tfidf", 0.1, 0.01), ("imdb.tfidf", 1.0, 0.01)]
    else:
        cases = [(name, c, 0.01) for name in ("tiny-sparse", "tiny-dense") for c in (0.1, 1.0)]
    rows = [row(*case) for case in cases]
    header = ("data", "C", "ε", "gap ≤ ε", "estimate / gap")
    print(markdown((*header, *(f"β = {beta:g}" for beta in BETAS)), rows), end="")


if __name__ == "__main__":
    main()
