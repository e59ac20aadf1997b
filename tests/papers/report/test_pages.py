"""Tables and page of the papers: published beside measured, and one number everywhere."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from claims_support import noisy
from claims_support import row as planted
from pages import Page

from svmbench.papers.model import papers
from svmbench.papers.report.numbers import number, ratio
from svmbench.papers.report.tables import build_paper_table
from svmbench.papers.report.write import write_papers
from svmbench.papers.results import read_item
from svmbench.records.measures import Asked
from svmbench.records.samples import pairs
from svmbench.report import questions
from svmbench.report.numbers import format_value

CELL = ["dataset", "lambda", "solver"]


@pytest.fixture(scope="module")
def times(papered) -> pd.DataFrame:
    return pd.read_csv(papered / "demo" / "times" / "table-1.csv").set_index(CELL)


@pytest.fixture(scope="module")
def errors(papered) -> pd.DataFrame:
    return pd.read_csv(papered / "demo" / "times" / "table-2.csv").set_index(["dataset", "solver"])


@pytest.fixture(scope="module")
def page(papered) -> str:
    return (papered / "index.html").read_text(encoding="utf-8")


def row_of(source, dataset, lam, solver):
    (row,) = (
        row
        for row in source.rows
        if (row.group.dataset, row.group.lam, row.group.label) == (dataset, lam, solver)
    )
    return row


# ---------------------------------------------------------------- tables as CSV


def test_csv_names_units_and_holds_the_runs_own_numbers(times, papered):
    runs = pd.read_csv(papered / "demo" / "times" / "base" / "runs.csv")
    mine = runs[(runs["label"] == "dcd") & (runs["dataset"] == "adult") & (runs["lambda"] == 1e-4)]
    record = times.loc[("adult", 1e-4, "dcd")]
    assert record["seconds_to_0.01_median"] == mine["seconds_to_0.01"].median()
    assert record["seconds_to_0.01_low"] == mine["seconds_to_0.01"].min()
    assert record["seconds_to_0.01_reached"] == record["runs"] == 3
    assert not record["stand_in"]
    assert times.loc[("covtype.binary", 1e-4, "dcd"), "stand_in"]


def test_csv_has_the_published_number_with_its_source_and_mark(times, errors):
    record = times.loc[("adult", 1e-4, "pegasos")]
    assert record["seconds_to_0.01_published"] == 1.1
    assert record["seconds_to_0.01_published_source"] == "Table 1"
    assert record["seconds_to_0.01_published_mark"] == "seed"
    assert record["seconds_to_0.01_published_ratio"] == pytest.approx(1.1 / 0.2)
    assert math.isnan(times.loc[("adult", 1e-5, "pegasos"), "seconds_to_0.01_published"])
    assert errors.loc[("adult", "dcd"), "test_error_published"] == 0.1512
    assert errors["test_error_published"].notna().sum() == 1


def test_programs_and_sets_that_are_not_run_have_their_published_place(times):
    light = times.loc[("adult", 1e-4, "svm-light")]
    assert light["seconds_to_0.01_published_text"] == "> 18"
    assert not light["measured"]
    assert light["runs"] == 0
    assert times.loc[("astro-ph", 1e-4, "dcd"), "seconds_to_0.01_published"] == 0.02


def test_ratio_is_of_the_pairs_of_repeats(times, source):
    own, other = (row_of(source, "adult", 1e-4, label) for label in ("pegasos", "dcd"))
    seconds = Asked(name="seconds", at=1e-2)
    both = pairs(own.group, other.group, seconds)
    middle = sorted(a / b for a, b in both)[1]
    record = times.loc[("adult", 1e-4, "pegasos")]
    assert record["seconds_to_0.01_ratio"] == pytest.approx(middle)
    assert record["seconds_to_0.01_ratio_low"] == 0.0  # the signs of three pairs exclude nothing
    assert math.isnan(record["seconds_to_0.01_ratio_high"])
    assert math.isnan(times.loc[("adult", 1e-4, "dcd"), "seconds_to_0.01_ratio"])


def test_ratio_has_the_interval_of_its_evidence():
    own, other = planted("a", noisy(1.3, seed=1)), planted("b", noisy())
    found = ratio(own, other, Asked("seconds", 0.01))
    assert 1.0 < found.found.low < 1.3 < found.found.high < 1.5
    assert re.fullmatch(r"1\.\d+ \[1\.\d+, 1\.\d+\]", found.text)
    few = ratio(planted("a", [1.3]), planted("b", [1.0]), Asked("seconds", 0.01))
    assert few.text == "1.3"
    some = ratio(planted("a", [0.8, 0.7]), planted("b", [1.0, 1.0]), Asked("primal"))
    assert some.found.low == 0.0  # nothing is assumed of the scatter of objectives


def test_failed_runs_are_told_and_have_no_number(times, source):
    record = times.loc[("adult", 1e-5, "svmperf")]
    assert record["states"] == "failed:3"
    assert math.isnan(record["seconds_to_0.01_median"])
    failed = row_of(source, "adult", 1e-5, "svmperf")
    assert number(failed, Asked(name="seconds", at=1e-2)).text == "failed, 0 of 3"
    assert number(failed, Asked(name="primal")).text == "failed"


def test_what_was_not_reached_gives_a_bound_on_the_ratio(papered, make_results, tmp_path, change):
    paper = papers(papered / "papers")["demo"]
    shutil.copytree(papered / "demo" / "times" / "base", tmp_path / "demo" / "times" / "base")
    change(
        tmp_path / "demo" / "times" / "base",
        "label == 'pegasos'",
        state="time_limit",
        train_seconds=60.0,
        **{f"{name}_to_0.01": None for name in ("seconds", "epochs")},
    )
    source = read_item(tmp_path, paper, "times")
    own, other = (row_of(source, "adult", 1e-4, label) for label in ("pegasos", "dcd"))
    seconds = Asked(name="seconds", at=1e-2)
    assert number(own, seconds).text == "≥ 60 s, 0 of 3"
    least = 60.0 / number(other, seconds).found.median
    text = ratio(own, other, seconds).text
    assert text.startswith("≥ ")
    assert float(text.removeprefix("≥ ")) == pytest.approx(least, rel=0.06)
    assert ratio(other, own, seconds).text.startswith("≤ ")
    assert math.isnan(ratio(own, other, seconds).found.median)
    change(tmp_path / "demo" / "times" / "base", "label == 'pegasos'", state="diverged")
    source = read_item(tmp_path, paper, "times")
    own = row_of(source, "adult", 1e-4, "pegasos")  # it would never have arrived
    assert {ratio(own, other, seconds).text, ratio(other, own, seconds).text} == {"—"}


def test_a_diverged_run_counts_as_infinite_in_objectives(papered, tmp_path, change):
    paper = papers(papered / "papers")["demo"]
    shutil.copytree(papered / "demo" / "times" / "base", tmp_path / "demo" / "times" / "base")
    change(
        tmp_path / "demo" / "times" / "base",
        "label == 'dcd' and repeat == 0",
        state="diverged", primal=None, accuracy=None, train_error=None, test_error=None,
    )  # fmt: skip
    source = read_item(tmp_path, paper, "times")
    row = row_of(source, "adult", 1e-4, "dcd")
    primal = number(row, Asked(name="primal"))
    assert primal.found.high == math.inf
    assert primal.text.endswith(", 2 of 3")
    assert number(row, Asked(name="test_error")).reached == 2


# ---------------------------------------------------------------- Markdown and LaTeX


def grids(text: str) -> dict[tuple[str, ...], dict[str, str]]:
    """The tables of a Markdown file as one: by row's names, columns by their full name."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    texts = 0
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        fields = [field.strip() for field in re.split(r"(?<!\\)\|", line)[1:-1]]
        fields = [field.replace("\\", "") for field in fields]
        if not head:
            head = fields
            for at, name in enumerate(head):
                if name.startswith("… "):
                    head[at] = f"{head[at - 1].partition(': ')[0]}: {name.removeprefix('… ')}"
        elif set(fields[0]) <= {"-", ":"}:
            texts = sum(":" not in field for field in fields)
        else:
            row = found.setdefault(tuple(fields[:texts]), {})
            row |= dict(zip(head[texts:], fields[texts:], strict=True))
    return found


