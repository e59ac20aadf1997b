"""Ratios, bounds and verdicts of a benchmark, from numbers whose answers are known."""

from __future__ import annotations

import gc
import json
import math
import weakref
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.bench import bounds, doubts, rows, versus, write
from svmbench.bench import found as findings
from svmbench.bench.bounds import judge_bounds
from svmbench.bench.carry_out import carry_out
from svmbench.bench.champion import ablations, named
from svmbench.bench.found import Found, Measured
from svmbench.bench.measure import READERS
from svmbench.bench.pace import ForeignPace, nanoseconds
from svmbench.bench.plan import plan
from svmbench.bench.profile import (
    Growth,
    Profile,
    Program,
    ReaderName,
    SweepPart,
    solver_entries,
)
from svmbench.bench.stated_bounds import StatedBound, load_bounds, measured_by
from svmbench.bench.tables import fastest, ratios
from svmbench.bench.tables.bounds import aimed_text
from svmbench.bench.tables.columns import over_arrays, source_text
from svmbench.bench.tasks import Task, read_task, repeats_of, run_job, run_task, solver_job
from svmbench.bench.write import aims
from svmbench.claims.measured import MeasuredRow
from svmbench.config import Sweep
from svmbench.data.cache import open_cached
from svmbench.data.libsvm import read_libsvm
from svmbench.errors import ConfigError
from svmbench.evidence import LEVEL, judge, paired
from svmbench.harness.options import Reporter
from svmbench.harness.sources import Source
from svmbench.kernels.counters import Counters
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.peers.peer import TOLERANCES

GATHERS = [
    findings.row(
        [
            {"set": "this machine", "stand_in": False, "label": level, "repeat": repeat,
             "table_bytes": size, "gather_ns": once, "gather_add_ns": twice,
             "stream_gb_per_second": speed}
            for repeat, speed in enumerate([20.0, 30.0, 25.0])
        ]
    )
    for level, size, once, twice in [("L1", 1000, 0.2, 0.4), ("memory", 10**9, 4.0, 8.0)]
]  # fmt: skip


def epochs(times=1, **facts):
    """Epochs of two solvers on a set, in so many times the repeats."""
    shared = {"set": "adult", "stand_in": False, "storage": "uint16+float32", "m": 1000, "d": 125,
              "nnz": 4000, "how": "", "state": "converged"}  # fmt: skip
    values = {"dcd": [2.0, 2.0, 1.0], "liblinear": [4.0, None]}
    groups = [
        findings.row(
            [
                {**shared, **facts, "label": label, "repeat": repeat, "ns_per_nonzero": value}
                for repeat, value in enumerate(found * times)
            ]
        )
        for label, found in values.items()
    ]
    return Measured("epochs-adult", "epochs", "adult", groups)


def group(label, seconds, *, solver="dcd", accuracy=0.01, state="converged", spent=1.0):
    """A row of a sweep's tables: one run a repeat, nan where it did not arrive."""
    runs = pd.DataFrame(
        {
            "repeat": range(len(seconds)),
            f"seconds_to_{accuracy!r}": seconds,
            f"last_above_seconds_{accuracy!r}": math.nan,
            "state": state,
            "horizon": math.nan,
            "train_seconds": spent,
            "limit_seconds": spent if state == "time_limit" else 60.0,
            "max_epochs": math.nan,
            "C": math.nan,
            "epochs": 1.0,
        }
    )
    return Group("adult", False, 1e-5, solver, label, runs)


SWEPT = Measured("core", "oracle", "adult", [], accuracies=(0.01,))


def compared(ours, theirs):
    """A row against some others; None if they make no pairs."""
    rows = tuple(MeasuredRow("core", each) for each in theirs)
    asked = Asked("seconds", 0.01)
    found = versus.side_by_side(SWEPT, MeasuredRow("core", ours), rows, asked)
    return found[0] if found else None


def test_a_part_keeps_its_comparisons_and_nothing_else_does():
    part = replace(SWEPT, compared={})
    ours, theirs = (MeasuredRow("core", group(label, [1.0, 2.0])) for label in ("dcd", "liblinear"))
    asked = Asked("seconds", 0.01)
    first = versus.side_by_side(part, ours, (theirs,), asked)
    assert first
    assert versus.side_by_side(part, ours, (theirs,), asked) is first
    left = weakref.ref(first[0])
    del first, part
    gc.collect()
    assert left() is None


#: Evidence that decides a question by itself.
ALONE = 2 / LEVEL


def test_of_several_programs_the_fastest_of_each_repeat_counts():
    ours = group("dcd", [1.0, 1.0, 1.0])
    theirs = [
        group("liblinear", [2.0, 8.0, math.nan], solver="liblinear"),
        group("linear-svc", [4.0, 4.0, 4.0], solver="linear-svc"),
    ]
    one = compared(ours, theirs)
    assert (one.pairs.a, one.pairs.b) == ((1.0, 1.0, 1.0), (2.0, 4.0, 4.0))
    assert one.estimate == pytest.approx(4.0)
    assert (one.ours, one.theirs, one.program, one.censored) == (
        1.0,
        4.0,
        "linear-svc",
        False,
    )


def test_who_never_reaches_it_counts_with_what_was_spent():
    theirs = group("liblinear", [math.nan] * 2, solver="liblinear", state="max_steps", spent=3.0)
    one = compared(group("dcd", [0.5, 0.5]), [theirs])
    assert one.censored
    assert (one.theirs, one.program) == (math.inf, "")
    assert one.estimate == pytest.approx(6.0)
    assert one.interval(ALONE)[1] == math.inf


def test_a_program_that_failed_would_not_have_reached_it_in_any_time():
    theirs = [
        group("liblinear", [math.nan] * 2, solver="liblinear", state="failed", spent=0.1),
        group("rehline", [math.nan] * 2, solver="rehline", state="max_steps", spent=3.0),
    ]
    one = compared(group("dcd", [0.5, 0.5]), theirs)
    assert one.estimate == pytest.approx(6.0)


