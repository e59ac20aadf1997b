"""An item of a paper with its runs."""

import pytest

from svmbench.papers.folders import read_item
from svmbench.papers.model import papers
from svmbench.papers.report.layout import ItemResults


@pytest.fixture(scope="module")
def source(papered) -> ItemResults:
    paper = papers(papered / "papers")["demo"]
    return ItemResults(paper, "times", read_item(papered, paper, "times"))
