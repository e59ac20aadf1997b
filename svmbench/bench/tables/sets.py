"""What the tables of sweeps say about their sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from svmbench.bench.found import Found, Swept
from svmbench.bench.tables.columns import R, TablePart
from svmbench.records.groups import heading


def source_text(found: Found, label: str) -> str:
    """What a set's rows are, in words."""
    source = found.plan.sources.get(label)
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    words = [source.words if source is not None else ""]
    if spec.tuned:
        words.append("tuned on")
    if spec.held_out:
        words.append("kept out of tuning")
    return "; ".join(filter(None, words))


def sweep_parts(
    found: Found, kind: str, rows: Callable[[Swept], Iterable[R]]
) -> Iterator[TablePart[R]]:
    """One part for each sweep of a kind."""
    for swept in found.of_kind(kind):
        name = heading(swept.spec.label, swept.groups()[0].stand_in)
        yield TablePart(name, source_text(found, swept.spec.label), list(rows(swept)))
