"""Figures of the papers: what they draw is what the runs hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_sweep import run_sweep

from svmbench.data.load import load
from svmbench.papers.model import FigureShape, papers
from svmbench.papers.published import Published
from svmbench.papers.report.drawing import final_line, points
from svmbench.papers.report.figures import caption, draw
from svmbench.papers.report.numbers import number
from svmbench.papers.results import ItemResults, read_item
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
    source = read_item(tmp_path, paper, "times")
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
    source = replace(source, paper=paper)
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
    solvers: [pegasos, sgd-m]
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
    return read_item(root, paper, "plane")


def test_lines_have_the_scores_they_stand_for(planes):
    load("plane-separable")  # every test has a cache of its own
    figure = draw(planes, planes.item.figures[0])
    assert len(figure.axes) == 2
    for axes, row in zip(figure.axes, planes.rows, strict=False):
        line = final_line(planes, row)
        assert line is not None
        assert np.diff(axes.get_xlim()) == pytest.approx(np.diff(axes.get_ylim()))
        drawn_lines = [artist for artist in axes.lines if len(artist.get_xdata()) == 2]
        levels = [np.array(artist.get_data()).T @ line.w + line.b for artist in drawn_lines]
        assert np.allclose([level[0] for level in levels], [0.0, -1.0, 1.0], atol=1e-9)
        assert np.allclose([level[1] for level in levels], [0.0, -1.0, 1.0], atol=1e-9)
        data = points(planes, row)
        assert data is not None
        assert sum(len(artist.get_xdata()) for artist in axes.lines) - 6 == data.n_samples


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
    assert "no regret: sgd-m" in [text.get_text() for text in axes.texts]
    assert "its bound" in [text.get_text() for text in figure.legends[0].get_texts()]
