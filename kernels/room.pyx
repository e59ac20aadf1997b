# Memory in huge pages, where the system has such, and arrays that share it.
#
#   new_map   a map of memory, for whoever divides it by himself
#   zeros     arrays of zeros next to each other, each from the beginning of a line of the cache
#
# A process gets each page of its memory when it first writes to it. To a training of some
# milliseconds that is a tenth of its time, unless pages are huge.

import mmap

import numpy as np

from .provenance cimport build_record

__build__ = build_record()

# Size of a huge page on most machines, and the least size that is worth one: the system has to
# clear all of it, which takes as long as to provide some 40 pages of 4 KiB one by one.
HUGE_PAGE, WORTH = 2 << 20, 256 << 10

# Bytes of a line of the cache.
LINE = 64

# Memory as any other where the system can tell it from shared.
_PRIVATE = {}
if hasattr(mmap, "MAP_PRIVATE"):
    _PRIVATE["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def zeros(wanted):
    """Arrays of zeros that lie next to each other."""
    cdef const unsigned char[::1] view
    parts, size = [], 0
    for n, dtype in wanted:
        end = size + n * np.dtype(dtype).itemsize
        parts.append((size, end, dtype))
        size = (end + LINE - 1) // LINE * LINE
    if size < WORTH:
        room, step = np.zeros(size + LINE, dtype=np.uint8), LINE
    else:
        # Pages that are not used take no memory.
        room, step = np.frombuffer(new_map(size + HUGE_PAGE), dtype=np.uint8), HUGE_PAGE
    view = room
    room = room[(step - <size_t> &view[0] % step) % step:]
    return [room[begin:end].view(dtype) for begin, end, dtype in parts]


def new_map(size):
    """Memory of at least this size, in huge pages if the system has such."""
    try:
        room = mmap.mmap(-1, size, **_PRIVATE)
    except OSError:
        raise MemoryError(f"no room for {size} bytes") from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            room.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a system without them
            pass
    return room
