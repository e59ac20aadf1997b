"""Steps in the plane of the last passes: their twin, what they keep true, and what they are for."""

import numpy as np
import pytest

from problems import (
    dense,
    labels,
    ordinary_problems,
    weighted,
)
from svmbench.kernels.acceleration import Acceleration
from twins.acceleration import Acceleration as Twin

PROBLEMS = ordinary_problems()
LOSSES = {"hinge": (0.0, 1.0), "smoothed": (0.5, 1.0), "squared": (0.5, np.inf)}
every_loss = pytest.mark.parametrize("loss", LOSSES)


def walk(problem, rng, alpha, upper):
    """A random move of some of alpha within the box, onto its bounds at times."""
    moved = alpha + 0.3 * rng.normal(size=len(alpha)) * (rng.random(len(alpha)) < 0.7)
    return np.clip(moved, 0.0, min(upper, 3.0))


def follow(problem, loss, seed, steps=12, shifts=0.0):
    """Steps of both after random moves, until a tie; the twin.

    The last weight is shifted before each step, too.
    """
    nu, upper = LOSSES[loss]
    rng = np.random.default_rng(seed)
    X, y = dense(problem.data), labels(problem.data)
    c = problem.row_weights
    kernel = Acceleration(problem.data.rows, problem.lam, nu, upper, c)
    plain = Twin(X, y, problem.lam, nu, upper, c)
    alpha = np.clip(rng.normal(size=len(y)), 0.0, 1.0)
    for _ in range(steps):
        moving = np.arange(len(y), dtype=np.int32)
        kernel.begin(moving, alpha, plain.shifted(alpha))
        plain.begin(alpha)
        alpha = walk(problem, rng, alpha, upper)
        if shifts:
            amount = shifts * rng.normal()
            kernel.shift(amount)
            plain.offset[-1] += amount
        mine, w = alpha.copy(), plain.shifted(alpha)
        before = alpha
        kernel.step(mine, w)
        alpha = plain.step(alpha)
        if plain.closest < 1e-10:
            break
        np.testing.assert_allclose(mine, alpha, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(w, plain.shifted(mine), rtol=0.0, atol=1e-10 / problem.lam)
        assert kernel.change == pytest.approx(np.sum(mine - before), abs=1e-9)
        rise = plain.dual(mine) - plain.dual(before)
        assert kernel.rise == pytest.approx(rise, rel=1e-6, abs=1e-9 * (1.0 + abs(rise)))
        alpha = mine
    return plain


@pytest.mark.parametrize("shifts", [0.0, 0.5], ids=["", "shifted"])
@pytest.mark.parametrize("counted", [False, True], ids=["", "weighted"])
@every_loss
@pytest.mark.parametrize("name", PROBLEMS)
def test_equals_its_twin(name, loss, counted, shifts):
    problem = weighted(PROBLEMS[name]) if counted else PROBLEMS[name]
    twins = [follow(problem, loss, seed, shifts=shifts) for seed in range(5)]
    assert sum(plain.taken for plain in twins) >= 20
    assert sum(plain.clipped for plain in twins) >= 5