@pytest.mark.parametrize("theirs", [(math.nan, 4.0), (math.nan, math.nan)])
def test_pairs_in_which_nobody_reaches_it_say_nothing(theirs):
    ours = group("dcd", [math.nan, 2.0], state="max_steps")
    rival = group("liblinear", theirs, solver="liblinear", state="max_steps", spent=[9.0, 8.0])
    one = compared(ours, [rival])
    assert one.informative == 1
    assert one.estimate == pytest.approx(np.fmin(theirs[1], 8.0) / 2.0)
    assert one.censored == math.isnan(theirs[1])


def test_programs_that_are_not_installed_are_not_compared():
    theirs = group("snapml", [math.nan] * 2, solver="snapml", state="not_installed")
    assert compared(group("dcd", [0.5, 0.5]), [theirs]) is None


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


def test_nanoseconds_are_of_a_stored_nonzero_and_leave_out_what_took_no_time():
    assert nanoseconds(16e-6, 2.0, 4000) == pytest.approx(2.0)
    assert nanoseconds(-1e-6, 1.0, 4000) is None
    part = epochs()
    dcd, liblinear = part.groups
    assert samples(dcd, part.asked()) == {0: 2.0, 1: 2.0, 2: 1.0}
    assert samples(liblinear, part.asked()) == {0: 4.0}


def test_the_floor_is_the_larger_of_memory_and_core():
    # 6 bytes an entry and 8 a row of 4 entries, at 25 GB/s; 125 doubles just fit the first level
    floor = findings.machine_floor(GATHERS, epochs().groups[0])
    assert (floor.stream, floor.core, floor.level) == (pytest.approx(8 / 25), 0.2 + 0.4, "L1")
    assert floor.least == floor.core
    assert findings.machine_floor(GATHERS, epochs(d=126).groups[0]).level == "memory"
    dense = findings.machine_floor(GATHERS, epochs(storage="dense float32").groups[0])
    assert (dense.least, dense.core) == (pytest.approx(4 / 25), 0.0)
    assert findings.machine_floor([], epochs().groups[0]) is None


def point(at, m, d, seconds, repeats=1):
    return findings.row(
        [
            {"set": "dense", "stand_in": False, "label": f"{m} x {d}", "point": at, "m": m, "d": d,
             "nnz": m * d, "array_bytes": 4 * m * d, "peak_bytes": 5 * m * d, "repeat": repeat,
             "state": "converged",
             "seconds_per_epoch": seconds}
            for repeat in range(repeats)
        ]
    )  # fmt: skip


@given(st.floats(0.1, 10.0), st.floats(0.2, 5.0))
def test_growth_is_from_one_size_to_the_next(seconds, factor):
    points = [point(0, 100, 4, 1.0), point(1, 200, 4, 2.0 * factor), point(2, 100, 8, seconds)]
    along_m, along_d = findings.steps([MeasuredRow("growth", one) for one in points])
    assert (along_m.axis, along_m.grown, along_d.axis, along_d.slowed) == ("m", 2.0, "d", seconds)
    assert along_m.slowed == pytest.approx(2.0 * factor)
    assert over_arrays(points[0]) == 1.25


def found(*parts):
    """What a benchmark found, of these parts alone."""
    return Found(SimpleNamespace(), list(parts))


def of_source(stand_in, source, scale):
    """The runs of a sweep, and a measurement outside the sweeps, on the same rows."""
    size = {"m": 1000, "d": 125, "nnz": 4000}
    ran = group("dcd", [1.0])
    runs = ran.runs.assign(data_source=source, **size)
    swept = replace(SWEPT, groups=[replace(ran, stand_in=stand_in, runs=runs)], results=runs)
    return swept, epochs(stand_in=stand_in, scale=scale)


