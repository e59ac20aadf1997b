"""Ratios that change in the course of their pairs are found, and steady ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from svmbench.evidence.questions import Question
from svmbench.evidence.steadiness import unsteady


def persistent(random, n, rho):
    logs = random.standard_normal(n)
    for at in range(1, n):
        logs[at] = rho * logs[at - 1] + np.sqrt(1 - rho**2) * logs[at]
    return logs


@pytest.mark.parametrize(
    ("rho", "step", "least", "most"), [(0.0, 0.0, 0, 3), (0.8, 0.0, 50, 60), (0.0, 2.0, 50, 60)]
)
def test_how_often_a_ratio_is_said_to_change(rho, step, least, most):
    random = np.random.default_rng(1)
    found = 0
    for _ in range(60):
        logs = persistent(random, 40, rho) + step * (np.arange(40) >= 20)
        said = unsteady([Question(tuple(logs.tolist()), 1.0)])
        assert said == "" or said.startswith("The ratios of 1 of 1 comparisons change")
        found += bool(said)
    assert least <= found <= most


@pytest.mark.parametrize("distinct", [2, 3])
def test_counts_that_are_mostly_equal_are_steady(distinct):
    random = np.random.default_rng(2)
    pages = [Question(tuple(0.1 * random.integers(0, distinct, 80)), 1.0) for _ in range(60)]
    assert sum(bool(unsteady([page])) for page in pages) <= 3
