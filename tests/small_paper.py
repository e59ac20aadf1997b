"""A paper of tiny data that come with svmbench, for what makes its runs."""

from pathlib import Path

_PAPER = """\
version: 1
order: 1
title: A small paper
authors: N. N.
published_in: nowhere
url: https://example.org/
about: Two methods on tiny sets.
"""

#: Where its table begins; sweeps and what is made of them follow.
TABLE = """\
version: 1
number: Table 1
order: 1
title: Times
question: Which is faster?
"""


def write_small_paper(papers: Path, **items: str) -> Path:
    """Write the paper called ``small`` with these items into the folder, which is returned."""
    folder = papers / "small"
    folder.mkdir(parents=True)
    (folder / "paper.yaml").write_text(_PAPER)
    for name, text in items.items():
        (folder / f"{name.replace('_', '-')}.yaml").write_text(text)
    return papers