@pytest.mark.parametrize(
    ("recorded", "marked", "listed"),
    [
        ((False, "files", None), "tuned on", "the set itself"),
        ((True, 'stand-in {"scale": 0.2}', 0.2), "adult: stand-in, SCALE 0.2; tuned on",
         "STAND-IN, SCALE 0.2"),
        ((True, "", None), "adult: stand-in, SCALE unknown; tuned on", "STAND-IN, SCALE unknown"),
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
    for part in of_source(*recorded):
        result = Found(planned, [part])
        assert source_text(result, "adult", part.groups[0]) == marked
        (row,) = write._sets(result)
        assert row["what"] == listed


def test_sets_that_were_not_measured_are_what_they_would_be():
    profile = Profile.model_validate(
        {"version": 1, "name": "x", "title": "x", "sets": [{"data": "adult"}]}
    )

    def what(**here):
        source = Source(profile.sets[0].data, **here)
        (row,) = write._sets(Found(SimpleNamespace(profile=profile, sources={"adult": source}), []))
        return row["what"]

    assert what() == "the set itself"
    assert what(scale=0.5) == "STAND-IN, SCALE 0.5"
    assert what(unavailable="not here") == "left out: not here"


def judged(bound, result):
    results = judge_bounds(result, [bound]).results
    return [(one.place, one.verdict, one.short_by) for one in results]


def test_a_bound_is_reached_or_missed_by_a_factor():
    result = found(epochs(20))
    bound = StatedBound(
        text="t", kind="reaches", part="epochs", solver="dcd", sets=["adult", "mnist"], at_most=0.8
    )
    assert judged(bound, result) == [
        ("adult, dcd", "does not hold", pytest.approx(2.5)),
        ("mnist", "not testable", 1.0),
    ]
    reached = bound.model_copy(update={"at_most": 2.1, "sets": ()})
    assert judged(reached, result) == [("adult, dcd", "holds", 1.0)]


def test_bounds_of_held_out_sets_are_told_apart(monkeypatch):
    monkeypatch.setattr(bounds, "last_cache", lambda: 1000)
    reached = StatedBound(text="t", kind="reaches", part="epochs", solver="dcd", at_most=0.8)
    alike = StatedBound(text="t", kind="alike", part="growth", within=1.15)
    points = [point(at, m, 4, s) for at, (m, s) in enumerate([(200, 2.0), (400, 5.0)])]
    for held_out in (False, True):
        parts = (epochs(), Measured("growth-dense", "growth", "dense", points))
        result = found(*(replace(part, held_out=held_out) for part in parts))
        drafts = judge_bounds(result, [reached, alike]).results
        assert [one.held_out for one in drafts] == [held_out, held_out]


def test_a_bound_of_few_repeats_is_open_and_says_what_would_decide_it():
    bound = StatedBound(text="t", kind="reaches", part="epochs", solver="dcd", at_most=0.8)
    (one,) = judge_bounds(found(epochs()), [bound]).results
    assert (one.verdict, one.measured, one.short_by) == (
        "open",
        pytest.approx(2.0),
        pytest.approx(2.5),
    )
    assert one.part.more > 0
    assert one.takes == f"It would take about {one.part.more} more repeats."
    (more,) = judge_bounds(found(epochs(20)), [bound]).results
    assert (more.verdict, more.takes) == ("does not hold", "")
    assert bound.at_most < more.low <= more.measured <= more.high


def test_a_bound_may_be_a_multiple_of_what_this_machine_allows():
    floor = {"text": "t", "kind": "reaches", "part": "epochs", "solver": "dcd", "floor": True}
    gathers = Measured("physics", "physics", "this machine", GATHERS)
    # 2 ns a nonzero, where a gather and a gathered addition take 0.2 + 0.4 ns
    for at_most, verdict in ((1.5, "does not hold"), (3.5, "holds")):
        bound = StatedBound.model_validate(floor | {"at_most": at_most})
        (one,) = judge_bounds(found(epochs(20), gathers), [bound]).results
        assert (one.verdict, one.measured) == (verdict, pytest.approx(2.0 / 0.6))
        assert aimed_text(bound) == f"≤ {at_most:g}×"
        # Without the speeds of the machine, there is no such bound.
        (one,) = judge_bounds(found(epochs(20)), [bound]).results
        assert one.verdict == "not testable"


def test_only_epochs_of_one_repeat_are_compared():
    ratio = StatedBound(
        text="t", kind="faster", part="epochs", solver="dcd", over="liblinear", by=4
    )
    ((_, verdict, short_by),) = judged(ratio, found(epochs()))
    assert (verdict, short_by) == ("open", pytest.approx(2.0))


def test_readers_and_texts_are_compared_repeat_by_repeat():
    def rows(kind, of_kind, **more):
        named = findings.grouped(of_kind, lambda one: one["label"]).values()
        shared = {"set": "adult", "stand_in": False, "state": "converged"}
        groups = [findings.row([shared | one for one in found]) for found in named]
        return Measured(f"{kind}-adult", kind, "adult", groups, **more)

    readings = [
        {"label": label, "repeat": repeat, "seconds": s}
        # The first repeat of one, and the last of the other, were not made.
        for repeat, label, s in [
            (0, "svmbench", 1.0),
            *[(k, "svmbench", 2.0) for k in range(1, 20)],
            *[(k, "scikit-learn", 16.0) for k in range(1, 20)],
            (20, "scikit-learn", 99.0),
        ]
    ]
    texts = [
        {"label": label, "repeat": repeat, "lambda": 1e-5, "state": state, "limit_seconds": 60.0,
         "seconds_to_0.001": seconds, "train_seconds": spent}
        for label, seconds, spent, state in [
            ("svmbench", 2.0, 9.0, "converged"),
            ("liblinear", 8.0, 9.0, "converged"),
            ("slow", None, 12.0, "max_steps"),
        ]
        for repeat in range(20)
    ]  # fmt: skip
    text = rows("text", texts, accuracies=(1e-3,))
    result = found(rows("reading", readings), text)
    faster = StatedBound(
        text="t", kind="faster", part="reading", solver="svmbench", over="scikit-learn", by=10
    )
    assert judged(faster, result) == [("adult", "does not hold", pytest.approx(10 / 8))]
    sooner = StatedBound(
        text="t", kind="faster", part="text", solver="svmbench", over="liblinear", by=3.5
    )
    assert judged(sooner, result) == [("adult, λ = 1e-5, ε = 0.001", "holds", 1.0)]
    assert samples(text.groups[2], text.asked(1e-3))[0] == math.inf
    # The slow one was given up after 12 s, which is 6 times ours.
    for at_least, verdict in ((5.0, "holds"), (7.0, "open")):
        bound = sooner.model_copy(update={"over": ("slow",), "by": at_least})
        ((_, found_there, _),) = judged(bound, result)
        assert found_there == verdict


def test_growth_and_memory_are_judged_beyond_the_caches_only(monkeypatch):
    monkeypatch.setattr(bounds, "last_cache", lambda: 1000)
    points = [
        point(at, m, 4, s, repeats=20)
        for at, (m, s) in enumerate([(100, 1.0), (200, 2.0), (400, 5.0), (800, 10.0)])
    ]
    result = found(Measured("growth-dense", "growth", "dense", points))
    linear = judge_bounds(
        result, [StatedBound(text="t", kind="alike", part="growth", within=1.15)]
    ).results
    assert [(one.measured, one.verdict) for one in linear] == [
        (pytest.approx(1.25), "does not hold"),
        (pytest.approx(1.0), "holds"),
    ]
    memory = judge_bounds(
        result,
        [
            StatedBound(
                text="t", kind="reaches", part="growth", measure="memory_over_rows", at_most=1.3
            )
        ],
    ).results
    assert [(one.place, one.verdict) for one in memory] == [
        ("dense, 200 x 4", "holds"),
        ("dense, 400 x 4", "holds"),
        ("dense, 800 x 4", "holds"),
    ]


def test_growth_has_no_lower_bound_but_a_factor():
    with pytest.raises(ValueError, match="a bound of kind alike needs 'within'"):
        StatedBound(text="t", kind="alike", part="growth")
    with pytest.raises(ValueError, match="a bound of kind alike has no 'by'"):
        StatedBound(text="t", kind="alike", part="growth", within=1.15, by=1.15)


def swept(groups, monkeypatch):
    """A sweep's results of which these are the rows."""
    result = found(replace(SWEPT, groups=groups))
    for module in (versus, bounds):
        monkeypatch.setattr(module, "champion", lambda: "dcd")
    return result


def test_a_peer_that_is_ahead_is_named(monkeypatch):
    rows_of = [
        group("dcd", [2.0] * 20),
        group("snapml", [1.0] * 20, solver="snapml"),
        group("sgd-s", [0.1] * 20, solver="sgd-s"),
    ]
    bound = StatedBound(text="t", kind="faster", by=1)
    (one,) = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert (one.verdict, one.note) == ("does not hold", "fastest: snapml")
    assert one.measured == pytest.approx(0.5)
    assert one.place == "adult, λ = 1e-5, ε = 0.01"


def test_of_several_sweeps_of_a_problem_the_one_counts_in_which_a_peer_does_best(monkeypatch):
    result = swept([group("dcd", [1.0] * 3), group("linear-svc", [4.0] * 3, solver="linear-svc")],
                   monkeypatch)  # fmt: skip
    other = [group("dcd", [1.0]), group("rehline", [0.5], solver="rehline")]
    never = group("liblinear", [math.nan], solver="liblinear", state="max_steps", spent=0.1)
    for groups in (other, [group("dcd", [1.0]), never]):
        result.parts.extend(swept(groups, monkeypatch).parts)
    (one,) = ratios.against_fastest(result)
    assert (one.estimate, one.program) == (pytest.approx(0.5), "rehline")
    assert one.among == ("linear-svc", "rehline", "liblinear")
    # A ratio to named programs is that of the most pairs.
    bound = StatedBound(text="t", kind="faster", over=["linear-svc", "liblinear"], by=1)
    (one,) = judge_bounds(result, [bound]).results
    assert (one.measured, one.part.pairs) == (pytest.approx(4.0), 3)
    # That no peer is ahead is asked of every sweep: none may be chosen by its times.
    ahead = judge_bounds(result, [StatedBound(text="t", kind="faster", by=1)]).results
    assert [round(one.measured, 6) for one in ahead] == [4.0, 0.5, 0.1]


def test_who_is_fastest_is_asked_within_a_sweep(monkeypatch):
    monkeypatch.setattr(fastest, "champion", lambda: "dcd")
    quiet = [group("dcd", [1.0] * 3), group("liblinear", [2.0] * 3, solver="liblinear"),
             group("rehline", [1.5] * 3, solver="rehline")]  # fmt: skip
    busy = [group("dcd", [4.0] * 3), group("rehline", [3.0] * 3, solver="rehline")]
    result = swept(quiet, monkeypatch)
    result.parts.append(replace(SWEPT, part="peers", groups=busy))
    shown = {one.solver: one for one in fastest.fastest_entries(result)}
    assert {name: (one.sweep, one.seconds.median, one.ratio) for name, one in shown.items()} == {
        "rehline": ("peers", 3.0, pytest.approx(0.75)),
        "dcd": ("peers", 4.0, 1.0),
        "liblinear": ("core", 2.0, pytest.approx(2.0)),
    }
    # The least seconds are the champion's of the other sweep; the fastest is rehline.
    ((row,),) = [each.rows for each in fastest.fastest_table(result, ALONE).sections]
    assert [cell.text for cell in row.cells if cell.best] == ["3.00"]


def test_a_median_that_is_not_reached_says_how_many_repeats_reached_it(monkeypatch):
    monkeypatch.setattr(fastest, "champion", lambda: "dcd")
    late = group("rehline", [math.nan] * 3, solver="rehline", state="max_steps", spent=3.0)
    result = swept([group("dcd", [1.0] * 3), late], monkeypatch)
    ((row,),) = [each.rows for each in fastest.fastest_table(result, ALONE).sections]
    (cell,) = (cell for cell in row.cells if cell.text == "not reached")
    assert cell.hint.endswith(", 0 of 3")


@pytest.mark.parametrize(
    ("ours", "theirs", "standing", "mark"),
    [
        ([1.0] * 20, [0.5] * 20, "peer ahead", "✗ "),
        ([1.0] * 3, [0.1, 4.0, 0.2], "open", "(✗) "),
        ([1.0] * 3, [2.0] * 3, "open", "2"),
        ([1.0] * 20, [2.0] * 20, "champion ahead", "2"),
        ([1.0] * 2, [math.nan] * 2, "no peer reached it", "≥ "),
        ([math.nan] * 2, [math.nan] * 2, "nobody reached it", "nobody"),
        ([math.nan] * 20, [1.0] * 20, "peer ahead", "✗ not reached"),
    ],
)
def test_who_is_ahead_is_counted_and_marked(ours, theirs, standing, mark, monkeypatch):
    state = "max_steps" if math.isnan(theirs[0]) else "converged"
    rows_of = [
        group("dcd", ours, state="max_steps" if math.isnan(ours[0]) else "converged"),
        group("rehline", theirs, solver="rehline", state=state, spent=3.0),
    ]
    (one,) = ratios.against_fastest(swept(rows_of, monkeypatch))
    assert one.standing(ALONE) == standing
    cell = ratios.standing_cell(one, ALONE)
    assert cell.text.startswith(mark)
    assert ("✗" in cell.text) == (one.estimate < 1.0)
    said = ratios.standings([one], ALONE)
    assert f"a peer is shown ahead in {int(standing == 'peer ahead')}" in said
    assert f"the champion is shown ahead in {int(standing == 'champion ahead')}," in said
    if standing == "open":
        slower = int(one.estimate < 1.0)
        assert f"neither is shown ahead in 1 (a peer is faster so far in {slower})." in said


def test_the_reason_of_a_miss_stands_where_it_is_missed_and_nowhere_else():
    bound = StatedBound.model_validate(
        {
            "text": "t", "kind": "reaches", "part": "epochs", "solver": "dcd", "at_most": 1.0,
            "tried": [
                {"sets": "adult", "text": "Rows wait."},
                {"sets": "mnist", "text": "Not here."},
                {"lambda": 1e-4, "text": "Nor at this λ."},
            ],
        }
    )  # fmt: skip
    result = found(epochs())
    (missed,) = judge_bounds(result, [bound]).results
    assert missed.tried == "Rows wait."
    (aim,) = aims([missed])
    assert (aim.counts, aim.verdict) == ("0 of 1; 1 open", "open")
    assert aim.tried == {"Rows wait.": ["adult, dcd"]}
    (reached,) = judge_bounds(result, [bound.model_copy(update={"at_most": 9.0})]).results
    assert reached.tried == ""
    assert aims([reached])[0].nearest is reached


def test_a_misspelt_reason_is_one_line(tmp_path):
    path = tmp_path / "bounds.yaml"
    path.write_text(
        "version: 1\nbounds:\n  - text: t\n    kind: reaches\n    at_most: 1\n"
        "    tried: [{set: adult, text: x}]\n"
    )
    with pytest.raises(ConfigError, match=r"bounds.yaml:6:\d+: unknown key 'set'; .*'sets'"):
        load_bounds(path)


def test_where_no_program_reaches_the_accuracy_only_a_longer_limit_decides(monkeypatch):
    nobody = group("liblinear", [math.nan] * 20, solver="liblinear", state="max_steps", spent=3.0)
    result = swept([group("dcd", [1.0] * 20), nobody], monkeypatch)
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=2)
    (reached,) = judge_bounds(result, [bound]).results
    assert (reached.verdict, reached.high) == ("holds", math.inf)
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert (more.verdict, more.part.more) == ("open", None)
    assert more.takes == (
        "It would take runs of about 4 seconds, which end earlier by their limit of epochs."
    )
    nobody.runs["state"], nobody.runs["limit_seconds"] = "time_limit", 3.0
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert more.takes == "It would take a limit of about 4 seconds."


def test_one_repeat_that_a_peer_does_not_finish_leaves_the_others_as_evidence():
    spent = [1.0] * 19 + [5.0]
    peer = group("liblinear", [1.0] * 19 + [math.nan], solver="liblinear", spent=spent,
                 state="max_steps")  # fmt: skip
    one = compared(group("dcd", [3.0] * 20), [peer])
    assert (one.estimate, one.censored) == (pytest.approx(1 / 3), False)
    low, high = one.interval(ALONE)
    assert low <= one.estimate <= high < 1.0
    for region, verdict in (((1.0, math.inf), "does not hold"), ((0.0, 1.0), "holds")):
        (answer,) = judge([replace(one.question, low=region[0], high=region[1])])
        assert (answer.verdict, answer.more) == (verdict, 0)
        assert (answer.low, answer.high) == (pytest.approx(low), pytest.approx(high))


def test_a_peer_is_ahead_though_it_did_not_finish_one_repeat(monkeypatch):
    rows_of = [
        group("dcd", [3.0] * 20),
        group("liblinear", [1.0] * 19 + [math.nan], solver="liblinear", spent=5.0),
    ]
    result = swept(rows_of, monkeypatch)
    (one,) = judge_bounds(result, [StatedBound(text="t", kind="faster", by=1)]).results
    assert (one.verdict, one.takes) == ("does not hold", "")
    assert one.measured <= one.high < 1.0
    (one,) = versus.comparisons(result)
    assert one.standing(ALONE) == "peer ahead"


@pytest.mark.parametrize(("most", "verdict"), [(1.5, "does not hold"), (2.0, "open")])
def test_time_spent_without_the_accuracy_does_not_show_that_a_ratio_is_small(most, verdict):
    # The ratio is above 5/3, and nothing else is known about it.
    peer = group("liblinear", [math.nan] * 20, solver="liblinear", state="max_steps", spent=5.0)
    one = compared(group("dcd", [3.0] * 20), [peer])
    (answer,) = judge([replace(one.question, low=0.0, high=most)])
    assert (answer.verdict, answer.high) == (verdict, math.inf)


def test_no_limit_is_named_that_a_repeat_had_without_the_accuracy(monkeypatch):
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=4)
    for longest, takes in (
        (5.0, "More repeats are unlikely to decide it: the estimate lies too close to what is "
              "claimed."),
        (1.5, "It would take a limit of about 4 seconds."),
    ):  # fmt: skip
        spent = [1.0, 1.0, longest] * 7
        nobody = group("liblinear", [math.nan] * 21, solver="liblinear", state="time_limit",
                       spent=spent)  # fmt: skip
        result = swept([group("dcd", [1.0] * 21), nobody], monkeypatch)
        (one,) = judge_bounds(result, [bound]).results
        assert (one.verdict, one.takes) == ("open", takes)


