"""report.html in a browser: nothing sticks out, its script runs, it prints."""

from __future__ import annotations

import pytest

SORTING = """
const table = document.querySelector("table.time");
const heads = [...table.tHead.querySelectorAll("button")];
const order = () => [...table.tBodies[0].rows].map((row) => row.cells[1].innerText);
found.before = order();
heads[4].click(); found.up = order();
heads[4].click(); found.down = order();
heads[1].click(); found.named = order();
found.sorted = table.querySelectorAll("[aria-sort]").length;
heads[0].click(); heads[0].click();
found.lambda = table.querySelector("tbody th").innerText;
"""


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_sticks_out_of_the_page(reported, ask, width):
    found = ask(reported / "report.html", width)
    assert found["window"] == width
    assert found["width"] <= width
    assert found["scrolling"] >= (width == 420)  # tables scroll by themselves
    assert found["sticking"] == []


def test_columns_sort_within_each_lambda(reported, ask):
    found = ask(reported / "report.html", 1280, SORTING)
    order = ["sgd-m(schedule=blocks)", "dcd", "pegasos", "crawl"]
    assert [label for label in found["up"] if label in order] == order != found["before"][:4]
    assert set(found["down"][:2]) == {"crawl", "svmperf"}
    assert found["named"] == sorted(found["before"])
    assert found["sorted"] == 1
    assert found["lambda"] == "1e-4"


CHOOSING = """
const form = document.querySelector("#curves form");
const legend = () => all("#curves .u-legend .u-label").map((label) => label.innerText);
const choose = (name, value) => {
  form.elements[name].value = value;
  form.elements[name].dispatchEvent(new Event("change"));
};
found.names = legend();
found.axes = [...form.elements.x.options].map((each) => each.value);
choose("y", "train-error"); choose("x", "epochs"); choose("scale", "linear");
found.chosen = legend();
"""


def test_curves_are_drawn_on_the_axes_that_are_chosen(reported, ask):
    found = ask(reported / "report.html", 1280, CHOOSING)
    assert found["names"][0] == "seconds"
    assert {"dcd", "pegasos", "crawl"} <= set(found["names"])
    assert found["axes"] == ["seconds", "epochs", "steps"]
    assert found["chosen"][0] == "epochs"
    assert len(found["chosen"]) == len(found["names"])
