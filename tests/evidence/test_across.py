"""Signed ranks over data sets: by brute force, and as scipy has them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from svmbench.evidence.across import MIN_DATA_SETS, across

VALUES = st.lists(st.sampled_from([-math.inf, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, math.inf]))


@given(VALUES.filter(lambda values: len(values) <= 9))
def test_by_all_choices_of_signs(values):
    found = across(values)
    informative = [value for value in values if value != 0]
    assert found.data_sets == len(informative)
    if not informative:
        assert (found.p_value, found.verdict) == (1.0, "open")
        return
    ranks = rankdata(np.abs(informative))
    observed = abs(sum(rank * np.sign(v) for rank, v in zip(ranks, informative, strict=True)))
    sums = [abs(np.dot(ranks, signs)) for signs in product((-1, 1), repeat=len(informative))]
    assert found.p_value == pytest.approx(np.mean(np.array(sums) >= observed - 1e-9))


@pytest.mark.parametrize("size", [6, 9, 20, 40])
def test_as_scipy_without_ties(size):
    random = np.random.default_rng(size)
    for shift in (0.0, 0.5):
        values = random.normal(shift, 1, size)
        assert across(values).p_value == pytest.approx(wilcoxon(values, method="exact").pvalue)


def test_six_data_sets_are_the_fewest():
    assert across([0.1] * (MIN_DATA_SETS - 1)).verdict == "open"
    assert across([0.1] * (MIN_DATA_SETS - 1)).p_value == 0.0625
    assert across([0.1] * MIN_DATA_SETS).verdict == "above"
    assert across([-math.inf] * MIN_DATA_SETS).verdict == "below"
    assert across([0.0] * 50).verdict == "open"


def test_nan_is_refused():
    with pytest.raises(ValueError, match="nan"):
        across([math.nan])