@pytest.mark.parametrize(("limit", "pairs"), [(1.9, 1), (2.0, 20)])
def test_skipped_repeats_of_a_program_have_not_spent_the_limit(limit, pairs):
    theirs = group("liblinear", [math.nan] * 20, solver="liblinear")
    theirs.runs["state"] = ["time_limit"] + ["skipped"] * 19
    theirs.runs["limit_seconds"] = limit
    theirs.runs["train_seconds"] = [limit] + [math.nan] * 19
    one = compared(group("dcd", [1.0] * 20), [theirs])
    # They count if the limit is at least twice the champion's time, and then with half of it.
    assert one.pairs.b_least == (limit,) + (limit / 2,) * (pairs - 1)


@pytest.mark.parametrize(("limit", "pairs"), [(1.9, 1), (2.0, 20)])
def test_skipped_repeats_of_the_champion_count_from_twice_the_time_of_the_programs(limit, pairs):
    ours = group("dcd", [math.nan] * 20)
    ours.runs["state"] = ["time_limit"] + ["skipped"] * 19
    ours.runs["limit_seconds"] = limit
    theirs = group("liblinear", [1.0] * 20, solver="liblinear")
    one = compared(ours, [theirs])
    assert one.pairs.a == (math.inf,) * pairs


def test_where_nobody_reaches_the_accuracy_nothing_is_measured(monkeypatch):
    rows_of = [
        group(label, [math.nan] * 20, solver=label, state="max_steps")
        for label in ("dcd", "liblinear")
    ]
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=2)
    (one,) = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert (one.verdict, one.note) == ("not testable", "nobody reached the accuracy")


