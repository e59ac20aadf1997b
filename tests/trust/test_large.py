"""A small part of scripts/trust/large.py, and the constructions it rests on."""

import pytest
from known_optima import SHAPES, known_problem
from large import campaign, table

from svmbench.names import BIASES, CONSTRAINTS, HINGES

pytestmark = pytest.mark.usefixtures("own_cache")


def exists(shape, bias, constraint):
    if bias == "free" and shape in ("one class", "one row"):
        return False
    return constraint == "none" or shape != "only contradictions"


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", HINGES)
def test_the_optima_are_known(loss, bias, constraint):
    for number, shape in enumerate(SHAPES):
        if not exists(shape, bias, constraint):
            continue
        known = known_problem(number, loss, bias, constraint, shape, largest=40)
        # Rows are rounded as they are stored, which moves their optimum off the construction's.
        single = "float32" in known.problem.data.storage
        assert -known.rounding <= known.upper - known.lower
        assert known.gap <= (1e-3 if single else 1e-4)


def test_no_solver_breaks_or_claims_too_much():
    outcomes = [
        (seed, known.words, outcome)
        for seed, known, outcome in campaign(range(100, 112), largest=30, seconds=0.02)
    ]
    assert not [each for each in outcomes if each[2].violations]
    families = {outcome.family for _, _, outcome in outcomes}
    assert families >= {"champion", "cutting plane", "dual", "online", "references", "stochastic"}
    assert f"| all | {len(outcomes)} | 0 |" in table([outcome for *_, outcome in outcomes])
