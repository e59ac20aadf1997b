"""The simulations of evidence: what they count, and that all of them run."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import evidence
import numpy as np
import pytest
from scipy.stats import binom

from svmbench.evidence import LEVEL, judge

SCRIPT = Path(evidence.__file__)


def test_all_of_it_in_small():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--scale", "0.002"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in (*evidence.EQUAL, *evidence.UNEQUAL, *evidence.TAILS):
        assert f"\n{name} " in done.stdout
    assert f"in {evidence.POWER[1.1]}" in done.stdout


NOISES = evidence.EQUAL | evidence.UNEQUAL


@pytest.mark.parametrize("name", NOISES)
def test_at_most_one_page_in_twenty_is_false(name):
    pages = 400
    false = evidence.false_pages(NOISES[name], 1, pages, 3, repeats=60)
    assert false <= binom.isf(0.001, pages, LEVEL)


@pytest.mark.parametrize("name", NOISES)
def test_no_method_is_ahead(name):
    """Every noise is as often above what is asked as below it, after whatever came before."""
    logs = NOISES[name](np.random.default_rng(1), 400, evidence.REPEATS)
    assert logs.shape == (400, evidence.REPEATS)
    signs = np.sign(np.nan_to_num(logs, posinf=1.0, neginf=-1.0))
    if name == "common rival":  # then the questions of a page are not independent
        signs = signs[:1]
    assert abs(signs.sum()) <= 4 * math.sqrt(np.abs(signs).sum())
    products = signs[:, 1:] * signs[:, :-1]
    assert abs(products.sum()) <= 4 * math.sqrt(np.abs(products).sum())
    assert np.isinf(logs).any() == (name == "some unreached")
    assert np.isnan(logs).any() == (name in ("some unreached", "some limited"))


def test_the_first_verdict_is_that_of_judging_after_every_repeat():
    random = np.random.default_rng(2)
    found = []
    for shift in (0.0, 0.4, 0.6):
        logs = evidence.some_unreached(random, 3, 25) + shift
        expected = next(
            (
                look
                for look in range(1, 26)
                if any(a.verdict != "open" for a in judge(evidence.page(logs[:, :look])))
            ),
            None,
        )
        assert evidence.first_verdict(logs) == expected
        found.append(expected)
    assert any(look is not None for look in found)


def test_a_large_factor_is_decided_at_once():
    needed = evidence.pairs_to_decide(evidence.normal, 10.0, 20, 1)
    assert np.all(needed == 6)
