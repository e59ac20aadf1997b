"""The runs of a plan that nobody has begun, handed out one by one or in whole blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svmbench.harness.blocks import BlockKey, block_of
from svmbench.harness.plan import Run


class Turns:
    """The runs that nobody has begun yet. It is not safe to use from several threads.

    - ``runs``: in the order in which they start.
    - ``homes``: hand out whole blocks, and a block that is listed here only to the node of that
      name; by default, hand out single runs to anyone.
    """

    def __init__(self, runs: Sequence[Run], homes: Mapping[BlockKey, str] | None = None) -> None:
        self._homes = {} if homes is None else homes
        groups: dict[object, list[Run]] = {}
        for run in runs:
            groups.setdefault(run.id if homes is None else block_of(run), []).append(run)
        self._groups = list(groups.values())
        self._next = 0

    def take(self, node: str | None = None) -> Sequence[Run]:
        """The next runs for a node, or for this machine; none if there are no more."""
        if node is None:
            self._next += 1
            return self._groups[self._next - 1] if self._next <= len(self._groups) else ()
        for at, group in enumerate(self._groups):
            if self._homes.get(block_of(group[0]), node) == node:
                return self._groups.pop(at)
        return ()

    def left(self) -> set[BlockKey]:
        """The blocks that nobody has taken."""
        return {block_of(group[0]) for group in self._groups[self._next :]}
