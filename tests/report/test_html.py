"""report.html needs nothing but itself, shows what the tables show, and is sound HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

import svmbench
from svmbench.records.read import read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.interactive import page_curves
from svmbench.report.tables import build_tables
from svmbench.report.write import write_report

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Reads a page: elements with their attributes and text, tags checked for balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict] = []
        self._open: list[dict] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        assert len(attrs) == len(dict(attrs)), f"{tag}: an attribute twice"
        element = {
            "tag": tag,
            "attributes": dict(attrs),
            "text": "",
            "within": [e["tag"] for e in self._open],
            "parents": list(self._open),
        }
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def all(self, *tags: str) -> list[dict]:
        return [element for element in self.elements if element["tag"] in tags]

    def section(self, name: str) -> dict:
        (found,) = (e for e in self.all("section") if e["attributes"].get("id") == name)
        return found

    def rows(self, caption: str) -> list[dict[str, str]]:
        """A table by its caption: its rows by the heads of its columns, in body and head."""
        (title,) = (e for e in self.all("caption") if e["text"] == caption)
        table = title["parents"][-1]
        cells = [e for e in self.all("th", "td") if table in e["parents"]]
        rows: dict[int, list[str]] = {}
        for cell in cells:
            rows.setdefault(id(cell["parents"][-1]), []).append(cell["text"].strip())
        head, *body = rows.values()
        return [dict(zip(head, row, strict=True)) for row in body]


@pytest.fixture(scope="module")
def text(reported: Path) -> str:
    return (reported / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def build(folder: Path) -> str:
    """The page without plots: quick to make."""
    results = read_results(folder)
    return to_html(results, build_tables(results), page_curves(results, CurveTable(results)), [])


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


def test_answer_comes_first_then_what_to_doubt(page):
    heads = [element["text"] for element in page.all("h2")]
    assert heads == [
        "Who is fastest", "Curves", "Warnings", "Tables", "Plots", "Certificates", "Methods",
        "Data", "Environment", "How to reproduce",
    ]  # fmt: skip


def test_page_is_accessible(page):
    assert page.all("html")[0]["attributes"]["lang"] == "en-GB"
    levels = [int(e["tag"][1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert all(e["attributes"]["scope"] in ("col", "row") for e in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    pictures = page.all("img")
    assert len(pictures) == 2 + 3
    labels = [e["attributes"]["alt"] for e in pictures]
    assert len(set(labels)) == len(labels)
    scrolling = [e for e in page.all("div") if e["attributes"].get("class") == "scroll"]
    assert all({"tabindex", "aria-label", "role"} <= set(e["attributes"]) for e in scrolling)
    assert all("scroll" in str(e["parents"][-1]["attributes"]) for e in page.all("table", "img"))


def test_colours_of_text_stand_out_from_the_page():
    style = (Path(to_html.__code__.co_filename).parent / "templates/report.css").read_text()
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{([^}]*--paper[^}]*)\}", style)
    )
    assert set(light) == set(dark)
    assert luminance(light["paper"]) > luminance(dark["paper"])
    for colours in (light, dark):
        for paper in (colours["paper"], colours["shade"]):
            for ink in ("ink", "soft", "warn", "link", "good", "bad", "partly"):
                less, more = sorted((luminance(paper), luminance(colours[ink])))
                assert (more + 0.05) / (less + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_same_results_give_the_same_page(reported, text):
    results = read_results(reported)
    pictures = sorted((reported / "plots").iterdir())
    assert (
        to_html(results, build_tables(results), page_curves(results, CurveTable(results)), pictures)
        == text
    )


# ---------------------------------------------------------------- what it shows


def test_tables_are_those_of_the_other_notations(page, reported):
    titles = {
        "time": "Seconds to relative accuracy ε",
        "epochs": "Epochs to relative accuracy ε",
        "objective": "Objective at the stop",
    }
    for table in build_tables(read_results(reported)):
        for section in table.sections:
            rows = page.rows(f"{titles[table.kind]}, {section.heading}")
            assert len(rows) == len(section.rows)
            for shown, row in zip(rows, section.rows, strict=True):
                assert list(shown) == list(section.columns)
                assert list(shown.values())[1:] == [cell.text for cell in row.cells[1:]]
                assert shown["λ"] in ("1e-4", "1e-5")


def test_values_to_sort_by_are_those_of_the_csv(page, reported):
    records = pd.read_csv(reported / "tables/time.csv")
    (caption,) = (
        e for e in page.all("caption") if e["text"] == "Seconds to relative accuracy ε, adult"
    )
    cells = [e for e in page.all("td") if caption["parents"][-1] in e["parents"]]
    shown = [float(e["attributes"].get("data-value", "nan")) for e in cells]
    wanted = [
        math.inf if math.isnan(value) else value
        for value in records[records["dataset"] == "adult"]["median_seconds"]
    ]
    columns = 1 + 3 + 1  # λ, three accuracies, ε at stop; the label is a th
    by_row = [shown[at : at + columns][1:4] for at in range(0, len(shown), columns)]
    assert [value for row in by_row for value in row] == wanted


def test_bold_is_what_is_bold_in_the_csv(page, reported):
    best = sum(
        int(pd.read_csv(reported / f"tables/{kind}.csv")["best"].sum())
        for kind in ("time", "epochs")
    )
    assert len(page.all("strong")) == best


def test_verdict_names_the_leaders(page, reported):
    time = pd.read_csv(reported / "tables/time.csv").query("dataset == 'adult'")
    leaders = time.loc[time.groupby(["lambda", "accuracy"])["median_seconds"].idxmin(), "label"]
    shown = [e["text"] for e in page.all("b") if "td" in e["within"]]
    assert sorted(shown) == sorted(2 * list(leaders))  # the stand-in's numbers are the same
    said = page.section("answer")["text"]
    assert "covtype (STAND-IN)" in said
    assert "crawl: at none of the ε" in said


def test_warnings_are_there_with_their_reasons(page):
    warnings = page.section("warnings")["text"]
    for said in (
        "covtype: a STAND-IN",
        "12 of 72 runs did not end well: 6 failed, 6 diverged",
        "it crashed, so it did",
        "8 of 72 runs were skipped",
        "include a run above 1.5 × their median",
    ):
        assert said in warnings


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


def test_certificates_are_whole_numbers_of_the_runs(page, reported):
    runs = pd.read_csv(reported / "runs.csv", dtype=str)
    rows = page.rows("Certified optima")
    assert {row["D_ref"] for row in rows} == {
        repr(float(value)) for value in runs["reference_dual"]
    }
    assert [row["asked for"] for row in rows] == ["1e-5"] * 4


def test_how_to_reproduce_has_the_configuration(page, reported):
    reproduce = page.section("reproduce")["text"]
    assert (reported / "config.yaml").read_text() in reproduce
    assert "svmbench run config.yaml --out again\n" in reproduce


def test_stand_ins_alone_are_run_as_such(make_results, tmp_path, change):
    sets = (("covtype", True),)
    folder = make_results(tmp_path / "any-0.2", repeats=1, labels=("dcd",), datasets=sets)
    assert "--out again --stand-in --scale SCALE" in build(folder)
    change(folder, data_source='stand-in {"scale": 0.1}')
    assert "--out again --stand-in --scale 0.1" in build(folder)


def test_facts_that_results_may_have_are_shown(reported, make_results, tmp_path, change):
    folder = make_results(tmp_path / "r", repeats=1, labels=("dcd",))
    change(folder, data_source="a9a", data_sha256="f5d5ffd8", data_transforms="unit rows")
    row = Page(build(folder)).rows("Data sets")[0]
    assert [row[key] for key in ("source", "sha256 of the source", "changed by")] == [
        "a9a", "f5d5ffd8", "unit rows",
    ]  # fmt: skip


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


def test_no_run_that_arrives(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=2, labels=("crawl", "svmperf"), lambdas=(1e-5,))
    page = Page(build(folder))
    assert "nobody" in page.section("answer")["text"]
    assert not page.all("strong")


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
