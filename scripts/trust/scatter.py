"""How much the ratios of costs on a page of `svmbench papers` scatter.

The evidence on costs assumes that the logarithm of a pair's ratio has a standard deviation of at
most `COST_SCATTER`. The script finds the deviation for each question of the page about a cost that
has enough pairs in which both runs arrived.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from svmbench.claims.judge import judge_claims
from svmbench.claims.parts import ClaimResult
from svmbench.evidence import Question
from svmbench.papers.folders import read_item
from svmbench.papers.model import papers
from svmbench.papers.report.layout import ItemResults
from svmbench.records.measures import COST_SCATTER

#: Fewest pairs of a question whose scatter is found.
FEWEST = 4


def of_page(root: Path) -> Iterator[ClaimResult]:
    """The claims of a page, judged."""
    sources = [
        ItemResults(paper, name, read_item(root, paper, name))
        for paper in papers().values()
        for name in paper.items
    ]
    judged = judge_claims(
        [(source.item.claims, source.rows) for source in sources],
        [source.slots() for source in sources],
    )
    for results in judged:
        yield from results


def questions_of(results: Iterable[ClaimResult]) -> list[Question]:
    """The questions about costs, each once, however many claims ask them of the same pairs."""
    found: dict[tuple[float, ...], Question] = {}
    for result in results:
        for case in result.cases:
            for part in case.parts:
                question = part.part.question
                if question is not None and math.isfinite(question.scatter):
                    found.setdefault(tuple(sorted(map(abs, question.logs))), question)
    return list(found.values())


def scatters(questions: Iterable[Question], fewest: int = FEWEST) -> list[float]:
    """Standard deviations of the log-ratios of each question that has enough known ones."""
    known = (
        [low for low, high in zip(each.logs, each.uppers, strict=True) if low == high]
        for each in questions
    )
    finite = ([log for log in logs if math.isfinite(log)] for logs in known)
    return [float(np.std(logs, ddof=1)) for logs in finite if len(logs) >= fewest]


def main() -> None:
    """Print the scatter of a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("results", type=Path, help="folder of results, such as results/papers")
    root = parser.parse_args().results
    found = scatters(questions_of(of_page(root)))
    if not found:
        raise SystemExit(f"{root}: no question about a cost has {FEWEST} pairs")
    mean = math.sqrt(float(np.mean(np.square(found))))
    beyond = sum(each > COST_SCATTER for each in found)
    print(f"{len(found)} questions about costs with {FEWEST} pairs or more")
    print(f"root mean square of their scatter: {mean:.2f}")
    print(f"largest: {max(found):.2f}; more than {COST_SCATTER}: {beyond}")


if __name__ == "__main__":
    main()
