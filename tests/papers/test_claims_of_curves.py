"""Claims about single curves: how they grow, and whether they rise; and regret as a curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claims_support import claim, found, noisy, row


def falling(power):
    """A row whose suboptimality is a power of the epochs, times noise of each repeat."""
    return row(
        "a",
        noisy(),
        traces=lambda epoch, repeat: (epoch or 1.0) ** power * noisy(seed=repeat)[0],
    )


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ({"at_most": -0.8}, "holds"),
        ({"at_least": -1.2, "at_most": -0.8}, "holds"),
        ({"at_least": -0.8}, "does not hold"),
    ],
)
def test_an_exponent_along_a_curve(bounds, verdict):
    # At abscissae where the curve has points, so that its steps do not blur the exponent.
    wanted = claim("grows", along="epochs", between=[0.1, 10.0], points=3, **bounds)
    result = found(wanted, falling(-1.0))
    assert result.verdict == verdict
    (case,) = result.cases
    assert case.place == "adult, λ = 1e-3"
    assert case.text.startswith("exponent of P(w) − D_ref from 0.1 to 10 epochs, a = -1.0")


def test_an_exponent_over_more_than_the_runs_is_not_testable():
    wanted = claim("grows", along="epochs", between=[0.1, 100.0], at_most=-0.5)
    result = found(wanted, falling(-1.0))
    assert result.verdict == "not testable"
    assert "no curve spans 0.1 to 100 epochs" in result.summary


# --- regret ------------------------------------------------------------------------


def with_regret(label, power, scale=1.0):
    """A row whose regret after T steps is ``scale`` T^power, times noise of each repeat."""
    made = row(label, noisy())
    steps = np.geomspace(4, 4096, 11)
    table = pd.DataFrame(
        [
            {
                "id": run,
                "repeat": repeat,
                "presentations": at,
                "regret_high": scale * at**power * noisy(seed=repeat)[0],
            }
            for run, repeat in zip(made.group.runs["id"], made.group.runs["repeat"], strict=True)
            for at in steps
        ]
    )
    return replace(made, regrets=table)


def test_the_exponent_of_regret():
    keys = {"measure": "regret", "along": "steps", "between": [64, 4096], "points": 4}
    assert found(claim("grows", at_most=0.55, **keys), with_regret("a", 0.5)).verdict == "holds"
    assert (
        found(claim("grows", at_most=0.25, **keys), with_regret("a", 0.5)).verdict
        == "does not hold"
    )


def test_regret_is_compared_along_steps_and_epochs():
    rows = with_regret("a", 0.2), with_regret("b", 0.5)
    keys = {"measure": "regret"}
    assert found(claim("path", along="steps", between=[16, 4096], **keys), *rows).verdict == "holds"
    # A row has 1000 rows in an epoch.
    wanted = claim("path", along="epochs", between=[0.01, 4.096], **keys)
    assert found(wanted, *rows).verdict == "holds"
    turned = claim("path", along="steps", between=[16, 4096], solver="b", over="a", **keys)
    assert found(turned, *rows).verdict == "does not hold"


def test_a_run_without_regret_is_not_testable():
    keys = {"measure": "regret", "along": "steps", "between": [64, 4096]}
    assert found(claim("grows", at_most=0.5, **keys), row("a", noisy())).verdict == "not testable"
