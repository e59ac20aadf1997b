"""Margins of the bundled papers' claims that follow from published figures."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from svmbench.papers.model import papers
from svmbench.solvers.registry import solvers
from tests.claims_support import MANY, found, row

ROOT = Path(__file__).resolve().parents[2]
PAPERS = papers()


def claim_of(paper, item, start):
    (claim,) = [c for c in PAPERS[paper].items[item].claims if c.text.startswith(start)]
    return claim


COUNTED = [
    pytest.param(int(number[1]), claim, id=f"{item}-{at}")
    for item in ("tables-2-3", "tables-4-5", "tables-6-7")
    for at, claim in enumerate(PAPERS["sgd-revisited"].items[item].claims)
    if (number := re.search(r"stops after (\d+) passes", claim.text))
]


def test_passes_are_claimed_on_both_sets_at_each_c():
    assert len(COUNTED) == 12


@pytest.mark.parametrize(("published", "claim"), COUNTED)
def test_passes_are_held_to_15_per_cent_or_one_and_no_count_lies_on_a_bound(published, claim):
    margin = max(0.15 * published, 1.0)
    least, most = claim.at_least or 0.0, claim.at_most
    held = [count for count in range(1, 3 * published + 3) if least <= count <= most]
    assert held == [n for n in range(1, 3 * published + 3) if abs(n - published) <= margin + 1e-9]
    assert all(abs(count - bound) > 1e-9 * bound for count in held for bound in (least, most))


@pytest.mark.parametrize(
    ("passes", "verdict"),
    [(5.0, "holds"), (7.0, "holds"), (8.0, "does not hold"), (4.0, "does not hold")],
)
def test_one_pass_from_six_is_decided(passes, verdict):
    claim = claim_of("sgd-revisited", "tables-6-7", "SGD-m with ε = 0.15")
    counts = row("sgd-m", [1.0] * MANY, sweep="adult-rule", data_passes=passes)
    assert found(claim, counts).verdict == verdict


@pytest.mark.parametrize("name", ["tables-2-3", "tables-4-5", "tables-6-7"])
def test_claims_on_the_largest_sets_are_tested_on_the_rows_of_the_full_form(name):
    full = {"news20": 19996, "webspam": 350000, "covtype": 581012, "C11": 781265, "CCAT": 781265}
    claims = [claim for claim in PAPERS["sgd-revisited"].items[name].claims if claim.least_rows]
    assert claims
    for claim in claims:
        assert claim.least_rows.items() <= full.items()


@pytest.mark.parametrize(("solver", "least"), [("pegasos", 2.5), ("sdca", 3.3)])
def test_the_improvement_over_svmperf_is_the_least_published_factor(solver, least):
    item = PAPERS["pegasos"].items["table-1"]
    seconds = {
        (value.dataset, value.solver): float(value.value)
        for each in item.published
        for value in each.values
        if value.measure.name == "seconds" and value.solver != "lasvm"
    }
    sets = {dataset for dataset, _ in seconds}
    factors = [seconds[each, "svmperf"] / seconds[each, solver] for each in sets]
    assert min(factors) == pytest.approx(least, abs=0.05)
    held = [c for c in item.claims if (c.solver, c.over, c.by == 10) == (solver, "svmperf", False)]
    assert {claim.by for claim in held} == {least}


def test_adagrad_is_drawn_along_its_run():
    sweep = PAPERS["online-optimisers"].items["figure-3-2"].sweeps["online"]
    (adagrad,) = [solver for solver in sweep.solvers if solver.name == "adagrad"]
    assert solvers()["adagrad"](adagrad.parameters).horizon == "none"
    (lam,) = sweep.lambdas
    assert adagrad.parameters.eta == pytest.approx(
        1.0 / (lam * math.sqrt(sweep.stop.max_steps)), rel=1e-6
    )
