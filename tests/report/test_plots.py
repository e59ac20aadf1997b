"""Convergence plots: the curves' arithmetic, and files a browser and a printer can read."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Annotation

from svmbench.records.read import Results, read_results
from svmbench.report.curves import Trajectory, cut_floor, lifted, median_curve
from svmbench.report.plots import draw, write_plots
from svmbench.report.style import PALETTE, looks


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return read_results(folder)


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
    return write_plots(small)


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


def test_no_run_no_curve():
    assert median_curve([]) is None


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


def test_a_panel_reaches_up_to_the_lowest_stretch_of_every_curve():
    inside = median_curve([trace([1, 10], [50.0, 0.1])])
    above = median_curve([trace([1, 10], [50.0, 20.0], "max_steps")])
    assert lifted(3.0, [inside]) == 3.0
    assert lifted(3.0, [inside, above]) == pytest.approx(40.0)
    level = median_curve([trace([1, 10], [21.0, 20.0], "max_steps")])
    assert lifted(3.0, [inside, level]) == pytest.approx(21.0)


def test_a_panel_does_not_follow_a_curve_into_rounding():
    assert cut_floor(2e-15, [1e-2, 1e-3]) == pytest.approx(1e-5)
    assert cut_floor(1e-4, [1e-2, 1e-3]) == 1e-4
    assert cut_floor(2e-15, [0.0]) == cut_floor(2e-15, []) == 2e-15


def test_curves_that_left_for_good_do_not_press_the_others_flat():
    diverged = median_curve([trace([1, 10], [50.0, 20.0], "diverged")])
    hopeless = median_curve([trace([1, 10], [1e9, 1e8], "max_steps")])
    assert lifted(3.0, [diverged, hopeless]) == 3.0
    assert (
        lifted(3.0, [hopeless, median_curve([trace([1], [10.0], "max_steps")])], log=False) == 3.0
    )


# ---------------------------------------------------------------- looks


def test_one_colour_a_solver_and_one_dash_a_label(results):
    look = looks(results)
    assert look["sgd-m"].colour == look["sgd-m(schedule=blocks)"].colour == "#d55e00"
    assert look["sgd-m"].dash == "solid"
    assert look["sgd-m(schedule=blocks)"].dash != "solid"
    by_solver = results.runs.drop_duplicates("label").groupby("solver")["label"].first()
    colours = [look[label].colour for label in by_solver]
    assert len(set(colours)) == len(colours)  # though two bring none, and two the same


def test_text_is_dark_enough_to_read(results):
    for look in looks(results).values():
        rgb = np.array(matplotlib.colors.to_rgb(look.ink))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (linear @ (0.2126, 0.7152, 0.0722) + 0.05) >= 4.49


def test_palette_has_no_colour_twice():
    assert len(set(PALETTE)) == len(PALETTE)


# ---------------------------------------------------------------- figures


def annotations(axes):
    return [
        text
        for text in axes.texts
        if isinstance(text, Annotation) and not text.get_text().startswith("P*")
    ]


@pytest.mark.parametrize("kind", ["log-primal", "log-suboptimality"])
def test_labels_do_not_cover_each_other(results, kind):
    (dataset, stand_in), groups = next(iter(results.groups.items()))
    figure = draw(results, dataset, stand_in, groups, kind)
    figure.canvas.draw()
    assert len(figure.axes) == 4
    for axes in figure.axes:
        labels = annotations(axes)
        assert len(labels) >= 8
        boxes = [matplotlib.text.Text.get_window_extent(label).padded(-1.0) for label in labels]
        assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
        canvas = figure.bbox
        assert all(canvas.x0 <= box.x0 and box.x1 <= canvas.x1 for box in boxes)


def test_panels_are_epochs_above_and_seconds_below(small):
    (dataset, stand_in), groups = next(iter(small.groups.items()))
    above, below = draw(small, dataset, stand_in, groups, "log-suboptimality").axes
    assert above.get_title(loc="left") == "λ = 1e-5"
    assert (above.get_xlabel(), below.get_xlabel()) == ("epochs", "seconds of training")
    for axes in (above, below):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        levels = [line.get_ydata()[0] for line in axes.lines if line.get_color() == "#999999"]
        assert sorted(levels) == [0.001, 0.01, 0.1]
    assert "no trace: svmperf" in [text.get_text() for text in above.texts]


def test_optimum_is_drawn_in_the_plot_of_the_objective(small):
    (dataset, stand_in), groups = next(iter(small.groups.items()))
    axes = draw(small, dataset, stand_in, groups, "log-primal").axes[0]
    optimum = groups[0].middle("reference_dual")
    assert any(line.get_ydata()[0] == optimum for line in axes.lines)
    assert f"P* = {optimum:.4g}" in [text.get_text() for text in axes.texts]


def test_many_lambdas_are_continued_below(make_results, tmp_path):
    folder = make_results(
        tmp_path / "r", repeats=1, labels=("dcd",), lambdas=(1e-3, 1e-4, 1e-5, 1e-6)
    )
    results = read_results(folder)
    (dataset, stand_in), groups = next(iter(results.groups.items()))
    figure = draw(results, dataset, stand_in, groups, "log-primal")
    assert len(figure.axes) == 8
    fourth = figure.axes[6].get_position()
    assert fourth.x0 == pytest.approx(figure.axes[0].get_position().x0)
    assert fourth.y1 < figure.axes[1].get_position().y0


def test_panel_without_any_trace_says_so(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=1, labels=("svmperf",), lambdas=(1e-5,))
    results = read_results(folder)
    (dataset, stand_in), groups = next(iter(results.groups.items()))
    figure = draw(results, dataset, stand_in, groups, "log-primal")
    assert [text.get_text() for text in figure.axes[0].texts] == ["no run has a trace"]


# ---------------------------------------------------------------- files


def test_one_figure_a_data_set_and_kind_in_three_formats(written):
    assert sorted(path.name for path in written) == sorted(
        f"{name}-{kind}.{suffix}"
        for name in ("adult", "covtype-stand-in")
        for kind in ("log-primal", "log-suboptimality")
        for suffix in ("png", "svg", "pdf")
    )
    assert sorted(written[0].parent.iterdir()) == sorted(written)  # no temporary file is left


def test_png_is_a_picture_of_some_size(written):
    for path in written:
        if path.suffix == ".png":
            picture = matplotlib.image.imread(path)
            assert picture.shape[0] > 500
            assert picture.shape[1] > 500
            assert picture[..., :3].std() > 0.05


def test_the_pictures_palette_holds_the_solvers_colours(written, small):
    for path in written:
        if path.suffix == ".png":
            image = np.rint(255 * matplotlib.image.imread(path)[..., :3]).astype(int)
            codes = np.unique(image @ [1 << 16, 1 << 8, 1])
            pixels = np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)
            assert len(pixels) <= 256
            for label, look in looks(small).items():
                wanted = 255 * np.array(matplotlib.colors.to_rgb(look.colour))
                found = np.abs(pixels - wanted).max(axis=1).min() <= 4
                assert found == (label != "svmperf")  # which has no trace


def test_svg_is_valid_and_its_text_is_text(written):
    for path in written:
        if path.suffix != ".svg":
            continue
        root = ET.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        texts = ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]
        for label in ("sgd-m", "sgd-m(schedule=blocks)", "dcd", "adagrad"):
            assert texts.count(label) == 2  # a panel each
        assert "λ = 1e-5" in texts
        warned = any(text.startswith("STAND-IN for covtype: ") for text in texts)
        assert warned == ("stand-in" in path.name)


def test_pdf_is_one(written):
    for path in written:
        if path.suffix == ".pdf":
            assert path.read_bytes().startswith(b"%PDF-")
            assert b"CreationDate" not in path.read_bytes()


def test_every_part_of_a_curve_has_a_title_to_hover(small, written):
    (path,) = (p for p in written if p.name == "adult-log-suboptimality.svg")
    groups = {group.label: group for group in small.groups["adult", False]}
    titles: dict[str, list[str]] = {}
    for group in ET.parse(path).getroot().iter("{http://www.w3.org/2000/svg}g"):
        title = group.find("{http://www.w3.org/2000/svg}title")
        if title is not None:
            titles.setdefault(title.text, []).append(group.get("id", ""))
    assert len(titles) == 2 * 4  # svmperf has no curve; epochs and seconds differ
    for title, ids in titles.items():
        label, (_, ending, *hits) = title.split(",")[0], title.splitlines()
        assert {name.rsplit("-", 1)[1] for name in ids} == {"band", "line", "end", "name"}
        assert ("diverged" in ending) == ("not reached" in hits[0]) == (label == "adagrad")
        if label != "adagrad":
            unit = "seconds" if "seconds" in ending else "epochs"
            truth = groups[label].middle(f"{unit}_to_0.1")
            assert float(hits[0].split()[3]) == pytest.approx(truth, rel=0.01)


def test_same_results_give_the_same_files(small, written):
    before = {path: path.read_bytes() for path in written}
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": None}):  # the user's own
        assert write_plots(small) == written
        assert matplotlib.rcParams["font.size"] == 20
    assert {path: path.read_bytes() for path in written} == before


def test_no_plot_when_none_was_asked_for(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=1, labels=("dcd",), plots=[])
    assert write_plots(read_results(folder)) == []


def test_values_a_logarithmic_axis_cannot_show_are_left_out(make_results, tmp_path):
    folder = make_results(
        tmp_path / "r", repeats=1, labels=("dcd",), lambdas=(1e-4,), datasets=(("adult", False),)
    )
    points = pd.read_csv(folder / "traces.csv")
    points.loc[points.index[-1], "accuracy"] = -1e-12  # rounding, at the optimum itself
    points.loc[3, "accuracy"] = math.nan
    points.to_csv(folder / "traces.csv", index=False)
    results = read_results(folder)
    (dataset, stand_in), groups = next(iter(results.groups.items()))
    axes = draw(results, dataset, stand_in, groups, "log-suboptimality").axes[0]
    curve = max(axes.lines, key=lambda line: len(line.get_xdata()))
    assert np.min(curve.get_ydata()) == pytest.approx(4e-6)  # the reference's own gap