PLAN = SimpleNamespace(
    sweeps=[SimpleNamespace(name=name, item="adult") for name in ("tight", "core")],
    tasks=[SimpleNamespace(name="epochs-adult")],
)


def doubts_of(results):
    """What further repeats are asked for, of two sweeps of which the second is theirs."""
    return list(doubts.of_bounds(PLAN, results))


def test_open_bounds_ask_for_repeats_of_the_cells_that_they_compare(monkeypatch):
    rows_of = [
        group("dcd", [1.0, 1.1, 0.9]),
        group("liblinear", [3.0, 3.3, 2.9], solver="liblinear"),
        group("linear-svc", [6.0, 6.0, 6.0], solver="linear-svc"),
        group("sgd-s", [6.0, 6.0, 6.0], solver="sgd-s"),
    ]
    bound = StatedBound(text="Faster", kind="faster", over=["liblinear", "linear-svc"], by=2)
    results = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    (doubt,) = doubts_of(results)
    assert doubt.sweep == 1
    assert doubt.cells == tuple(
        ("adult", 1e-5, each) for each in ("dcd", "liblinear", "linear-svc")
    )
    assert doubt.more == results[0].part.more > 0
    assert doubt.text == "Faster (≥ 2): adult, λ = 1e-5, ε = 0.01"


