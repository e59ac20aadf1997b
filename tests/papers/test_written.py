"""Tables and figures are written again unless it is known what they were made of."""

from __future__ import annotations

import os

import pytest
from small_paper import TABLE, write_small_paper

from svmbench.papers.model import papers
from svmbench.papers.written import NAME, outdated, remember

ITEM = ("small", "table-1")


@pytest.fixture
def stale(tmp_path):
    """Which items are out of date after a change of the record of the only one."""
    known = papers(write_small_paper(tmp_path / "papers", table_1=TABLE))
    remember(tmp_path, known, [ITEM], [])
    assert outdated(tmp_path, known, [ITEM]) == []

    def after(change):
        change(tmp_path / "small" / "table-1" / NAME)
        return outdated(tmp_path, known, [ITEM])

    return after


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"made_of": 3}', "[" * 100_000])
def test_a_damaged_record_counts_as_none(stale, text):
    assert stale(lambda path: path.write_text(text)) == [ITEM]


def test_a_pipe_in_the_place_of_the_record_is_not_waited_for(stale):
    def change(path):
        path.unlink()
        os.mkfifo(path)

    assert stale(change) == [ITEM]
