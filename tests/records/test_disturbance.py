"""The rule by which a run counts as disturbed."""

import math

import pytest

from svmbench.records.disturbance import CAUSES, disturbances

CALM = {
    "train_seconds": 1.0,
    "train_cpu_seconds": 1.0,
    "threads": 1,
    "involuntary_switches": 0,
    "elapsed_seconds": 2.0,
    "stolen_seconds": 0.0,
    "others_cpu_seconds": 0.0,
}


@pytest.mark.parametrize(
    ("changes", "causes"),
    [
        ({}, ()),
        ({"train_cpu_seconds": 0.96}, ()),
        ({"train_cpu_seconds": 0.94}, ("waited",)),
        ({"train_cpu_seconds": 0.94, "threads": 2}, ()),
        ({"train_seconds": 0.014, "train_cpu_seconds": 0.010}, ()),
        ({"train_seconds": 0.016, "train_cpu_seconds": 0.010}, ("waited",)),
        ({"involuntary_switches": 20}, ()),
        ({"involuntary_switches": 21}, ("switched",)),
        ({"involuntary_switches": 4, "train_seconds": 0.01, "train_cpu_seconds": 0.01}, ()),
        ({"stolen_seconds": 0.02}, ()),
        ({"stolen_seconds": 0.03}, ("stolen",)),
        ({"stolen_seconds": 0.01, "elapsed_seconds": 0.1}, ()),
        ({"others_cpu_seconds": 0.5}, ()),
        ({"others_cpu_seconds": 0.6}, ("others",)),
        ({"others_cpu_seconds": 0.04, "elapsed_seconds": 0.1}, ()),
        (
            {"train_cpu_seconds": 0.5, "others_cpu_seconds": 2.0, "involuntary_switches": 90},
            ("waited", "switched", "others"),
        ),
    ],
)
def test_the_rule(changes, causes):
    assert disturbances(CALM | changes) == causes


def test_what_is_unknown_is_no_disturbance():
    assert disturbances(dict.fromkeys(CALM, math.nan)) == ()
    assert set(CAUSES) == {"waited", "switched", "stolen", "others"}
