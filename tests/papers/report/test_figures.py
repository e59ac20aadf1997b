"""Figures of the papers: what they draw is what the runs hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from svmbench.data.cache import cache_dir
from svmbench.data.load import load
from svmbench.harness.sweeps import run_sweep
from svmbench.papers.folders import read_item
from svmbench.papers.model import FigureShape, papers
from svmbench.papers.published import Published
from svmbench.papers.report.curves import Curves
from svmbench.papers.report.figures import caption, draw, panels
from svmbench.papers.report.layout import ItemResults
from svmbench.papers.report.numbers import number
from svmbench.papers.report.planes import final_line, points
from svmbench.records.measures import Asked


def shape(**keys) -> FigureShape:
    return FigureShape.model_validate(keys)


def drawn(axes, name):
    (line,) = (line for line in axes.lines if line.get_label() == name)
    return line


def names(axes) -> list[str]:
    """Those of the curves in a panel."""
    return [line.get_label() for line in axes.lines if not line.get_label().startswith("_")]


# ---------------------------------------------------------------- curves


def test_panels_are_split_as_asked(source):
    by_both = panels(source, shape(x="seconds", y="accuracy"))
    assert [panel.title for panel in by_both] == [
        "adult, λ = 1e-4",
        "adult, λ = 1e-5",
        "covtype.binary (STAND-IN), λ = 1e-4",
        "covtype.binary (STAND-IN), λ = 1e-5",
    ]
    assert all(len(panel.series) == 4 for panel in by_both)
    (alone,) = panels(source, shape(panels=[], of={"dataset": "adult", "solver": "dcd"}))
    assert [each.name for each in alone.series] == ["dcd, λ = 1e-4", "dcd, λ = 1e-5"]
    assert alone.series[0].look != alone.series[1].look


@pytest.mark.parametrize(
    ("y", "column"),
    [("primal", "primal"), ("accuracy", "accuracy"), ("train_error", "train_error")],
)
def test_a_curve_of_one_run_is_its_trace(papered, tmp_path, y, column, make_results, paper_files):
    paper = papers(paper_files(tmp_path / "papers"))["demo"]
    make_results(
        tmp_path / "demo" / "times" / "base",
        repeats=1, labels=("dcd",), lambdas=(1e-4,), datasets=(("adult", False),),
    )  # fmt: skip
    source = ItemResults(paper, "times", read_item(tmp_path, paper, "times"))
    figure = draw(source, shape(x="epochs", y=y))
    line = drawn(figure.axes[0], "dcd")
    trace = pd.read_csv(tmp_path / "demo" / "times" / "base" / "traces.csv").iloc[1:]
    factor = 100.0 if y == "train_error" else 1.0
    x, heights = line.get_data()
    expected = [trace.loc[trace["epochs"] <= at * (1 + 1e-12), column].iloc[-1] for at in x]
    assert np.allclose(heights, factor * np.array(expected))


def test_published_curves_are_drawn_on_the_axes_they_are_of(source):
    curves = [
        {"dataset": "adult", "solver": "dcd", "x": "epochs", "y": "train_error",
         "points": [[0.5, 0.2], [2, 0.16]]},
        {"dataset": "adult", "lambda": 1e-5, "solver": "not run", "x": "epochs", "y": "train_error",
         "points": [[1, 0.3]]},
        {"dataset": "adult", "solver": "dcd", "x": "seconds", "y": "train_error",
         "points": [[1, 0.4]]},
    ]  # fmt: skip
    published = Published.model_validate({"source": "Figure 9", "mark": "read", "curves": curves})
    item = source.item.model_copy(update={"published": (published,)})
    paper = source.paper.model_copy(update={"items": {**source.paper.items, "times": item}})
    source = ItemResults(paper, "times", source.results)
    asked = shape(x="epochs", y="train_error", log_x=False, log_y=False)
    figure = draw(source, asked)
    adult, other = figure.axes[0], figure.axes[1]
    line = drawn(adult, "dcd, published")
    assert np.allclose(line.get_data(), [[0.5, 2.0], [20.0, 16.0]])
    assert line.get_color() == drawn(adult, "dcd").get_color()
    assert line.get_linestyle() != "-"
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "published"
    assert "not run, published" not in names(adult)  # that of another λ
    assert drawn(other, "not run, published").get_ydata() == [30.0]
    bottom, top = adult.get_ylim()
    assert bottom < 16.0 < 20.0 < top
    # Ours are drawn to the end of the published frame.
    ours = [name for name in names(adult) if not name.endswith("published")]
    assert max(drawn(adult, name).get_xdata()[-1] for name in ours) <= 2.0
    # A curve that goes on beyond it has no marker of an end.
    ends = [line for line in adult.lines if len(line.get_xdata()) == 1]
    assert sum(line.get_marker() == "" for line in ends) >= 1
    assert adult.get_xlim()[1] == pytest.approx(2.06)
    words = " ".join(text.get_text() for text in figure.texts)
    assert "published (Figure 9)" in " ".join(words.split())


def test_curves_of_errors_end_where_the_runs_do(source):
    figure = draw(source, shape(x="epochs", y="train_error", log_y=False))
    traces = next(iter(source.results.values())).traces
    axes = figure.axes[0]
    for label in ("pegasos", "dcd"):
        last = traces[
            (traces["label"] == label) & (traces["dataset"] == "adult") & (traces["lambda"] == 1e-4)
        ]
        end = last.groupby("repeat")["epochs"].max().median()
        assert drawn(axes, label).get_xdata()[-1] == pytest.approx(end, rel=0.05)


def test_axes_have_the_ranges_asked_for(source):
    ranges = {"x_range": [0, 40.0], "y_range": [0.2, 0.6]}
    wanted = shape(x="epochs", y="primal", log_x=False, log_y=False, **ranges)
    figure = draw(source, wanted)
    shown = [axes for axes in figure.axes if axes.lines]
    assert shown
    for axes in shown:
        assert axes.get_xlim() == (0, 40)
        assert axes.get_ylim() == (0.2, 0.6)


def test_a_batch_is_one_step(source):
    by_rows, by_steps = (
        Curves(source, shape(x=x, y="primal"), panels(source, shape()))
        for x in ("presentations", "steps")
    )
    row = next(row for row in source.rows if row.group.label == "dcd")
    halved = replace(row, group=replace(row.group, runs=row.group.runs.assign(step_rows=2.0)))
    rows, steps = by_rows._curve(row), by_steps._curve(halved)
    np.testing.assert_allclose(steps.x, rows.x / 2)
    varying = replace(row, group=replace(row.group, runs=row.group.runs.assign(step_rows=np.nan)))
    assert by_steps._curve(varying) is None


def test_what_has_no_trace_is_named(source):
    figure = draw(source, shape(of={"lambda": 1e-5}))
    assert "no trace: svmperf" in [text.get_text() for text in figure.axes[0].texts]


def test_stand_ins_are_marked_in_red_and_in_the_caption(source):
    figure = draw(source, shape())
    (warning,) = (text for text in figure.texts if "STAND-IN" in text.get_text())
    assert warning.get_color() == "#B00000"
    assert "STAND-IN for covtype.binary" in caption(source, shape())
    assert "STAND-IN" not in caption(source, shape(of={"dataset": "adult"}))


# ---------------------------------------------------------------- across


def test_points_across_are_the_tables_medians(source):
    asked = shape(kind="across", x="lambda", y="seconds", at=1e-2, panels=["dataset"])
    figure = draw(source, asked)
    assert len(figure.axes) == 2
    x, y = drawn(figure.axes[0], "dcd").get_data()
    rows = {row.group.lam: row for row in source.rows
            if row.group.label == "dcd" and row.group.dataset == "adult"}  # fmt: skip
    assert list(x) == [1e-5, 1e-4]
    seconds = Asked(name="seconds", at=1e-2)
    assert list(y) == [number(rows[lam], seconds).found.median for lam in x]


def test_a_measure_can_be_the_axis(source):
    asked = shape(kind="across", x="train_seconds", y="test_error", panels=[], log_y=False,
                  of={"dataset": "adult", "lambda": 1e-4})  # fmt: skip
    figure = draw(source, asked)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "training time [s]"
    assert axes.get_ylabel() == "test error [%]"
    assert {line.get_ydata()[0] for line in axes.lines} == {16.1 + 0.0}


# ---------------------------------------------------------------- regret and lines

PLANE = """
version: 1
number: Figure 1
order: 1
title: Lines
question: Do all come to one line?
sweeps:
  base:
    datasets: [plane-separable]
    lambda: 1e-2
    bias: free
    solvers: [sgd-bias, gd-bias]
    stop: {max_epochs: 20, time_limit: 20s}
  regret:
    datasets: [tiny-separable]
    lambda: 1e-1
    solvers: [pegasos, norma]
    stop: {max_epochs: 3, time_limit: 20s}
    repeats: 2
    regret: true
  apart:
    datasets: [plane-separable]
    lambda: 5e-5
    bias: free
    solvers:
      - {name: sgd-bias, mu0: 100, increment: 1, form: printed, label: sgd-bias}
      - {name: gd-bias, mu0: 100, increment: 1, label: gd-bias}
    stop: {max_epochs: 300, time_limit: 20s}
    reference: {gap: 1e-2, time_limit: 5s}
