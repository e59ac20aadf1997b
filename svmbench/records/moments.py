"""When runs started: the order in which repeats were measured.

Evidence is gathered pair after pair, and each bet may depend on the earlier pairs only. The number
of a repeat does not give this order: a question may be served by blocks whose numbers lie below
those of blocks that were run before.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

from svmbench.errors import DataError
from svmbench.records.groups import Group
from svmbench.records.values import moment_in

Starts = tuple[tuple[datetime, int], ...]

#: A group is compared with many others; its start times are cached as long as it exists.
_known: WeakKeyDictionary[Group, Starts] = WeakKeyDictionary()

_NEVER = datetime.min.replace(tzinfo=UTC)


def starts(group: Group) -> Starts:
    """When each run started, and its repeat; ascending. Skipped runs have no start."""
    if group not in _known:
        texts = group.runs["started"] if "started" in group.runs else [""] * len(group.runs)
        _known[group] = tuple(
            sorted(
                (_moment(str(text)), int(repeat))
                for text, repeat in zip(texts, group.runs["repeat"], strict=True)
                if text
            )
        )
    return _known[group]


def in_order(repeats: Collection[int], *groups: Group) -> list[int]:
    """Repeats in the order in which the last of their runs started.

    Where no start is recorded, the number of the repeat decides, and such repeats come first.
    """
    last: dict[int, datetime] = {}
    for group in groups:
        for moment, repeat in starts(group):
            last[repeat] = max(moment, last.get(repeat, _NEVER))
    return sorted(repeats, key=lambda repeat: (last.get(repeat, _NEVER), repeat))


def _moment(text: str) -> datetime:
    try:
        return moment_in(text)
    except ValueError:
        raise DataError(
            f"runs.csv: column 'started': {text!r} is not a time; run the sweep again to rewrite it"
        ) from None
