"""Convergence plots: the curves' arithmetic, and files a browser and a printer can read."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.records.read import Results, read_results
from svmbench.report.curves import CurveTable, Trajectory, median_curve
from svmbench.report.plots import write_plots


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return read_results(folder)


def written_plots(results) -> list[Path]:
    return write_plots(results, CurveTable(results))


@pytest.fixture(scope="module")
def small(make_results, tmp_path_factory) -> Results:
    """Few curves: quick to draw."""
    folder = make_results(
        tmp_path_factory.mktemp("small") / "few",
        repeats=3,
        lambdas=(1e-5,),
        labels=("sgd-m", "sgd-m(schedule=blocks)", "dcd", "adagrad", "svmperf"),
    )
    return read_results(folder)


@pytest.fixture(scope="module")
def written(small) -> list[Path]:
    return written_plots(small)


def trace(x, y, state="converged"):
    return Trajectory(np.array(x, dtype=float), np.array(y, dtype=float), state)


def at(curve, x):
    return float(curve.middle[np.flatnonzero(curve.x <= x)[-1]])


# ---------------------------------------------------------------- curves


def test_curve_of_one_run_is_the_run_itself():
    curve = median_curve([trace([1, 10, 100], [1.0, 0.1, 0.01])])
    assert [at(curve, x) for x in (1, 9.9, 10.3, 99, 100)] == pytest.approx([1, 1, 0.1, 0.1, 0.01])
    np.testing.assert_allclose(curve.low, curve.middle)
    np.testing.assert_allclose(curve.high, curve.middle)
    assert curve.fate == "reached"


def test_curve_ends_where_the_median_run_arrives():
    runs = [trace([1, end], [1.0, 0.001]) for end in (10, 20, 30, 40, 50)]
    curve = median_curve(runs)
    assert curve.x[-1] == 30
    assert curve.middle[-1] == pytest.approx(0.001)
    assert curve.middle[-2] == pytest.approx(1.0)


def test_curve_of_an_even_number_ends_at_or_below_what_was_asked():
    curve = median_curve([trace([1, 10], [1.0, 0.001]), trace([1, 20], [1.0, 0.0005])])
    assert curve.x[-1] == 20
    assert curve.middle[-1] == pytest.approx(0.0005)


def test_runs_that_converge_early_do_not_lift_the_median():
    # Without them only the two slow runs would be left, a decade above.
    fast = [trace([1, 10], [0.1, 0.001])] * 2
    slow = [trace([1, 100], [1.0, 0.5], "max_steps")] * 2
    middle = trace([1, 20, 60], [0.5, 0.05, 0.001])
    curve = median_curve([*fast, middle, *slow])
    assert at(curve, 30) == pytest.approx(0.05)
    assert curve.x[-1] == 60


def test_runs_that_hit_a_limit_are_left_out_after_it():
    runs = [
        trace([1, 10], [1.0, 0.5], "time_limit"),
        trace([1, 100], [1.0, 0.3], "time_limit"),
        trace([1, 1000], [1.0, 0.2], "time_limit"),
    ]
    curve = median_curve(runs)
    assert curve.x[-1] == 100  # one of three is less than half
    assert curve.fate == "limit"


def test_diverged_runs_count_as_above_everything():
    runs = [trace([1, 10], [1.0, 90.0], "diverged")] * 2 + [trace([1, 100], [1.0, 0.1])]
    curve = median_curve(runs)
    assert curve.x[-1] == 10
    assert curve.fate == "diverged"


@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=8),
            st.sampled_from(["converged", "max_steps", "time_limit", "diverged", "failed"]),
            st.floats(1e-3, 1.0),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_median_lies_in_its_band_and_among_the_values(runs):
    traces = [
        trace(first * 2.0 ** np.arange(len(values)), values, state) for values, state, first in runs
    ]
    curve = median_curve(traces)
    if curve is None:
        return
    values = [value for values, _, _ in runs for value in values]
    assert np.isfinite([curve.x, curve.middle, curve.low, curve.high]).all()
    assert (np.diff(curve.x) > 0).all()
    assert (curve.low <= curve.middle * (1 + 1e-9)).all()
    assert (curve.middle <= curve.high * (1 + 1e-9)).all()
    assert min(values) * (1 - 1e-9) <= curve.low.min()
    assert curve.high.max() <= max(values) * (1 + 1e-9)


# ---------------------------------------------------------------- files


def test_one_figure_a_data_set_and_kind(written):
    assert sorted(path.name for path in written) == sorted(
        f"{name}-{kind}.png"
        for name in ("adult", "covtype-stand-in")
        for kind in ("log-primal", "log-suboptimality")
    )
    assert sorted(written[0].parent.iterdir()) == sorted(written)  # no temporary file is left


def test_same_results_give_the_same_files(small, written):
    before = {path: path.read_bytes() for path in written}
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": None}):  # the user's own
        assert written_plots(small) == written
        assert matplotlib.rcParams["font.size"] == 20
    assert {path: path.read_bytes() for path in written} == before


def test_no_plot_when_none_was_asked_for(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=1, labels=("dcd",), plots=[])
    results = read_results(folder)
    assert written_plots(results) == []
