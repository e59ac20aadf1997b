"""What a benchmark has found: complete ladders and data sets."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from measured_rows import SWEPT, group

from svmbench.bench import found as findings
from svmbench.bench import write
from svmbench.bench.found import Found
from svmbench.bench.profile import Profile
from svmbench.bench.tables import source_text
from svmbench.config import Sweep
from svmbench.harness.sources import Source
from svmbench.records.read import Results
from svmbench.solvers.peers.peer import TOLERANCES


def test_a_ladder_that_the_budget_has_cut_short_has_not_failed_to_arrive():
    sweep = Sweep.model_validate(
        {
            "version": 1,
            "name": "x",
            "datasets": ["tiny-dense"],
            "lambda": 1e-2,
            "solvers": ["dcd", "liblinear", "mpu"],
            "stop": {"accuracy": [1e-1, 1e-2]},
        }
    )
    ended = [
        # label, repeat, horizon, state, seconds to 0.01
        ("dcd", 0, math.nan, "max_steps", math.nan),
        ("liblinear", 0, 8.0, "converged", math.nan),
        ("liblinear", 0, 4.0, "converged", 0.5),
        ("liblinear", 1, 8.0, "converged", math.nan),
        ("liblinear", 2, 8.0, "converged", math.nan),
        ("liblinear", 2, 4.0, "max_steps", math.nan),
        ("liblinear", 3, TOLERANCES[-2], "converged", math.nan),
        ("liblinear", 3, TOLERANCES[-1], "converged", math.nan),
        ("mpu", 0, 0.1, "converged", math.nan),
        ("mpu", 1, 0.1, "converged", math.nan),
        ("mpu", 1, 0.01, "converged", 0.5),
    ]  # fmt: skip
    runs = pd.DataFrame(
        [
            {
                "label": label, "solver": label, "lambda": 1e-2, "repeat": repeat,
                "horizon": horizon, "state": state, "seconds_to_0.01": seconds,
                "train_seconds": 1.0, "limit_seconds": math.nan,
            }
            for label, repeat, horizon, state, seconds in ended
        ]
    )  # fmt: skip
    results = Results(
        folder=Path(), name="x", runs=runs, traces=runs[:0], accuracies=(0.1, 0.01), tables=(),
        plots=(), datasets=(), solvers=(), repeats=3, environment={}, config={}, config_text="",
    )  # fmt: skip
    kept, left = findings.without_unfinished(results, sweep)
    found_there = set(zip(kept.runs["label"], kept.runs["repeat"], strict=True))
    assert found_there == {
        ("dcd", 0), ("liblinear", 0), ("liblinear", 2), ("liblinear", 3), ("mpu", 1)
    }  # fmt: skip
    assert left == 2


def of_source(stand_in, source):
    """The runs of a sweep."""
    size = {"m": 1000, "d": 125, "nnz": 4000}
    ran = group("dcd", [1.0])
    runs = ran.runs.assign(data_source=source, **size)
    return replace(SWEPT, groups=[replace(ran, stand_in=stand_in, runs=runs)], results=runs)


@pytest.mark.parametrize(
    ("recorded", "marked", "listed"),
    [
        ((False, "files"), "tuned on", "the set itself"),
        ((True, 'stand-in {"scale": 0.2}'), "adult: stand-in, SCALE 0.2; tuned on",
         "STAND-IN, SCALE 0.2"),
        ((True, ""), "adult: stand-in, SCALE unknown; tuned on", "STAND-IN, SCALE unknown"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("here", [{"scale": None}, {"scale": 0.5}, {"unavailable": "not here"}])
def test_sets_are_what_was_measured_whatever_is_on_the_machine_of_the_report(
    recorded, marked, listed, here
):
    profile = Profile.model_validate(
        {"version": 1, "name": "x", "title": "x", "sets": [{"data": "adult", "tuned": True}]}
    )
    planned = SimpleNamespace(
        profile=profile, sources={"adult": Source(profile.sets[0].data, **here)}
    )
    part = of_source(*recorded)
    result = Found(planned, [part])
    assert source_text(result, "adult", part.groups[0]) == marked
    (row,) = write._sets(result)
    assert row["rows of"] == listed


def test_sets_that_were_not_measured_are_what_they_would_be():
    profile = Profile.model_validate(
        {"version": 1, "name": "x", "title": "x", "sets": [{"data": "adult"}]}
    )

    def what(**here):
        source = Source(profile.sets[0].data, **here)
        (row,) = write._sets(Found(SimpleNamespace(profile=profile, sources={"adult": source}), []))
        return row["rows of"]

    assert what() == "the set itself"
    assert what(scale=0.5) == "STAND-IN, SCALE 0.5"
    assert what(unavailable="not here") == "left out: not here"
