"""The README and the page on peers have the numbers of the snapshots that they quote."""

import csv
import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SNAPSHOT = ROOT / "results" / "snapshots" / "bench-2026-11-27"
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PART = " ".join(TEXT.split("\n## How fast\n")[1].split("\n## ")[0].split())
#: The copies of LIBLINEAR.
COPIES = {"liblinear", "linear-svc"}


def table(name):
    with (SNAPSHOT / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


RATIOS = {
    (row["set"], float(row["lambda"])): row
    for row in table("ratio-liblinear")
    if float(row["accuracy"]) == 1e-3
}


def cells():
    """The table's cells by set and λ."""
    lines = TEXT.split("\n## How fast\n")[1].split("\n## ")[0].splitlines()
    header, _, *rows = [line for line in lines if line.startswith("|")]
    lambdas = [float(each) for each in re.findall(r"λ = (\S+)", header)]
    for row in rows:
        name, *texts = (each.strip() for each in row.strip("|").split("|"))
        for lam, text in zip(lambdas, texts, strict=True):
            if text != "not run":
                yield name.split(",")[0], lam, text


def two_digits(number):
    rounded = float(f"{number:.1e}")
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def at_least(number):
    """Two digits, not rounded up."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return two_digits(math.floor(number / unit) * unit)


def printed(row):
    """A cell of the table, from a row of the snapshot."""
    seconds, ratio, low, high = (
        float(row[name]) for name in ("champion_seconds", "ratio", "ratio_low", "ratio_high")
    )
    times = f"> {at_least(low)}x"
    if high <= 2 * low:
        sign = "≥ " if row["lower_bound_only"] == "True" else ""
        times = f"{sign}{two_digits(ratio)}x [{two_digits(low)}, {two_digits(high)}]"
    mark = r"\*" if row["program"] == "linear-svc" else ""
    return f"{two_digits(seconds)}; {times}{mark}"


def test_the_table_has_cells():
    assert len(list(cells())) == 20


@pytest.mark.parametrize(("name", "lam", "text"), list(cells()))
def test_a_cell_is_that_of_the_snapshot(name, lam, text):
    assert text == printed(RATIOS[name, lam])


def test_the_commit_is_that_of_the_snapshot():
    (commit,) = re.findall(r"\(commit ([0-9a-f]+)\)", PART)
    environment = json.loads((SNAPSHOT / "environment.json").read_text(encoding="utf-8"))
    assert environment["git"].startswith(commit)


def test_the_cases_are_counted_as_in_the_snapshot():
    cases = table("ahead")
    copies = [row for row in cases if set(row["programs_run"].split()) <= COPIES]
    standings = Counter(row["standing"] for row in cases)
    assert standings == {"champion ahead": 45, "no peer reached it": 3}
    assert f"ahead in 45 of the [{len(cases)} cases]" in PART
    assert "in three no other program arrived" in PART
    assert f"In {len(copies)} cases, no program but LIBLINEAR" in PART
    assert len(cases) == len(copies) + 2


@pytest.mark.parametrize(
    ("words", "program", "name"),
    [
        ("LinearSVC took ([0-9.]+) times", "linear-svc", "adult"),
        ("rehline ([0-9.]+) times", "rehline", "adult"),
        ("snapml ([0-9.]+) times", "snapml", "imdb.tfidf"),
    ],
)
def test_other_programs_took_so_many_times_as_long(words, program, name):
    def only(rows):
        (row,) = (
            row
            for row in rows
            if (row["solver"], row.get("set", row.get("dataset"))) == (program, name)
            and float(row["lambda"]) == 1e-5
        )
        return row

    (times,) = re.findall(words, PART)
    assert times == two_digits(float(only(table("fastest"))["ratio"]))
    assert "medians of five repeats" in PART
    assert only(table("seconds"))["runs"] == "5"


def test_the_page_on_peers_quotes_the_epochs_of_the_snapshot():
    page = " ".join((ROOT / "docs" / "peers.md").read_text(encoding="utf-8").split())
    epochs = {
        (row["set"], row["label"]): float(row["ns_per_nonzero"])
        for row in table("epochs")
        if row["set"] in ("adult", "imdb.tfidf") and row["label"] in ("auto", "liblinear")
    }
    adult, imdb = (
        epochs[name, "liblinear"] / epochs[name, "auto"] for name in ("adult", "imdb.tfidf")
    )
    assert f"{adult:.1f} times as fast as one of LIBLINEAR on adult" in page
    assert f"and {imdb:.1f} times on imdb.tfidf" in page
    ours, theirs = (
        f"{epochs['adult', label]:.1f} and {epochs['imdb.tfidf', label]:.1f}"
        for label in ("auto", "liblinear")
    )
    assert f"{ours} ns per stored entry, against {theirs}" in page
    assert f"results/snapshots/{SNAPSHOT.name}/README.md), tables/epochs.md" in page


def test_the_claims_are_counted_as_in_the_snapshot():
    part = " ".join(TEXT.split("\n## The papers\n")[1].split("\n## ")[0].split())
    folder = re.findall(r"results/snapshots/(papers-2[\w-]+)/README.md", part)[0]
    page = (SNAPSHOT.parent / folder / "README.md").read_text(encoding="utf-8")
    (counts,) = re.findall(r"^\| in all \|(.*)\|$", page, re.MULTILINE)
    assert f"|{counts}|" in part
    assert f"of {sum(map(int, counts.split('|')))} claims" in part
    (number, held, against) = re.search(
        r"Of the (\d+) claims [^.]* own settings, (\d+) held and (\d+) did not", part
    ).groups()
    assert f"own settings, {held} hold, {against} do not" in " ".join(page.split())
    shown = (SNAPSHOT.parent / folder / "index.html").read_text(encoding="utf-8")
    assert f"with the paper’s own settings: {number}: {held} hold, {against} do not hold" in shown
