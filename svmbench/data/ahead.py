"""Rows in a mapped file, read ahead of their use and let go after it.

Where a file does not fit into memory, each row that is met at random costs a read of its own, and
the system reads up to some megabytes around it. One request for the rows of a whole range is read
in order. Both functions are hints: without them, or for rows in memory, the results are the same.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

import numpy as np

from svmbench.data.dataset import Array, Dataset, mapping_of

#: Since Linux 5.4; Python has no name for it. Unlike MADV_DONTNEED, it never discards anything.
_MADV_COLD = 20


def read_ahead(data: Dataset) -> None:
    """Have the system read the entries of these rows."""
    _advise(data, getattr(mmap, "MADV_WILLNEED", None))


def let_go(data: Dataset) -> None:
    """Tell the system that the entries of these rows are the first that memory can do without."""
    _advise(data, _MADV_COLD)


def _advise(data: Dataset, advice: int | None) -> None:
    for array in (data.indices, data.values):
        mapping = None if array is None else mapping_of(array)
        if array is not None and mapping is not None and advice is not None and array.nbytes:
            start, end = _range_in(array, mapping)
            with suppress(OSError, AttributeError):  # a system without it
                mapping.madvise(advice, start, end - start)


def _range_in(array: Array, mapping: mmap.mmap) -> tuple[int, int]:
    """First byte, at the start of a page, and end of a contiguous array in its file."""
    begin = array.ctypes.data - np.frombuffer(mapping, np.uint8, 1).ctypes.data
    return begin // mmap.PAGESIZE * mmap.PAGESIZE, begin + array.nbytes
