"""Which repeats of two groups are pairs: runs made at about the same time.

Two runs of one repeat are a pair when no run of another repeat of either group was started
between them. In an interleaved sweep that holds for every repeat; for two folders made one after
the other it holds for none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from datetime import UTC, datetime

from svmbench.errors import DataError
from svmbench.records.groups import Group

_Start = tuple[datetime, int]


def made_together(one: Group, other: Group, repeats: Collection[int]) -> list[int]:
    """The repeats of which both groups' runs were made next to each other.

    Parameters
    ----------
    one, other : Group
    repeats : collection of int
        The repeats that both have.

    Returns
    -------
    list of int
        Ascending. A repeat that was skipped has no start; it says nothing of the machine's state,
        and is included. Results that record no start at all have no pairs.
    """
    starts = (_starts(one), _starts(other))
    if not all(starts):
        return []
    merged = sorted([*starts[0], *starts[1]])
    moments = [moment for moment, _ in merged]
    found = []
    for repeat in sorted(repeats):
        first = [min(m for m, r in side if r == repeat) for side in starts if _has(side, repeat)]
        between = merged[bisect_right(moments, min(first)) : bisect_left(moments, max(first))]
        if len(first) < len(starts) or all(r == repeat for _, r in between):
            found.append(repeat)
    return found


def _has(starts: list[_Start], repeat: int) -> bool:
    return any(r == repeat for _, r in starts)


def _starts(group: Group) -> list[_Start]:
    """When each run was started, to the second, and its repeat."""
    if "started" not in group.runs:
        return []
    return [
        (_moment(str(text)), int(repeat))
        for text, repeat in zip(group.runs["started"], group.runs["repeat"], strict=True)
        if text
    ]


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DataError(
            f"runs.csv: column 'started': {text!r} is not a time; run the sweep again to rewrite it"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
