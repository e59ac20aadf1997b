"""An item of a paper with its runs."""

import pytest

from svmbench.papers.model import papers
from svmbench.papers.results import ItemResults, read_item


@pytest.fixture(scope="module")
def source(papered) -> ItemResults:
    paper = papers(papered / "papers")["demo"]
    return read_item(papered, paper, "times")
