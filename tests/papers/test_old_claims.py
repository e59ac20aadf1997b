"""docs/papers-claims.md: what became of the 69 claims of the first snapshot."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from svmbench.papers.model import papers

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "papers-claims.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("old_claims", ROOT / "scripts" / "old_claims.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows():
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in TABLE.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]


def test_each_old_claim_has_its_row_and_its_old_verdict():
    assert [int(row[0]) for row in rows()] == list(range(1, 70))
    then = [row[2] for row in rows()]
    counts = {verdict: then.count(verdict) for verdict in then}
    assert counts == {"holds": 21, "does not hold": 16, "undecided": 26, "not testable": 6}


def test_every_present_claim_that_is_named_is_one_of_its_item(script):
    texts = {
        f"{key}/{name}": {claim.text for claim in item.claims}
        for key, paper in papers().items()
        for name, item in paper.items.items()
    }
    named = list(script._CLAIM.finditer(TABLE))
    assert len(named) > 69
    assert [c["text"] for c in named if c["text"] not in texts[c["item"]]] == []


def test_the_verdicts_are_those_of_the_page_that_the_table_names(script):
    page, *full = re.findall(r"results/snapshots/\S+/index\.html", TABLE)
    found = script.verdicts_of((ROOT / page).read_text(encoding="utf-8"))
    assert script.updated(TABLE, found) == TABLE
    for page in full:
        found = script.verdicts_of((ROOT / page).read_text(encoding="utf-8"))
        assert script.with_full(TABLE, found) == TABLE


def test_another_page_gives_other_verdicts_and_another_count(script):
    every = {
        (claim["item"].replace("/", "-"), claim["text"]): "open"
        for claim in script._CLAIM.finditer(TABLE)
    }
    table = script.updated(TABLE, every)
    assert {claim["verdict"] for claim in script._CLAIM.finditer(table)} == {"open"}
    removed = sum("| removed |" in line for line in table.splitlines())
    assert "Of the 69, 0 are decided now" in table
    assert f"{69 - removed} are open" in table


def test_the_full_form_has_a_column_of_its_own(script):
    every = {
        (claim["item"].replace("/", "-"), claim["text"]): f"verdict of {claim['item']}"
        for claim in script._CLAIM.finditer(TABLE)
    }
    table = script.with_full(TABLE, every)
    before, after = (
        [row for row in text.splitlines() if re.match(r"\| \d+ \|", row)] for text in (TABLE, table)
    )
    assert [row.rsplit(" | ", 1)[0] for row in after] == [row.rsplit(" | ", 1)[0] for row in before]
    for row in after:
        items = [claim["item"] for claim in script._CLAIM.finditer(row)]
        expected = "<br>".join(f"verdict of {item}" for item in items) or "–"
        assert row.rsplit(" | ", 1)[1] == f"{expected} |"


def test_a_claim_that_the_page_does_not_have_is_named(script):
    with pytest.raises(SystemExit, match="the page has no claim"):
        script.updated(TABLE, {})
    with pytest.raises(SystemExit, match="the page has no claim"):
        script.with_full(TABLE, {})


def test_the_page_is_read_with_its_marks(script):
    page = (
        '<tr><td><span class="verdict open">? open</span> <span class="stand-in">STAND-IN</span>'
        '</td>\n<td class="claim">A &lt; B. <details>…</details></td>\n'
        '<td class="where"><a href="#paper-table-1">Table 1</a></td></tr>\n'
        '<tr><td><span class="verdict some">◐ holds in 1 of 5 (3 open)</span></td>\n'
        '<td class="claim">C.</td><td class="where"><a href="#paper-table-2">T</a></td></tr>'
    )
    assert script.verdicts_of(page) == {
        ("paper-table-1", "A < B."): "open",
        ("paper-table-2", "C."): "holds in 1 of 5 (3 open)",
    }
