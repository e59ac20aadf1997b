"""Where the rows of a data set come from: the set itself if it is available, else its stand-in.

A stand-in has one of the `SCALES`: the largest at which its rows have no more entries than the
budget allows (`ENTRIES_A_SECOND`). A data set whose transforms name a number of rows has at least
these, or is left out. The scale depends on nothing else, so that the same budget finds its runs
again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import DataFile, Entry, resolve
from svmbench.data.dataset import scale_text
from svmbench.data.fetch import find, found_offline, locate, offline_asked, served_by
from svmbench.data.load import is_cached
from svmbench.data.shape import Shape
from svmbench.data.transforms import Derived, rows_after, scales_between
from svmbench.data.transforms.rows import Swap
from svmbench.errors import DataError
from svmbench.memory import available_memory

_log = logging.getLogger(__name__)

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


# --- what is downloaded before the runs: missing files, the smallest first ---------

#: Bytes that are downloaded together, at most, unless everything is asked for.
MOST_BYTES = 300e6

#: Bytes of text per entry, and the share of a text that compression leaves, both at most.
_ENTRY_BYTES, _COMPRESSED = 17, 0.5


@dataclass(frozen=True)
class Missing:
    """Files that are of use only together, and about how many bytes a server sends."""

    name: str
    files: tuple[DataFile, ...]
    size: float

    def __str__(self) -> str:
        return f"{self.files[0].file} (about {self.size / 1e6:,.0f} MB)"


@dataclass(frozen=True)
class Fetching:
    """What is downloaded, and what would be too much."""

    wanted: tuple[Missing, ...]
    left: tuple[Missing, ...]

    @property
    def words(self) -> list[str]:
        """A line for either, if there is any."""
        if offline_asked():
            return []
        total = sum(each.size for each in self.wanted)
        lines = []
        if self.wanted:
            names = ", ".join(map(str, self.wanted))
            lines.append(f"to be downloaded, about {total / 1e6:,.0f} MB in all: {names}")
        if self.left:
            lines.append(f"downloaded with --fetch-all only: {', '.join(map(str, self.left))}")
        return lines

    def fetch(self) -> None:
        """Download; say once that there is no network, and otherwise what is not served."""
        if offline_asked() or found_offline():
            return
        for each in self.wanted:
            try:
                for file in each.files:
                    locate(each.name, file)
            except DataError as error:
                if found_offline():
                    _log.warning("no network, so nothing is downloaded: %s", found_offline())
                    return
                _log.warning("%s", error)


def fetching(datasets: Iterable[DatasetSpec], *, everything: bool = False) -> Fetching:
    """Choose what to download for data sets."""
    groups = {str(group): group for dataset in datasets for group in _missing(dataset)}
    wanted: list[Missing] = []
    left: list[Missing] = []
    total = 0.0
    for group in sorted(groups.values(), key=lambda group: group.size):
        total += group.size
        (wanted if everything or total <= MOST_BYTES else left).append(group)
    return Fetching(tuple(wanted), tuple(left))


def _missing(dataset: DatasetSpec) -> Iterator[Missing]:
    try:
        origin = dataset.source
        entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    except DataError:
        return
    if is_whole(entry):
        return
    roles = [
        tuple(part for part in file.parts if find(part) is None) for file in entry.files.values()
    ]
    if any(isinstance(step, Swap) for step in dataset.chain):  # needs both
        roles = [tuple(part for role in roles for part in role)]
    for files in filter(None, roles):
        if not all(served_by(file).urls for file in files):
            continue
        yield Missing(entry.name, files, sum(_size(entry, file) for file in files))


def _size(entry: Entry, file: DataFile) -> float:
    served = served_by(file)
    size = float(served.bytes or 0)
    if not size:
        shape = entry.stand_in
        a_row = shape.fraction * shape.d if shape else float(entry.n_features or 0)
        size = _ENTRY_BYTES * (file.nnz or (file.rows or 0) * a_row)
    compressed = served.urls and not served.urls[0].endswith(served.file)
    return size * _COMPRESSED if compressed else size