def test_repeats_that_cannot_decide_a_bound_are_not_asked_for(monkeypatch):
    never = group("liblinear", [math.nan] * 3, solver="liblinear", state="time_limit", spent=3.0)
    result = swept([group("dcd", [1.0] * 3), never], monkeypatch)
    (doubt,) = doubts_of(
        judge_bounds(result, [StatedBound(text="t", kind="faster", over="liblinear", by=4)]).results
    )
    assert doubt.more is None


def test_open_bounds_beside_the_sweeps_ask_for_repeats_of_their_measurement():
    bound = StatedBound(text="t", kind="reaches", part="epochs", solver="dcd", at_most=0.8)
    results = judge_bounds(found(epochs()), [bound]).results
    assert doubts_of(results) == []
    assert doubts.repeats_of_tasks(PLAN, results) == {"epochs-adult": results[0].part.more}
    decided = judge_bounds(found(epochs(20)), [bound]).results
    assert doubts.repeats_of_tasks(PLAN, decided) == {}


def test_a_ratio_with_a_wide_interval_asks_for_repeats_though_it_is_decided(monkeypatch):
    rng = np.random.default_rng(1)
    ours, theirs = np.exp(0.7 * rng.standard_normal((2, 14)))
    rows_of = [group("dcd", ours), group("liblinear", 1000 * theirs, solver="liblinear")]
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=2)
    results = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert results[0].verdict == "holds"
    assert results[0].high > doubts.WIDEST * results[0].low
    (doubt,) = doubts_of(results)
    assert doubt.more > 0
    narrow = [group("dcd", [1.0] * 14), group("liblinear", [1000.0] * 14, solver="liblinear")]
    assert doubts_of(judge_bounds(swept(narrow, monkeypatch), [bound]).results) == []


@pytest.mark.parametrize(
    ("scatter", "stand_in", "pairs", "asks"),
    [
        (0.7, False, 14, True),
        (0.0, False, 14, False),
        (0.7, True, 14, False),  # nobody quotes numbers of stand-ins
        (0.0, False, 3, True),  # its interval has no ends yet
    ],
)
def test_ratios_that_may_be_quoted_ask_for_narrow_intervals(
    scatter, stand_in, pairs, asks, monkeypatch
):
    rng = np.random.default_rng(1)
    ours, theirs = np.exp(scatter * rng.standard_normal((2, pairs)))
    rows_of = [group("dcd", ours), group("liblinear", 1000 * theirs, solver="liblinear")]
    rows_of = [replace(each, stand_in=stand_in) for each in rows_of]
    compared = versus.comparisons(swept(rows_of, monkeypatch), ["liblinear"])
    found_there = list(doubts.of_quoted(PLAN, compared, ALONE))
    assert [doubt.sweep for doubt in found_there] == [1] * asks
    assert all(doubt.more > 0 for doubt in found_there)


def test_a_ratio_without_an_upper_bound_does_not_ask_for_a_narrow_interval(monkeypatch):
    never = group("liblinear", [math.nan] * 14, solver="liblinear", state="max_steps", spent=9.0)
    compared = versus.comparisons(
        swept([group("dcd", [1.0] * 14), never], monkeypatch), ["liblinear"]
    )
    assert list(doubts.of_quoted(PLAN, compared, ALONE)) == []


def test_the_bounds_that_come_with_svmbench_are_read():
    known = load_bounds()
    assert {(bound.kind, bound.part) for bound in known} == {
        ("faster", "oracle"), ("faster", "epochs"), ("faster", "reading"), ("faster", "text"),
        ("reaches", "epochs"), ("reaches", "growth"), ("alike", "growth"),
    }  # fmt: skip
    assert [bound.over for bound in known if bound.everywhere] == [()]
    assert all(bound.aim.startswith(("≥", "≤", "within")) for bound in known)


# ---------------------------------------------------------------- what jobs are made of


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


class Tricky(Dcd):
    """A solver with a trick."""

    tricks = (("shrinking", False), ("tolerance", 1.0))


def test_tricks_are_switched_off_one_by_one(monkeypatch):
    monkeypatch.setattr("svmbench.bench.champion.find_solver", lambda name: Tricky)
    assert ablations("dcd") == [
        {"name": "dcd"},
        {"name": "dcd", "label": "dcd without shrinking", "shrinking": False},
        {"name": "dcd", "label": "dcd with tolerance 1.0", "tolerance": 1.0},
    ]