def test_markdown_has_both_sides_and_says_what_was_not_run(papered):
    rows = grids((papered / "demo" / "times" / "table-1.md").read_text(encoding="utf-8"))
    adult = rows["adult", "1e-4"]
    assert adult["pegasos: ours (published)"].endswith(" (1.1)")
    assert adult["pegasos: × dcd"].endswith(" (5.5)")
    assert adult["svm-light: ours (published)"] == "(> 18)"
    assert adult["sgd-m: measured"] == "not run"
    assert rows["astro-ph", "1e-4"]["sgd-m: measured"] == "—"
    assert rows["covtype.binary (STAND-IN)", "1e-4"]["dcd: ours (published)"]
    assert not [key for key in rows if key[0] == "covtype.binary"]


def test_rows_that_were_left_out_are_named_and_not_compared(source):
    row = next(row for row in source.rows if not row.group.stand_in)
    m = int(row.group.runs["m"].iloc[0])
    asked = source.item.claims[0].model_copy(update={"least_rows": {row.group.dataset: m + 1}})
    items = {source.name: source.item.model_copy(update={"claims": [asked]})}
    fewer = replace(source, paper=source.paper.model_copy(update={"items": items}))
    table, _ = build_paper_table(fewer, 0)
    heads = {line.cells[0].text: line for line in table.sections[0].rows}
    line = heads[f"{row.group.dataset} (only {m:,} rows)"]
    assert line.faded
    assert not any(cell.agrees or cell.best for cell in line.cells)


