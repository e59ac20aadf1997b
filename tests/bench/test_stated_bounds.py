"""What a bound may say, and which of a profile's measurements it is about."""

from __future__ import annotations

import math

import pytest

from svmbench.bench.profile import Profile
from svmbench.bench.stated_bounds import StatedBound, load_bounds, measured_by
from svmbench.errors import ConfigError


def test_growth_has_no_lower_bound_but_a_factor():
    with pytest.raises(ValueError, match="a bound of kind alike needs 'within'"):
        StatedBound(text="t", kind="alike", part="growth")
    with pytest.raises(ValueError, match="a bound of kind alike has no 'by'"):
        StatedBound(text="t", kind="alike", part="growth", within=1.15, by=1.15)


def test_a_misspelt_reason_is_one_line(tmp_path):
    path = tmp_path / "bounds.yaml"
    path.write_text(
        "version: 1\nbounds:\n  - text: t\n    kind: reaches\n    at_most: 1\n"
        "    tried: [{set: adult, text: x}]\n"
    )
    with pytest.raises(ConfigError, match=r"bounds.yaml:6:\d+: unknown key 'set'; .*'sets'"):
        load_bounds(path)


def test_the_bounds_that_come_with_svmbench_are_read():
    known = load_bounds()
    assert {(bound.kind, bound.part) for bound in known} == {
        ("faster", "oracle"), ("faster", "epochs"), ("faster", "reading"), ("faster", "text"),
        ("reaches", "epochs"), ("reaches", "growth"), ("alike", "growth"),
    }  # fmt: skip
    assert [bound.over for bound in known if bound.everywhere] == [()]
    assert all(bound.aim.startswith(("≥", "≤", "within")) for bound in known)


MEASURES_LITTLE = Profile.model_validate(
    {
        "version": 1,
        "name": "little",
        "title": "Little",
        "sets": ["adult", {"data": "mnist", "text": True}],
        "epochs": {"sets": "adult", "solvers": ["champion", "sgd-s"]},
        "reading": {"readers": ["svmbench", "scikit-learn"], "repeats": 1},
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
        ({"kind": "faster", "by": 1}, ()),
        ({"kind": "faster", "by": 2, "over": "liblinear", "sets": ["adult", "mnist"]}, ("mnist",)),
        ({"kind": "faster", "by": 2, "over": "liblinear", "sets": "adult"}, None),
        ({"kind": "faster", "by": 2, "over": "linear-svc", "sets": "mnist"}, None),
        ({"kind": "faster", "by": 2, "over": "liblinear", "lambda": 1e-6}, None),
        ({"kind": "faster", "by": 2, "over": "liblinear", "lambda": [1e-6, 1e-5]}, ()),
        ({"kind": "faster", "by": 2, "over": "liblinear", "accuracy": 1e-4}, None),
        ({"kind": "faster", "by": 2, "over": "liblinear", "accuracy": 1e-3}, ()),
        ({"kind": "faster", "by": 2, "over": "scikit-learn", "part": "reading"}, ()),
        ({"kind": "faster", "by": 2, "over": "liblinear", "part": "reading"}, None),
        ({"kind": "faster", "by": 2, "over": "scikit-learn", "part": "text"}, None),
        ({"kind": "faster", "by": 4, "over": "sgd-classifier", "part": "epochs"}, None),
        ({"kind": "reaches", "at_most": 2, "part": "epochs", "sets": ["adult", "mnist"]},
         ("adult",)),
        ({"kind": "reaches", "at_most": 2, "part": "epochs", "sets": "mnist"}, None),
        ({"kind": "alike", "within": 2, "part": "growth"}, None),
    ],
)  # fmt: skip
def test_a_bound_belongs_to_a_profile_where_the_profile_measures_it(bound, sets):
    kept = measured_by(MEASURES_LITTLE, [StatedBound.model_validate({"text": "t"} | bound)])
    assert [bound.sets for bound in kept] == ([] if sets is None else [sets])


@pytest.mark.parametrize("bound", [0.0, 1e101, math.inf, math.nan])
def test_a_bound_is_a_factor_that_can_be_multiplied(bound):
    with pytest.raises(ValueError, match="Input should be"):
        StatedBound(text="t", kind="reaches", at_most=bound)
