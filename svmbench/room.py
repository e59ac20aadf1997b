"""Arrays that share memory in huge pages, where the system has such."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from svmbench.data.dataset import Array

#: Size of a huge page on most machines, and the least size that is worth one. The system has to
#: clear all of it, which takes as long as to provide some 40 pages of 4 KiB one by one.
HUGE_PAGE, WORTH = 2 << 20, 256 << 10

#: Arrays begin at lines of the cache.
LINE = 64

# Memory as any other where the system can tell it from shared.
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def zeros(wanted: Sequence[tuple[int, DTypeLike]]) -> list[Array]:
    """Arrays of zeros that lie next to each other.

    A process gets each page of its memory when it first writes to it. For a training of some
    milliseconds this takes a tenth of the time, unless pages are huge.

    Parameters
    ----------
    wanted : sequence of (int, dtype)
        Length and type of each array.

    Returns
    -------
    list of ndarray

    Raises
    ------
    MemoryError
        When there is not enough memory.
    """
    types = [np.dtype(dtype) for _, dtype in wanted]
    starts, size = [], 0
    for (n, _), dtype in zip(wanted, types, strict=True):
        starts.append(size)
        size += -(-n * dtype.itemsize // LINE) * LINE
    room = _zeros(size)
    return [
        room[start : start + n * dtype.itemsize].view(dtype)
        for start, (n, _), dtype in zip(starts, wanted, types, strict=True)
    ]


def _zeros(size: int) -> Array:
    """So many bytes, from the beginning of a huge page or of a line of the cache."""
    if size < WORTH:
        room, step = np.zeros(size + LINE, dtype=np.uint8), LINE
    else:
        # Pages that are not used take no memory.
        room, step = np.frombuffer(new_map(size + HUGE_PAGE), dtype=np.uint8), HUGE_PAGE
    first = -room.ctypes.data % step
    return room[first : first + size]


def new_map(size: int) -> mmap.mmap:
    """Memory of at least this size, whole huge pages if the system has such.

    Raises
    ------
    MemoryError
        When there is not enough memory.
    """
    try:
        room = mmap.mmap(-1, -(-size // HUGE_PAGE) * HUGE_PAGE, **_PRIVATE)
    except OSError:
        raise MemoryError(f"no room for {size} bytes") from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            room.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a system without them
            pass
    return room
