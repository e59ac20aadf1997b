"""Published curves: read from files and lists, and refused where they are not what they seem."""

from __future__ import annotations

import pytest

from svmbench.config.reading import read_model
from svmbench.errors import ConfigError
from svmbench.papers.model import Item

ITEM = """\
version: 1
number: Figure 1
order: 1
title: Curves
question: How do they come down?
published:
  - source: Figure 1
    mark: read
    curves: {curves}
"""

HEADER = "dataset\tsolver\tx\ty\tat\tvalue\tnote\n"


def read(tmp_path, curves):
    path = tmp_path / "figure-1.yaml"
    path.write_text(ITEM.replace("{curves}", curves))
    return read_model(path, Item).published[0].curves


def test_a_file_of_points_is_a_curve_for_each_row_and_axes(tmp_path):
    (tmp_path / "points.tsv").write_text(
        HEADER
        + "alpha\tsgd\tepochs\tprimal\t1\t0.4\tat the frame\n"
        + "alpha\tsgd\tepochs\tprimal\t2.5\t0.35\t\n"
        + "alpha\tsgd\tseconds\ttest_error\t0.1\t0.25\t\n"
    )
    cost, error = read(tmp_path, "points.tsv")
    assert (cost.solver, cost.x, cost.y) == ("sgd", "epochs", "primal")
    assert cost.place() == {"dataset": "alpha"}
    assert cost.points == ((1.0, 0.4), (2.5, 0.35))
    assert error.points == ((0.1, 0.25),)


def test_curves_may_be_written_in_the_configuration(tmp_path):
    written = "[{solver: sgd, lambda: 1e-4, x: epochs, y: primal, points: [[1, 0.4], [2, 0.3]]}]"
    (curve,) = read(tmp_path, written)
    assert curve.place() == {"lambda": 1e-4}
    assert curve.points == ((1.0, 0.4), (2.0, 0.3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read points.tsv"),
        ("", "points.tsv:1: there is no column 'solver'"),
        (HEADER.replace("solver", "method"), "points.tsv:1: unknown column 'method'"),
        (HEADER + "a\tsgd\tepochs\tprimal\t1\n", "points.tsv:2: 5 columns instead of 7"),
        (HEADER + "a\tsgd\tepochs\tprimal\t1\tlow\t\n", "points.tsv:2: .*valid number"),
        (HEADER + "a\tsgd\tepochs\tprimal\t1\tnan\t\n", "points.tsv:2: .*finite"),
        (HEADER + "a\tsgd\thours\tprimal\t1\t0.4\t\n", "points.tsv:2: .*x cannot be 'hours'"),
        (HEADER + "a\tsgd\tepochs\tcost\t1\t0.4\t\n", "points.tsv:2: .*y cannot be 'cost'"),
        (
            HEADER + "a\tsgd\tepochs\tprimal\t2\t0.4\t\na\tsgd\tepochs\tprimal\t1\t0.5\t\n",
            "points.tsv:2: .*sort its points",
        ),
    ],
)
def test_a_file_that_is_not_one_of_curves_is_refused_in_one_line(tmp_path, text, message):
    if text is not None:
        (tmp_path / "points.tsv").write_text(text)
    with pytest.raises(ConfigError, match=f"figure-1.yaml:9:.*{message}") as caught:
        read(tmp_path, "points.tsv")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ("3", "should be a list of curves, or the name of a file"),
        ("[{solver: sgd, x: epochs, y: primal, points: []}]", "9:.*points. is empty"),
        ("[{solver: sgd, x: hours, y: primal, points: [[1, 2]]}]", "'hours'"),
    ],
)
def test_a_list_that_is_not_one_of_curves_is_refused(tmp_path, curves, message):
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, curves)