def test_the_champion_goes_by_its_name(monkeypatch):
    monkeypatch.setattr("svmbench.bench.champion.champion", lambda: "dcd")
    assert named({"name": "champion", "shrinking": False}) == {
        "name": "dcd",
        "shrinking": False,
    }
    part = SweepPart.model_validate(
        {"lambda": 1e-3, "accuracy": 1e-2, "solvers": ["champion", "dcd", "sgd-s"]}
    )
    assert solver_entries(part) == [{"name": "dcd"}, {"name": "sgd-s"}]


class Fake:
    """A program that makes ever more passes, the tighter its tolerance."""

    name, foreign = "liblinear", True

    class schema(Parameters):  # noqa: N801
        """What it is told."""

        tolerance: float = parameter(0.0, "A tolerance.", source="a test")

    def __init__(self, first, second):
        self.first, self.second = first, second
        self.parameters = self.schema()

    def convert(self, problem):
        pass

    def start(self, problem, seed):
        self.counters = Counters()

    def advance(self, steps):
        tolerance = self.parameters.tolerance
        passes = 1 if tolerance > self.first else 2 if tolerance > self.second else 50
        self.counters.presentations = 10 * passes


@given(st.floats(1e-3, 4.0), st.floats(1.2, 3.0))
def test_a_second_pass_is_found_however_narrow_its_tolerances(first, ratio):
    problem = SimpleNamespace(data=SimpleNamespace(n_samples=10))
    pace = ForeignPace(Fake(first, first / ratio), problem)
    assert pace.sample(0)[1] == 1.0
    assert pace.how == "runs of 1 and 2 passes"


