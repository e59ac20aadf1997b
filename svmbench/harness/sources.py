"""Where the rows of a data set come from: the set itself if it is available, else its stand-in.

A stand-in has one of the `SCALES`: the largest at which its rows have no more entries, and take no
longer to generate, than the budget allows (`ENTRIES_A_SECOND`, `MAKING_SHARE`). The scale depends
on nothing else, so that the same budget finds its runs again.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

from svmbench.config.sweep import DatasetSpec
from svmbench.data.catalogue import Entry, Shape, resolve
from svmbench.data.fetch import find
from svmbench.data.load import is_cached, load
from svmbench.data.transforms import Derived
from svmbench.errors import DataError
from svmbench.memory import available_memory

_log = logging.getLogger(__name__)

#: Scales of stand-ins.
SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)

#: Entries of a stand-in's rows, training and test, per second of the budget.
ENTRIES_A_SECOND = 5000

#: Share of the budget that generating one stand-in may take.
MAKING_SHARE = 1 / 60

#: Share of the free memory that a stand-in's rows may take if there is no budget.
MEMORY_SHARE = 0.25

#: Bytes per entry while rows are generated.
ENTRY_BYTES = 16

#: Seconds to generate an entry: dense, and sparse with few columns or at least this many.
_DENSE, _SPARSE, _MANY = 5e-8, 8e-7, 2.5e6

#: Rows that are generated in addition to those asked for.
_PILOT_ROWS = 1 << 14


@dataclass(frozen=True)
class Source:
    """Where the rows of one data set of a sweep come from.

    Parameters
    ----------
    dataset : DatasetSpec
    scale : float, optional
        Scale of its stand-in; None for the set itself.
    unavailable : str
        Why there are no rows; empty if there are.
    """

    dataset: DatasetSpec
    scale: float | None = None
    unavailable: str = ""

    @property
    def words(self) -> str:
        """The source as the plan prints it; empty for the set itself."""
        if self.unavailable:
            return f"{self.dataset.label}: left out, {self.unavailable}"
        return "" if self.scale is None else f"{self.dataset.label}: stand-in, SCALE {self.scale:g}"


def source_of(
    dataset: DatasetSpec,
    budget: float | None,
    fetch: bool = False,
    *,
    scale: float | None = None,
    pace: float = ENTRIES_A_SECOND,
) -> Source:
    """Where the rows of a data set come from: the set itself if it is here, else its stand-in.

    Parameters
    ----------
    dataset : DatasetSpec
    budget : float, optional
        Seconds for everything, which determines the stand-in's scale.
    fetch : bool
        Download what is not here.
    scale : float, optional
        Scale of the stand-in, whatever the budget.
    pace : float
        As for `scale_for`.
    """
    try:
        origin = dataset.source
        entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    except DataError as error:
        return Source(dataset, unavailable=str(error))
    if fetch and not _is_whole(entry):
        _fetch(entry)
    if is_here(entry):
        return Source(dataset)
    if entry.stand_in is None:
        return Source(dataset, unavailable="not on this machine, and it has no stand-in")
    scale = scale or scale_for(entry.stand_in, budget, pace)
    if scale is None:
        return Source(
            dataset,
            unavailable="not on this machine, and generating a stand-in takes more than the budget",
        )
    return Source(dataset, scale)


def is_here(entry: Entry) -> bool:
    """Whether a data set can be opened without the network, if need be without test rows."""
    alone = entry.without_test
    return _is_whole(entry) or (alone is not None and _is_whole(alone))


def _is_whole(entry: Entry) -> bool:
    """Whether every file of a data set is on this machine, or its rows are in the cache."""
    if all(find(part) is not None for file in entry.files.values() for part in file.parts):
        return True
    try:
        return is_cached(entry)
    except DataError:
        return False


def _fetch(entry: Entry) -> None:
    try:
        load(entry)
    except DataError as error:
        _log.warning("%s", error)


def scale_for(shape: Shape, budget: float | None, pace: float = ENTRIES_A_SECOND) -> float | None:
    """The largest of `SCALES` that a stand-in of that shape can have; None if there is none.

    Parameters
    ----------
    shape : Shape
    budget : float, optional
        Seconds for everything; without it only memory counts.
    pace : float
        Entries of its rows per second of the budget.
    """
    if budget is None:
        memory = available_memory()
        entries = math.inf if memory is None else MEMORY_SHARE * memory / ENTRY_BYTES
        seconds = math.inf
    else:
        entries, seconds = pace * budget, MAKING_SHARE * budget
    length = shape.fraction * shape.d
    each = _DENSE if shape.columns.law == "dense" else _SPARSE * (1 + shape.d / _MANY)
    for scale in SCALES:
        made = scale * (shape.m + shape.m_test) * length
        if made <= entries and each * (made + _PILOT_ROWS * length) <= seconds:
            return scale
    return None