def test_bold_is_the_best_of_its_place_where_others_are_shown_to_be_worse(source, monkeypatch):
    monkeypatch.setattr(questions, "verdicts", lambda asked: ["open"] * len(asked))
    undecided = build_paper_table(source, 0)[0].sections[0].rows[:4]
    monkeypatch.setattr(questions, "verdicts", lambda asked: ["holds"] * len(asked))
    table, _ = build_paper_table(source, 0)
    section = table.sections[0]
    # Where nothing is shown, none is bold, unless some have not arrived at all.
    assert {sum(cell.best for cell in row.cells) for row in undecided} != {1}
    at = section.texts + [name for name, _ in section.spans].index("sgd-m(schedule=blocks)") * 2
    for row in section.rows[:4]:
        bold = [cell.text for cell in row.cells if cell.best]
        assert len(bold) == 1
        assert bold[0] in [cell.text for cell in row.cells[at : at + 6]]


def test_latex_compiles(papered, tmp_path, assert_compiles):
    parts = sorted((papered / "demo").glob("*/table-*.tex"))
    assert_compiles((path.read_text(encoding="utf-8") for path in parts), tmp_path)


# ---------------------------------------------------------------- the page


def test_page_csv_and_markdown_agree(page, papered, source):
    shown = Page(page)
    for at, heads in ((0, 2), (1, 2)):
        table, _ = build_paper_table(source, at)
        section = table.sections[0]
        name = f"table-{at + 1}"
        (on_page,) = (
            shown.grid(each)[heads:]
            for each in shown.all("table")
            if each["attributes"].get("id") == f"demo-times-{name}"
        )
        printed = grids((papered / "demo" / "times" / f"{name}.md").read_text(encoding="utf-8"))
        assert len(on_page) == len(printed) == len(section.rows)
        for cells, (key, fields) in zip(on_page, printed.items(), strict=True):
            assert tuple(cells[: section.texts]) == key
            assert cells[section.texts :] == [text.strip("*") for text in fields.values()]


def test_every_median_of_the_csv_is_printed(times, errors, papered):
    rows = grids((papered / "demo" / "times" / "table-1.md").read_text(encoding="utf-8"))
    seen = 0
    for (dataset, lam, solver), record in times.iterrows():
        middle = record["seconds_to_0.01_median"]
        if math.isnan(middle):
            continue
        text = format_value(middle, record["seconds_to_0.01_low"], record["seconds_to_0.01_high"])
        head = f"{dataset} (STAND-IN)" if record["stand_in"] else dataset
        fields = rows[head, f"{lam:.0e}".replace("e-0", "e-")]
        (field,) = (
            fields[key] for key in fields if re.fullmatch(rf"{re.escape(solver)}: [mo].*", key)
        )
        assert re.match(rf"{re.escape(text)} [\[(]", field.strip("*"))
        seen += 1
    assert seen == 14
    rows = grids((papered / "demo" / "times" / "table-2.md").read_text(encoding="utf-8"))
    record = errors.loc[("adult", "dcd")]
    low, high = 100 * record["test_error_low"], 100 * record["test_error_high"]
    text = format_value(100 * record["test_error_median"], low, high)
    shown = rows[("dcd",)]["adult, test error [%]: ours (published)"].strip("*")
    assert shown.startswith(text)
    assert shown.endswith(" (15.12)")


def test_page_needs_nothing_else_and_its_links_lead_somewhere(page):
    found = Page(page)
    ids = found.given("id")
    assert all(each.startswith("data:image/png;base64,") for each in found.given("src", "data"))
    assert len(ids) == len(set(ids))
    inside = [link[1:] for link in found.given("href") if link.startswith("#")]
    assert set(inside) <= set(ids)
    assert {"claims", "missing", "demo", "demo-times", "demo-nothing"} <= set(inside)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert (
        f"script-src &#39;sha256-{digest}&#39;" in page or f"script-src 'sha256-{digest}'" in page
    )
    assert "url(" not in re.sub(r"url\(#", "", page)


def test_page_says_nothing_when_nothing_was_run(paper_files, tmp_path):
    files = paper_files(tmp_path / "papers")
    written = write_papers(tmp_path / "results", papers(files)).files
    assert {path.suffix for path in written} == {".md", ".csv", ".tex", ".html"}
    page = (tmp_path / "results" / "index.html").read_text(encoding="utf-8")
    assert page.count("<img") == 0
    Page(page)


def test_only_the_items_asked_for_are_written_anew(papered, tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(papered, root)
    before = {path: path.stat().st_mtime_ns for path in (root / "demo" / "times").glob("*.*")}
    stale = root / "demo" / "nothing" / "table-7.md"
    stale.write_text("of before")
    written = write_papers(root, papers(root / "papers"), [("demo", "nothing")]).files
    others = [path for path in written if path.stem != "verdicts"]  # claims are judged together
    assert {path.parent.name for path in others} == {"nothing", root.name}
    assert {p: p.stat().st_mtime_ns for p in (root / "demo" / "times").glob("*.*")} == before
    assert not stale.exists()
    page = (root / "index.html").read_text(encoding="utf-8")
    assert page.count("<img") == (papered / "index.html").read_text(encoding="utf-8").count("<img")


def test_same_results_give_the_same_files(papered, tmp_path):
    root = tmp_path / papered.name
    shutil.copytree(papered, root)
    written = write_papers(root, papers(root / "papers"), [("demo", "times")]).files
    assert len(written) > 1
    for path in written:
        assert path.read_bytes() == (papered / path.relative_to(root)).read_bytes(), path.name