figures:
  - {kind: lines, of: {sweep: base}, panels: [dataset]}
  - {kind: regret, of: {sweep: regret}, panels: [lambda]}
  - {kind: curve, of: {sweep: apart}, x: epochs, y: sum_objective, panels: [dataset]}
"""


@pytest.fixture(scope="module")
def planes(paper_files, tmp_path_factory) -> ItemResults:
    root = tmp_path_factory.mktemp("planes")
    files = paper_files(root / "papers")
    (files / "demo" / "plane.yaml").write_text(PLANE, encoding="utf-8")
    paper = papers(files)["demo"]
    for key in ("base", "regret", "apart"):
        run_sweep(paper.items["plane"].sweep_at(key, full=False), root / "demo" / "plane" / key)
    return ItemResults(paper, "plane", read_item(root, paper, "plane"))


def test_a_page_reads_no_rows_that_are_not_in_the_cache(planes):
    figure = draw(planes, planes.item.figures[0])
    assert all(points(planes.results["base"], row) is None for row in planes.rows)
    assert list(cache_dir().glob("datasets/*")) == []
    assert all(len(axes.lines) == 3 for axes in figure.axes)


def test_lines_have_the_scores_they_stand_for(planes):
    load("plane-separable")  # every test has a cache of its own
    figure = draw(planes, planes.item.figures[0])
    assert len(figure.axes) == 2
    for axes, row in zip(figure.axes, planes.rows, strict=False):
        line = final_line(planes.results["base"], row)
        assert line is not None
        assert np.diff(axes.get_xlim()) == pytest.approx(np.diff(axes.get_ylim()))
        drawn_lines = [artist for artist in axes.lines if len(artist.get_xdata()) == 2]
        levels = [np.array(artist.get_data()).T @ line.w + line.b for artist in drawn_lines]
        assert np.allclose([level[0] for level in levels], [0.0, -1.0, 1.0], atol=1e-9)
        assert np.allclose([level[1] for level in levels], [0.0, -1.0, 1.0], atol=1e-9)
        data = points(planes.results["base"], row)
        assert data is not None
        assert sum(len(artist.get_xdata()) for artist in axes.lines) - 6 == data.n_samples


def test_a_run_without_weights_is_said(planes, tmp_path):
    folder = planes.results["base"].folder
    kept = {path: path.read_text() for path in (folder / "runs").glob("*.jsonl")}
    try:
        for path in kept:
            path.unlink()
        figure = draw(planes, planes.item.figures[0])
    finally:
        for path, text in kept.items():
            path.write_text(text)
    assert "no weights recorded" in [text.get_text() for text in figure.axes[0].texts]


def test_regret_is_drawn_against_its_bound(planes):
    figure = draw(planes, planes.item.figures[1])
    (axes,) = figure.axes
    table = pd.read_csv(planes.results["regret"].folder / "regret.csv")
    mine = table[table["label"] == "pegasos"]
    middle = mine.groupby("presentations")["regret_high"].median()
    line = drawn(axes, "pegasos")
    assert list(line.get_xdata()) == list(middle.index)
    assert np.allclose(line.get_ydata(), middle)
    bound = drawn(axes, "pegasos: bound")
    assert np.allclose(bound.get_ydata(), mine.groupby("presentations")["regret_bound"].median())
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "no regret: norma" in [text.get_text() for text in axes.texts]
    assert "its bound" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_panels_of_stand_ins_say_how_many_rows_they_have(source):
    sizes = {
        row.group.dataset: (row.group.stand_in, int(row.group.runs["m"].iloc[0]))
        for row in source.rows
    }
    (rows,) = (m for stand_in, m in sizes.values() if stand_in)
    titles = [axes.get_title(loc="left") for axes in draw(source, shape()).axes]
    marked = [title for title in titles if "(STAND-IN)" in title]
    assert marked
    assert all(title.endswith(f", m = {rows:,}") for title in marked)
    assert not any("m = " in title for title in set(titles) - set(marked))
