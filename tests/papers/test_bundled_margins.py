"""Margins of the bundled papers' claims that follow from published figures."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize(
    ("largest", "verdict"),
    [(1.0, "holds"), (1.0 + np.finfo(np.float32).eps * 2, "does not hold")],
)
def test_an_entry_of_b_at_its_bound_holds_and_one_beyond_rounding_does_not(largest, verdict):
    claim = claim_of("sgd-qn", "figure-3", "All diagonal entries of B")
    assert 1.0 < claim.at_most <= 1.0 + 1.01 * np.finfo(np.float32).eps
    runs = row("sgd-qn", [1.0] * MANY, sweep="alpha", dataset="alpha", largest_scaling=largest)
    assert found(claim, runs).verdict == verdict


def test_the_lead_on_rcv1_is_the_least_published_one_on_the_other_sets_within_two_passes():
    claim = claim_of(
        "sgd-qn",
        "figure-4",
        "SGD-QN requires fewer passes than SVMSGD2 to the same test error on RCV1",
    )
    file = ROOT / "configs" / "papers" / "sgd-qn" / "figure-4.tsv"
    with file.open(encoding="utf-8") as lines:
        points = [
            (line["dataset"], line["solver"], float(line["at"]), float(line["value"]))
            for line in csv.DictReader(lines, delimiter="\t")
            if (line["x"], line["y"]) == ("epochs", "test_error")
            and "clipped" not in (line["note"] or "")
        ]
    leads = [
        slow / fast
        for (a, one, x, slow) in points
        for (b, other, z, fast) in points
        if a == b and a in ("alpha", "delta") and (one, other) == ("svmsgd2", "sgd-qn")
        if abs(x - z) < 0.01 and x <= claim.between[1] + 0.01
    ]
    assert len(leads) > 8
    assert claim.by == pytest.approx(min(leads), abs=1e-4)


def test_adagrad_is_drawn_along_its_run():
    sweep = PAPERS["online-optimisers"].items["figure-3-2"].sweeps["online"]
    (adagrad,) = [solver for solver in sweep.solvers if solver.name == "adagrad"]
    assert solvers()["adagrad"](adagrad.parameters).horizon == "none"
    (lam,) = sweep.lambdas
    assert adagrad.parameters.eta == pytest.approx(
        1.0 / (lam * math.sqrt(sweep.stop.max_steps)), rel=1e-6
    )