def test_rows_of_a_size_and_the_text_of_them(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(rows, "last_cache", lambda: 9000)
    dense = Growth(name="dense", nnz_row=4, d=(4, 8), caches=(1.0, 2.0))
    assert rows.sizes(dense) == [(529, 4), (1059, 4), (529, 8)]
    sparse = Growth(name="sparse", nnz_row=5, d=(50,), caches=(1.0,))
    for growth, (m, d), storage in (
        (dense, (529, 8), "dense float32"),
        (sparse, (200, 50), "uint16+float32"),
    ):
        data = open_cached(rows.made_rows(growth, m, d))
        assert (data.n_samples, data.n_features, data.storage) == (m, d, storage)
        assert set(np.unique(data.labels)) == {-1, 1}
        text = tmp_path / "rows.libsvm"
        text.write_bytes(rows._lines(data, 0, m))
        read = read_libsvm(text, n_features=d)
        np.testing.assert_array_equal(read.labels, data.labels)
        np.testing.assert_allclose(
            np.ravel(read.values), np.ravel(data.values), rtol=1e-5, atol=1e-9
        )
        rows.drop_rows(growth, m, d)
        assert open_cached(rows.entry_path(f"bench-{growth.name}-{m}x{d}")) is None


def pretended(monkeypatch, made, state="converged", reason=""):
    """Measurements that do nothing but say that they were made."""

    def pretend(job, seconds):
        made.append((job["label"], job["first"]))
        measured = {"kind": "opening", "set": "rows", "stand_in": False, "seconds": 1.0}
        ended = {"state": state, "reason": reason}
        return [{"label": job["label"], "repeat": job["first"], **measured, **ended}]

    monkeypatch.setattr("svmbench.bench.tasks.run_job", pretend)


def task_of(labels, repeats, prepare=lambda: None, limit=1.0):
    job = {"limit": limit, "solver": solver_job({"name": "dcd"})}
    return Task(
        "some",
        1.0,
        repeats,
        lambda first, count: [
            job | {"label": label, "first": first + at} for at in range(count) for label in labels
        ],
        prepare,
    )


def test_a_task_is_kept_until_what_it_depends_on_changes(tmp_path, monkeypatch):
    made, prepared = [], []
    pretended(monkeypatch, made, "time_limit", "late")
    task = task_of("ab", 2, lambda: prepared.append(len(made)))
    assert run_task(task, tmp_path, math.inf) == "made"
    # The second repeat of what met its limit is not made.
    assert made == [("a", 0), ("b", 0)]
    assert [r["state"] for r in read_task(tmp_path, "some")] == ["time_limit"] * 2 + ["skipped"] * 2
    assert run_task(task, tmp_path, math.inf) == "reused"
    assert prepared == [0]
    changed = task_of("ab", 2, limit=2.0)
    assert run_task(changed, tmp_path, -math.inf) == "left"
    assert run_task(changed, tmp_path, math.inf) == "made"
    (tmp_path / "some.json").write_text(json.dumps({"schema_version": 0}))
    assert read_task(tmp_path, "some") == []


@pytest.mark.parametrize(
    "change",
    [
        {"repeat": ...},
        {"repeat": "0"},
        {"repeat": True},
        {"repeat": -1},
        {"label": 3},
        {"state": []},
        {"reason": ...},
        {"reason": None},
        {"kind": ...},
        {"kind": "walk"},
        {"kind": []},
        {"kind": "growth"},
        {"set": None},
        {"stand_in": 1},
        {"seconds": ...},
        {"seconds": "soon"},
        {"seconds": math.nan},
        {"seconds": 10**400},
        {"scale": {}},
        {"scale": "1"},
    ],
    ids=str,
)
def test_records_of_another_shape_are_made_again(tmp_path, monkeypatch, change):
    made = []
    pretended(monkeypatch, made)
    task, path = task_of("a", 1), tmp_path / "some.json"
    run_task(task, tmp_path, math.inf)
    content = json.loads(path.read_text())
    (record,) = content["results"]
    record |= change
    content["results"] = [{key: value for key, value in record.items() if value is not ...}]
    path.write_text(json.dumps(content))
    assert read_task(tmp_path, "some") == []
    assert repeats_of(tmp_path, "some") == 0
    assert run_task(task, tmp_path, math.inf) == "made"
    assert len(made) == 2


@pytest.mark.parametrize(
    "change", [{"facts": None}, {"facts": 3}, {"results": {"a": 1}}, {"results": [3]}]
)
def test_a_file_of_another_shape_is_made_again(tmp_path, monkeypatch, change):
    made = []
    pretended(monkeypatch, made)
    task, path = task_of("a", 1), tmp_path / "some.json"
    run_task(task, tmp_path, math.inf)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert read_task(tmp_path, "some") == []
    assert run_task(task, tmp_path, math.inf) == "made"


def test_a_wrong_parameter_of_a_solver_is_one_line():
    with pytest.raises(ConfigError, match=r"^solver dcd: no_such: ") as caught:
        solver_job({"name": "dcd", "no_such": 1})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("solver", [{"C": 1}, {"name": 3}, {"name": "dcd", "label": [1]}])
def test_a_solver_without_a_name_is_refused(solver):
    with pytest.raises(ValueError, match="a mapping with 'name'"):
        Program.model_validate({"reader": "svmbench", "solver": solver, "label": "x"})


def test_rows_of_a_storage_that_is_not_known_have_no_bound():
    (own, _) = epochs(storage="int64+float64").groups
    assert findings.machine_floor(GATHERS, own) is None
    (own, _) = epochs(nnz=None).groups
    assert findings.machine_floor(GATHERS, own) is None


def test_an_interval_as_wide_as_numbers_are_asks_for_repeats():
    question = paired([1.0] * 3, [1.0] * 3, low=1.0)
    assert doubts._until_narrow(question, 1e-300, 1e300) > 3


@pytest.mark.parametrize("bound", [0.0, 1e101, math.inf, math.nan])
def test_a_bound_is_a_factor_that_can_be_multiplied(bound):
    with pytest.raises(ValueError, match="Input should be"):
        StatedBound(text="t", kind="reaches", at_most=bound)


def test_further_repeats_of_a_task_are_added_to_those_that_are_there(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made)
    task = task_of("ab", 2)
    assert run_task(task, tmp_path, math.inf) == "made"
    assert run_task(task, tmp_path, math.inf, further=3) == "made"
    assert made == [(label, repeat) for repeat in range(5) for label in "ab"]
    assert repeats_of(tmp_path, "some") == 5
    assert run_task(task, tmp_path, math.inf) == "reused"
    # What is repeated as a whole has no more repeats than it should have.
    assert run_task(task_of("ab", 2, limit=2.0), tmp_path, math.inf) == "made"
    assert repeats_of(tmp_path, "some") == 2


def test_further_repeats_do_not_begin_again_because_something_failed(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made, "failed", "no such module")
    task = task_of("a", 2)
    run_task(task, tmp_path, math.inf)
    run_task(task, tmp_path, math.inf, further=1)
    assert made == [("a", 0), ("a", 1), ("a", 2)]
    run_task(task, tmp_path, math.inf)
    assert made[3:] == [("a", 0), ("a", 1)]


def test_further_repeats_are_made_until_no_bound_asks_for_them(tmp_path, monkeypatch):
    made = []
    pretended(monkeypatch, made)
    plan = SimpleNamespace(tasks=[task_of("a", 4)], parts=tmp_path, sweeps=[], budget=None)
    asked = iter([{"some": 10}, {"some": 2}, {}])
    progress = carry_out(plan, Reporter(), beside=lambda: next(asked, {}))
    assert len(made) == 4 + 4 + 1  # half of what is asked for, a whole set of repeats at most
    assert progress.tasks == {"some": "made"}


def test_a_measurement_that_dies_says_why():
    assert run_job({"kind": "nothing", "label": "a", "first": 3}, 60.0) == [
        {
            "kind": "nothing",
            "label": "a",
            "repeat": 3,
            "state": "failed",
            "reason": "KeyError: 'nothing'",
        }
    ]


def test_no_two_sets_of_a_profile_share_a_label():
    sets = [{"data": "adult"}, {"data": "adult"}]
    with pytest.raises(ValueError, match="a second data set 'adult'"):
        Profile.model_validate({"version": 1, "name": "x", "title": "x", "sets": sets})


def test_any_label_of_a_set_names_files(tmp_path):
    sets = [
        {"data": {"name": "tiny-separable", "bias": 1.0}},
        {"data": {"name": "tiny-separable", "label": "a/b c"}},
    ]
    part = {"lambda": [0.01], "accuracy": [0.1], "solvers": ["dcd"]}
    described = {"version": 1, "name": "x", "title": "x", "sets": sets, "sweeps": {"oracle": part}}
    planned = plan(Profile.model_validate(described), tmp_path, None).sweeps
    assert [sweep.item for sweep in planned] == ["tiny-separable+bias", "a/b c"]
    assert [sweep.folder for sweep in planned] == [
        tmp_path / "sweeps" / "oracle" / name for name in ("tiny-separable-bias", "a-b-c")
    ]


def test_no_two_sets_of_a_profile_share_their_files():
    sets = [{"data": {"name": "adult", "label": label}} for label in ("a b", "a-b")]
    with pytest.raises(ValueError, match="'a-b' has the same label in names of files"):
        Profile.model_validate({"version": 1, "name": "x", "title": "x", "sets": sets})


def test_every_reader_of_profiles_can_be_measured():
    assert set(READERS) == set(get_args(ReaderName))


def test_stand_ins_are_the_same_whatever_time_a_call_has(tmp_path):
    profile = Profile.model_validate(
        {"version": 1, "name": "x", "title": "x", "budget": "10m", "sets": [{"data": "SUSY"}]}
    )
    scales = {plan(profile, tmp_path, budget).sources["SUSY"].scale for budget in (1.0, 1e5)}
    assert len(scales) == 1
    assert None not in scales


def test_programs_have_looks_of_their_own():
    runs = pd.DataFrame({"solver": ["dcd", "program", "program"], "label": ["dcd", "one", "two"]})
    looks = write._looks([SimpleNamespace(runs=runs)])
    plain = write._looks([])
    assert set(looks) - set(plain) == {"one", "two"}
    assert {name: looks[name] for name in plain} == plain
