"""What a bound may say, and which of a profile's measurements it is about."""

from __future__ import annotations

import math

import pytest

from svmbench.bench.profile import Profile
from svmbench.bench.stated_bounds import StatedBound, load_bounds, measured_by


def test_the_bounds_that_come_with_svmbench_are_read():
    known = load_bounds()
    assert [bound.over for bound in known if bound.everywhere] == [()]
    assert all(bound.aim.startswith("≥") for bound in known)


MEASURES_LITTLE = Profile.model_validate(
    {
        "version": 1,
        "name": "little",
        "title": "Little",
        "sets": ["adult", "mnist"],
        "sweeps": {
            "core": {"sets": "mnist", "lambda": 1e-5, "accuracy": 1e-3,
                     "solvers": ["champion", "liblinear"]},
            "own": {"kind": "certificate", "lambda": 1e-6, "accuracy": 1e-3,
                    "solvers": ["champion"]},
        },
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "sets"),
    [
        ({"by": 1}, ()),
        ({"by": 2, "over": "liblinear", "sets": ["adult", "mnist"]}, ("mnist",)),
        ({"by": 2, "over": "liblinear", "sets": "adult"}, None),
        ({"by": 2, "over": "linear-svc", "sets": "mnist"}, None),
        ({"by": 2, "over": "liblinear", "lambda": 1e-6}, None),
        ({"by": 2, "over": "liblinear", "lambda": [1e-6, 1e-5]}, ()),
        ({"by": 2, "over": "liblinear", "accuracy": 1e-4}, None),
        ({"by": 2, "over": "liblinear", "accuracy": 1e-3}, ()),
    ],
)  # fmt: skip
def test_a_bound_belongs_to_a_profile_where_the_profile_measures_it(bound, sets):
    kept = measured_by(MEASURES_LITTLE, [StatedBound.model_validate({"text": "t"} | bound)])
    assert [bound.sets for bound in kept] == ([] if sets is None else [sets])


@pytest.mark.parametrize("bound", [0.0, 1e101, math.inf, math.nan])
def test_a_bound_is_a_factor_that_can_be_multiplied(bound):
    with pytest.raises(ValueError, match="Input should be"):
        StatedBound(text="t", by=bound)
