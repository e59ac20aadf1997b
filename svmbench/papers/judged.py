"""The claims of all papers, judged together on what was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from svmbench.claims.judge import KnownParts, judge_claims
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimResult
from svmbench.papers.likeness import Likeness, likenesses
from svmbench.papers.model import Paper
from svmbench.papers.slots import catalogued, slots
from svmbench.records.read import Results

#: A paper and an item.
ItemKey = tuple[str, str]


def judged(
    papers: Mapping[str, Paper],
    results: Mapping[ItemKey, Mapping[str, Results]],
    rows: Mapping[ItemKey, Sequence[MeasuredRow]],
    known: KnownParts | None = None,
) -> dict[ItemKey, list[ClaimResult]]:
    items, planned, unlike = [], [], []
    for key, name in results:
        item, mine = papers[key].items[name], rows[key, name]
        names = catalogued(papers[key], name, results[key, name])
        items.append((item.claims, mine))
        planned.append(slots(papers[key], name, results[key, name]))
        unlike.append(partial(_unlike, likenesses(item, mine, names)))
    found = judge_claims(items, planned, known, unlike)
    return dict(zip(results, found, strict=True))


def _unlike(known: Mapping[str, Likeness], claim: Claim, dataset: str) -> str:
    return known[dataset].against(claim) if dataset in known else ""
