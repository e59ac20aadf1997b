"""Theorem 1 of the paper on sgd-qn: both of its bounds are twice what they should be.

The expected excess is computed, not sampled: on a quadratic cost, the first two moments of w obey a
linear recursion.
"""

from __future__ import annotations

import numpy as np
from measure import markdown
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

LAMBDA = 0.1
STEPS = 10**5


def rows() -> tuple[Matrix, Matrix]:
    """40 normal rows of three columns of unlike scales, and targets with noise."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 3)) * np.array([1.0, 0.6, 0.3])
    return X, X @ np.array([1.0, -1.0, 2.0]) + rng.normal(size=40)


def excess(B: Matrix, hessians: Matrix, slopes: Matrix) -> float:
    """Mean of t (P(w) - P*) after t steps -B g/(t + t0) on rows drawn with replacement."""
    H = hessians.mean(axis=0)
    first = np.ones(len(H))  # E[w - w*]
    second = np.outer(first, first)  # E[(w - w*)(w - w*)']
    t0 = float(np.linalg.eigvals(B @ H).real.max() * len(hessians))
    for t in range(1, STEPS + 1):
        mixed = np.einsum("kij,j,kl->il", hessians, first, slopes) / len(slopes)
        noise = (hessians @ second @ hessians).mean(axis=0) + mixed + mixed.T
        noise += slopes.T @ slopes / len(slopes)
        pulled = B @ H @ second / (t + t0)
        second = second - pulled - pulled.T + B @ noise @ B / (t + t0) ** 2
        first = first - B @ H @ first / (t + t0)
    return STEPS * 0.5 * float(np.trace(H @ second))


def main() -> None:
    X, targets = rows()
    hessians = LAMBDA * np.eye(3) + np.einsum("ki,kj->kij", X, X)
    H = hessians.mean(axis=0)
    best = np.linalg.solve(H, X.T @ targets / len(X))
    slopes = hessians @ best - targets[:, None] * X
    G = slopes.T @ slopes / len(slopes)
    shown = []
    for name, B in (("the inverse of H", np.linalg.inv(H)), ("1/λ", np.eye(3) / LAMBDA)):
        spectrum = np.linalg.eigvals(B @ H).real
        least, most = (
            np.trace(H @ B @ G @ B) / (2.0 * scale - 1.0)
            for scale in (spectrum.max(), spectrum.min())
        )
        shown.append([name, *(f"{v:.3g}" for v in (excess(B, hessians, slopes), least, most))])
    print(markdown(["B", "excess", "lower bound", "upper bound"], shown))


if __name__ == "__main__":
    main()
