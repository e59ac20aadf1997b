"""Where the rows of a data set come from: the set itself if it is available, else its stand-in.

A stand-in has one of the `SCALES`: the largest at which its rows have no more entries than the
budget allows (`ENTRIES_A_SECOND`). A data set whose transforms name a number of rows has at least
these, or is left out. The scale depends on nothing else, so that the same budget finds its runs
again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import Entry, resolve
from svmbench.data.dataset import scale_text
from svmbench.data.fetch import find
from svmbench.data.load import is_cached
from svmbench.data.shape import Shape
from svmbench.data.transforms import Derived, rows_after, scales_between
from svmbench.data.transforms.rows import Swap
from svmbench.errors import DataError
from svmbench.memory import available_memory

#: Scales of stand-ins.
SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)

#: Entries of a stand-in's rows, training and test, per second of the budget.
ENTRIES_A_SECOND = 5000

#: Share of the free memory that a stand-in's rows may take if there is no budget.
STAND_IN_MEMORY_SHARE = 0.25

#: Bytes per entry while rows are generated.
ENTRY_BYTES = 16


@dataclass(frozen=True)
class Source:
    """Where the rows of one data set of a sweep come from."""

    dataset: DatasetSpec
    scale: float | None = None  # scale of its stand-in; None for the set itself
    unavailable: str = ""  # why there are no rows; empty if there are

    @property
    def words(self) -> str:
        """The source as the plan prints it; empty for the set itself."""
        if self.unavailable:
            return f"{self.dataset.label}: left out, {self.unavailable}"
        if self.scale is None:
            return ""
        return f"{self.dataset.label}: stand-in, {self._size}"

    @property
    def _size(self) -> str:
        """The scale; where transforms name a number of rows, these, which say more."""
        assert self.scale is not None
        scale = f"SCALE {scale_text(self.scale)}"
        shape = self.shape
        if shape is None:
            return scale
        rows, named = rows_after(self.dataset.chain, shape.m, shape.m_test, self.scale)
        if not named or rows is None:
            return scale
        return f"{rows:,.0f} of {shape.m:,} rows, as its transforms say ({scale})"

    @property
    def shape(self) -> Shape | None:
        """The shape of its stand-in, if one is described."""
        return None if self._entry is None else self._entry.stand_in

    @cached_property
    def _entry(self) -> Entry | None:
        origin = self.dataset.source
        try:
            if not isinstance(origin, Derived):
                return resolve(origin)
            found = resolve(origin.source)
        except DataError:
            return None
        # Rows without transforms are stored by their label.
        return found if origin.transforms else found.model_copy(update={"name": origin.name})


def source_of(
    dataset: DatasetSpec,
    budget: float | None,
    *,
    scale: float | None = None,
    pace: float = ENTRIES_A_SECOND,
) -> Source:
    """Where the rows of a data set come from: the set itself if it is here, else its stand-in."""
    try:
        origin = dataset.source
        entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    except DataError as error:
        return Source(dataset, unavailable=str(error))
    # A swap trains on the test rows, so that the set cannot do without them.
    swapped = any(isinstance(step, Swap) for step in dataset.chain)
    if is_whole(entry) or (is_here(entry) and not swapped):
        return Source(dataset)
    return stand_in_of(dataset, budget, scale=scale, pace=pace)


def stand_in_of(
    dataset: DatasetSpec,
    budget: float | None,
    *,
    scale: float | None = None,
    pace: float = ENTRIES_A_SECOND,
) -> Source:
    shape = Source(dataset).shape
    if shape is None:
        return Source(dataset, unavailable="not on this machine, and it has no stand-in")
    least, most = scales_between(dataset.chain, shape.m, shape.m_test)
    if scale is None:
        scale = scale_for(shape, budget, pace, least=least, most=most)
    if scale is None:
        return Source(
            dataset,
            unavailable="not on this machine, and its smallest stand-in is beyond "
            + ("the memory" if budget is None else "the budget"),
        )
    if scale < least:
        return Source(
            dataset,
            unavailable=f"not on this machine, and its transforms need SCALE {scale_text(least)}"
            f" of its stand-in, but only {scale_text(scale)} is possible",
        )
    return Source(dataset, scale)


def is_here(entry: Entry) -> bool:
    """Whether a data set can be opened without the network, if need be without test rows."""
    alone = entry.without_test
    return is_whole(entry) or (alone is not None and is_whole(alone))


def is_whole(entry: Entry) -> bool:
    """Whether every file of a data set is on this machine, or its rows are in the cache."""
    if all(find(part) is not None for file in entry.files.values() for part in file.parts):
        return True
    try:
        return is_cached(entry)
    except DataError:
        return False


def scale_for(
    shape: Shape,
    budget: float | None,
    pace: float = ENTRIES_A_SECOND,
    *,
    least: float = 0.0,
    most: float = 1.0,
) -> float | None:
    """The scale of a stand-in, at least the one that named rows need; None if none is possible."""
    entries = (shape.m + shape.m_test) * shape.fraction * shape.d
    allowed = _entries_in_memory()
    wanted = allowed if budget is None else min(allowed, pace * budget)
    if min(SCALES) * entries > wanted and not 0.0 < least * entries <= allowed:
        return None
    possible = [least] if 0.0 < least <= 1.0 and least * entries <= allowed else []
    possible += [scale for scale in SCALES if scale * entries <= wanted]
    return min(max(possible), most) if possible else None


def _entries_in_memory() -> float:
    memory = available_memory()
    return math.inf if memory is None else STAND_IN_MEMORY_SHARE * memory / ENTRY_BYTES
