"""`svmbench plot` and `load_results`: the figure asked for, and the numbers of the files."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from PIL import Image

import svmbench
from svmbench.cli import main
from svmbench.errors import ConfigError, DataError
from svmbench.records.read import read_results
from svmbench.report.curves import CurveTable
from svmbench.report.frames import LoadedResults
from svmbench.report.single import (
    ORDINATES,
    STYLES,
    FigureRequest,
    chosen,
    ordinate,
    single_figure,
)

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "results.ipynb"


@pytest.fixture(scope="module")
def folder(make_results, tmp_path_factory) -> Path:
    return make_results(
        tmp_path_factory.mktemp("plot") / "demo",
        repeats=3,
        labels=("pegasos", "sgd-m", "sgd-m(schedule=blocks)", "dcd", "svmperf"),
    )


@pytest.fixture(scope="module")
def loaded(folder) -> LoadedResults:
    return svmbench.load_results(folder)


def plot(folder, *arguments):
    return CliRunner().invoke(main, ["plot", str(folder), *map(str, arguments)])


ONE = ("--dataset", "adult", "--lambda", "1e-4")


def test_a_λ_is_found_as_it_is_printed(make_results, tmp_path):
    lambdas = (1 / 60_000, 6.121e-5, 6.122e-5)
    sets = (("adult", False),)
    folder = make_results(tmp_path / "r", repeats=1, datasets=sets, lambdas=lambdas)
    results = read_results(folder)
    for asked in (1.67e-5, 1 / 60_000):
        ((group, *_),) = chosen(results, FigureRequest(lam=asked))
        assert group.lam == 1 / 60_000
    with pytest.raises(ConfigError, match=r"no λ = 1\.66e-5"):
        chosen(results, FigureRequest(lam=1.66e-5))
    assert len(chosen(results, FigureRequest(lam=6.12e-5))) == 2


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_the_suffix_is_the_format_and_the_width_is_kept(folder, tmp_path, suffix):
    out = tmp_path / "new" / f"fig.{suffix}"
    result = plot(folder, *ONE, "--width", "84mm", "-o", out)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(out)
    points = 84 / 25.4 * 72
    if suffix == "svg":
        width = float(ET.parse(out).getroot().get("width").removesuffix("pt"))
    elif suffix == "png":
        picture = Image.open(out)
        width = picture.width / 300 * 72
    else:
        assert out.read_bytes().startswith(b"%PDF-")
        width = float(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", out.read_bytes())[1])
    assert width == pytest.approx(points, abs=0.5)
    first = out.read_bytes()
    plot(folder, *ONE, "--width", "84mm", "-o", out)
    assert out.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--dataset", "adlut"), "data set 'adlut' has no runs; did you mean 'adult'?"),
        (("--dataset", "adult", "--lambda", "1"), "no λ = 1; there are 1e-4, 1e-5"),
        ((*ONE, "--solvers", "dcd,nix"), "no solver 'nix'; there are pegasos, sgd-m, "),
        (
            ("--dataset", "adult", "--lambda", "1e-5", "--solvers", "svmperf"),
            "no run of svmperf has a trace with suboptimality",
        ),
        (
            (*ONE, "--x", "hours"),
            "unknown x 'hours'; known: seconds, seconds_after_setup, epochs, steps",
        ),
        ((*ONE, "--y", "beauty"), "unknown y 'beauty'; known: suboptimality, primal, J, "),
        ((*ONE, "--style", "poster"), "unknown style 'poster'; known: paper, slides"),
        ((*ONE, "--width", "wide"), "width 'wide' is not between 1in and 40in"),
        ((*ONE, "--width", "nan"), "width 'nan' is not between 1in and 40in"),
        ((*ONE, "--width", "3 miles"), "width '3 miles' is not between"),
        ((*ONE, "-o", "fig.jpg"), "fig.jpg: ends in none of .pdf, .png, .svg"),
        ((*ONE, "-o", "fig"), "fig: ends in none of"),
    ],
)
def test_what_there_is_not_is_one_line_that_names_what_there_is(
    folder, tmp_path, monkeypatch, arguments, said
):
    monkeypatch.chdir(tmp_path)
    result = plot(folder, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_links_stay_links(folder, tmp_path):
    for name, command in (("fig.svg", "plot"), ("t.tex", "table")):
        (tmp_path / "target").write_text("old")
        (tmp_path / name).symlink_to("target")
        out = str(tmp_path / name)
        assert CliRunner().invoke(main, [command, str(folder), "-o", out]).exit_code == 0
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "target").read_text() != "old"


def test_no_results_are_one_line(tmp_path):
    result = plot(tmp_path / "nothing")
    assert result.exit_code == 3
    assert "no such folder" in result.stderr


# ---------------------------------------------------------------- the figure


def test_curves_end_where_the_runs_do(loaded, folder):
    asked = {"dataset": "adult", "lam": 1e-4, "solvers": "dcd"}
    (axes,) = loaded.plot(**asked).figure.axes
    line = axes.lines[0]
    traces = pd.read_csv(folder / "traces.csv").query(
        "dataset == 'adult' and `lambda` == 1e-4 and label == 'dcd'"
    )
    last = traces.groupby("repeat").tail(1)["wall_seconds"]
    assert last.min() <= line.get_xdata()[-1] <= last.max()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    (axes,) = loaded.plot(x="epochs", y="train-error", **asked).figure.axes
    np.testing.assert_allclose(axes.lines[0].get_ydata(), 15.0)  # per cent
    assert (axes.get_ylabel(), axes.get_yscale()) == ("training error [%]", "linear")


def test_curves_without_errors_are_shown_and_marked(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "separable")
    traces = pd.read_csv(copy / "traces.csv", dtype={"id": str})
    traces["train_error"] = 0.0
    traces.to_csv(copy / "traces.csv", index=False)
    results = svmbench.load_results(copy)
    for y, shown in (("train-error", ["dcd", "no errors"]), ("primal", ["dcd"])):
        figure = results.plot(dataset="adult", lam=1e-4, solvers="dcd", y=y).figure
        names = [line.get_label() for line in figure.axes[0].lines]
        assert [name for name in names if name[0] != "_"] == shown
        assert [text.get_text() for text in figure.legends[0].get_texts()] == shown
        curve = figure.axes[0].lines[0]
        if y == "train-error":
            m = pd.read_csv(copy / "runs.csv").query("dataset == 'adult'")["m"].iloc[0]
            np.testing.assert_allclose(curve.get_ydata(), 100 * 0.5 / m)


@pytest.mark.parametrize(
    ("width", "style"),
    [("2.5in", "paper"), ("5in", "slides")],
)
def test_every_name_and_number_is_within_the_figure(folder, loaded, style, width):
    results = read_results(folder)
    (groups,) = chosen(results, FigureRequest(datasets=["covtype"], lam=1e-4))
    others = product(["seconds_after_setup", "epochs"], ["suboptimality"])
    axes_of = [*product(["seconds"], ORDINATES), *others]
    curves = CurveTable(results)
    drawn = [(x, y) for x, y in axes_of if curves.of(groups, x, ordinate(results, y))]
    assert len(drawn) > 3
    for x, y in drawn:
        figure = loaded.plot(x, y, dataset="covtype", lam=1e-4, style=style, width=width).figure
        figure.draw_without_rendering()
        (axes,) = figure.axes
        names = [axes.xaxis.label, axes.yaxis.label, axes._left_title]
        names += figure.legends[0].get_texts()
        numbers = axes.get_tightbbox()
        page, frame = figure.bbox.padded(3), axes.get_window_extent()
        for box in [frame, numbers, *(name.get_window_extent() for name in names)]:
            assert all(page.contains(*point) for point in box.corners()), (x, y, box, page)
        for at, axis in enumerate((axes.xaxis, axes.yaxis)):
            low, high = axis.get_view_interval()
            shown = [n for n in axis.get_majorticklabels() if low <= n.get_position()[at] <= high]
            boxes = [number.get_window_extent() for number in shown if number.get_text()]
            assert not any(a.overlaps(b) for a, b in pairwise(boxes)), (x, y)
        assert frame.width > 0.2 * figure.bbox.width
        assert frame.height > 0.1 * figure.bbox.height


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("width", [None, "2.5in"])
def test_names_cover_neither_each_other_nor_the_frame(loaded, style, width):
    figure = loaded.plot(dataset="adult", lam=1e-4, style=style, width=width).figure
    figure.canvas.draw()
    (legend,) = figure.legends
    boxes = [text.get_window_extent() for text in legend.get_texts()]
    assert len(boxes) == 5
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])
    frame = figure.axes[0].get_tightbbox()
    assert all(box.y1 <= frame.y0 + 1 for box in boxes)


def test_a_stand_in_is_marked(loaded):
    (axes,) = loaded.plot(dataset="covtype", lam=1e-4).figure.axes
    assert axes.get_title(loc="left") == "covtype (STAND-IN), λ = 1e-4"
    assert axes.title.get_color() != axes._left_title.get_color() == "#B00000"


# ---------------------------------------------------------------- frames


def test_the_summary_has_the_medians_of_the_tables(loaded, reported):
    frame = svmbench.load_results(reported).summary
    written = pd.read_csv(reported / "tables/time.csv")
    keys = ["dataset", "lambda", "label", "accuracy"]
    both = frame.merge(written, on=keys, suffixes=("", "_written"))
    assert len(both) == len(written)
    finite = both["median_seconds_written"].notna()
    assert (np.isinf(both["median_seconds"]) | both["median_seconds"].isna())[~finite].all()
    np.testing.assert_array_equal(
        both.loc[finite, "median_seconds"], both.loc[finite, "median_seconds_written"]
    )


def test_rich_display_has_the_numbers_and_stays_text(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=3, labels=("dcd", "crawl"), lambdas=(1e-4,))
    for name in ("runs.csv", "traces.csv"):
        table = pd.read_csv(folder / name)
        table.loc[table["label"] == "dcd", "label"] = "<script>alert(1)</script>"
        table.to_csv(folder / name, index=False)
    results = svmbench.load_results(folder)
    shown = results._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "median_seconds" in shown
    assert repr(results) == f"<results r: {len(results.runs)} runs in {folder}>"
    svg = results.plot(dataset="adult")._repr_svg_()
    assert ET.fromstring(svg).tag.endswith("svg")
    assert "<script" not in svg


#: A λ that agrees with 1e-4 in more digits than are printed.
ALIKE = 1.00000000001e-4


def alike(folder):
    """Results of 1e-4 and 1e-5 with another λ in the place of 1e-5."""
    for name in ("runs.csv", "traces.csv"):
        table = pd.read_csv(folder / name, float_precision="round_trip")
        rows = table["lambda"] == 1e-5
        assert rows.any()
        if name == "runs.csv":
            table.loc[rows, "C"] = table.loc[~rows, "C"].iloc[0]
        table.loc[rows, "lambda"] = ALIKE
        table.to_csv(folder / name, index=False)
    return folder


def test_of_two_λ_that_are_alike_in_six_digits_the_one_asked_for_is_drawn(make_results, tmp_path):
    sets = (("adult", False),)
    results = read_results(
        alike(make_results(tmp_path / "r", repeats=1, datasets=sets, lambdas=(1e-4, 1e-5)))
    )
    for asked in (1e-4, ALIKE):
        ((group, *_),) = chosen(results, FigureRequest(lam=asked))
        assert group.lam == asked
    both = single_figure(results, FigureRequest(lam=1.00000004e-4)).figure
    assert [axes.get_title("left") for axes in both.axes] == [
        "adult, λ = 1.00000000001e-4", "adult, λ = 1e-4",
    ]  # fmt: skip


def test_no_folder_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        svmbench.load_results(tmp_path / "nothing")


def test_the_notebook_runs(make_results, tmp_path, monkeypatch):
    make_results(
        tmp_path / "results" / "demo",
        repeats=3,
        labels=("pegasos", "sgd-m", "sgd-s"),
        lambdas=(1e-3,),
        datasets=(("tiny-sparse", False),),
    )
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    ran = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(ran) >= 4
    for cell in ran:
        exec("".join(cell["source"]), names)
    assert isinstance(names["results"], LoadedResults)
    assert isinstance(names["figure"].figure, Figure)
    assert (tmp_path / "results/demo/figure.pdf").read_bytes().startswith(b"%PDF-")
