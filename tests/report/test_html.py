"""report.html needs nothing but itself, shows what the tables show, and is sound HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from pages import Page

import svmbench
from svmbench.records.read import read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.tables import build_tables
from svmbench.report.write import write_report


@pytest.fixture(scope="module")
def text(reported: Path) -> str:
    return (reported / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def build(folder: Path) -> str:
    """The page without plots: quick to make."""
    results = read_results(folder)
    return to_html(results, build_tables(results), CurveTable(results), [])


# ---------------------------------------------------------------- one page


def test_page_asks_for_nothing_from_elsewhere(page, text):
    assert not page.all("link", "iframe", "object", "embed", "base", "image", "audio")
    for element in page.elements:
        for name, value in element["attributes"].items():
            assert not name.startswith("on"), (name, value)
            assert name not in ("srcset", "action", "data", "poster", "background")
            assert name != "src" or value.startswith("data:image/png;base64,")
            if name.rpartition(":")[2] == "href":
                assert value.startswith("#")
            for target in re.findall(r"url\(([^)]*)\)", value or ""):
                assert target.startswith("#")
    assert "@import" not in text
    # That of the library that draws the curves, in its own comment.
    assert re.findall(r"https?://[^ ]*", text) == ["https://github.com/leeoniya/uPlot"]


def test_policy_allows_the_pages_own_script_and_no_other(page):
    (policy,) = (
        e["attributes"]["content"] for e in page.all("meta") if "http-equiv" in e["attributes"]
    )
    data, script = page.all("script")
    assert data["attributes"] == {"type": "application/json"}
    digest = base64.b64encode(hashlib.sha256(script["text"].encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_ids_are_unique_and_references_lead_somewhere(page):
    ids = [e["attributes"]["id"] for e in page.elements if "id" in e["attributes"]]
    assert len(ids) == len(set(ids))
    for element in page.elements:
        values = element["attributes"].values()
        targets = [re.findall(r"url\(#([^)]*)\)", value or "") for value in values]
        if "href" in element["attributes"]:
            targets.append([element["attributes"]["href"][1:]])
        assert {target for found in targets for target in found} <= set(ids)


def test_page_is_accessible(page):
    assert page.all("html")[0]["attributes"]["lang"] == "en-GB"
    levels = [int(e["tag"][1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert all(e["attributes"]["scope"] in ("col", "row") for e in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    pictures = page.all("img")
    assert len(pictures) == 2 + 1
    labels = [e["attributes"]["alt"] for e in pictures]
    assert len(set(labels)) == len(labels)
    scrolling = [e for e in page.all("div") if e["attributes"].get("class") == "scroll"]
    assert all({"tabindex", "role"} <= set(e["attributes"]) for e in scrolling)
    assert all(re.search("aria-label", str(e["attributes"])) for e in scrolling)
    assert all("scroll" in str(e["parents"][-1]["attributes"]) for e in page.all("table", "img"))


def test_same_results_give_the_same_page(reported, text):
    results = read_results(reported)
    pictures = sorted((reported / "plots").iterdir())
    assert to_html(results, build_tables(results), CurveTable(results), pictures) == text


# ---------------------------------------------------------------- what it shows


def test_tables_are_those_of_the_other_notations(page, reported):
    for table in build_tables(read_results(reported)):
        for section in table.sections:
            rows = page.rows(f"{table.title}. {section.heading}")
            assert len(rows) == len(section.rows)
            for shown, row in zip(rows, section.rows, strict=True):
                assert list(shown) == list(section.columns)
                assert list(shown.values()) == [cell.text for cell in row.cells]


def test_bold_is_what_is_bold_in_the_csv(page, reported):
    best = sum(
        int(pd.read_csv(reported / f"tables/{kind}.csv")["best"].sum())
        for kind in ("time", "epochs")
    )
    tables = page.section("tables")
    assert sum(tables in each["parents"] for each in page.all("b")) == best


def test_verdict_names_the_leaders(page, reported):
    time = pd.read_csv(reported / "tables/time.csv").query("dataset == 'adult'")
    leaders = time.loc[time.groupby(["lambda", "accuracy"])["median_seconds"].idxmin(), "label"]
    answer = page.section("answer")
    shown = [each["text"] for each in page.all("b") if answer in each["parents"]]
    assert sorted(shown) == sorted(2 * list(leaders))  # the stand-in's numbers are the same
    said = page.section("answer")["text"]
    assert "covtype (STAND-IN)" in said
    assert "crawl: at none of the ε" in said


def test_the_curves_are_those_of_the_traces(page, reported):
    found = json.loads(page.all("script")[0]["text"])
    results = svmbench.load_results(reported)
    assert set(found["looks"]) == set(results.runs["label"])
    problem = next(p for p in found["problems"] if (p["set"], p["lambda"]) == ("adult", "1e-4"))
    (axes,) = results.plot(dataset="adult", lam=1e-4, solvers="dcd", x="epochs").figure.axes
    x, y = problem["curves"]["epochs"]["suboptimality"]["dcd"]
    drawn = axes.lines[0]
    assert x[-1] == pytest.approx(drawn.get_xdata()[-1], rel=1e-3)
    assert y[-1] == pytest.approx(drawn.get_ydata()[-1], rel=1e-3)
    assert len(x) == len(y) <= len(drawn.get_xdata())


def test_how_to_reproduce_has_the_configuration(page, reported):
    reproduce = page.section("reproduce")["text"]
    assert (reported / "config.yaml").read_text() in reproduce
    assert "svmbench run config.yaml --out again\n" in reproduce


# ---------------------------------------------------------------- odd results


def test_hostile_labels_stay_text(make_results, tmp_path, change):
    folder = make_results(
        tmp_path / "r", repeats=2, labels=("dcd", "svmperf"), lambdas=(1e-5,),
        datasets=(("adult", False),), plots=["log-primal"],
    )  # fmt: skip
    label = "<script>alert(1)</script>&\"'"
    for name in ("runs.csv", "traces.csv"):
        table = pd.read_csv(folder / name)
        table.loc[table["label"] == "dcd", "label"] = label
        table.loc[table["dataset"] == "adult", "dataset"] = "</style><img src=x>"
        table.to_csv(folder / name, index=False)
    change(folder, "state == 'failed'", reason="</script><img src=x onerror=alert(1)>")
    config = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(config + "# </pre><script>alert(1)</script>\n")
    write_report(folder)
    page = Page((folder / "report.html").read_text())
    assert len(page.all("script")) == 2
    assert all(e["attributes"]["src"].startswith("data:") for e in page.all("img"))
    assert label in page.section("tables")["text"]
    assert label in json.loads(page.all("script")[0]["text"])["looks"]
    assert "<img src=x onerror=alert(1)>" in page.section("warnings")["text"]


def test_one_run(make_results, tmp_path):
    folder = make_results(
        tmp_path / "r", repeats=1, labels=("dcd",), lambdas=(1e-4,), datasets=(("adult", False),)
    )
    page = Page(build(folder))
    assert "dcd" in page.section("answer")["text"]
    assert page.section("warnings")["text"].split() == ["Warnings", "None."]
    assert "Plots" not in [e["text"] for e in page.all("h2")]


def test_results_without_accuracies_or_environment(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=2, labels=("dcd", "crawl"), tables=["objective"])
    runs = pd.read_csv(folder / "runs.csv")
    columns = [c for c in runs.columns if re.search(r"_(to|at|above_seconds)_0", c)]
    runs.drop(columns=columns).to_csv(folder / "runs.csv", index=False)
    (folder / "environment.json").unlink()
    page = Page(build(folder))
    assert "median distance [interval]" in page.section("answer")["text"]
    assert "Not recorded" in page.section("environment")["text"]
