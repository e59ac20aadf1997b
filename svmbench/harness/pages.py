"""Pages of this process's memory, brought into a forked process before it is timed.

A forked process shares its parent's pages and has few of them in its own table. It copies a page
when it first writes to it, and looks up a page of a library when it first executes it. Both would
be on the clock; a process that has imported everything by itself has done it before.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Since Linux 5.14; Python's mmap module has no names for them.
_MADV_POPULATE_READ, _MADV_POPULATE_WRITE = 22, 23

#: A page is in memory if this bit of its entry in /proc/self/pagemap is set.
_PRESENT = np.uint64(1 << 63)

#: Areas that belong to the kernel, and cannot be populated.
_OF_THE_KERNEL = ("[vvar", "[vdso]", "[vsyscall]")


@dataclass(frozen=True)
class Pages:
    """Pages that follow each other in memory."""

    start: int  # start, length: in bytes
    length: int
    writable: bool


def present_pages() -> list[Pages]:
    """The pages of this process that are in memory, where Linux tells."""
    found: list[Pages] = []
    with suppress(OSError), Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        # Names of mapped files may have any bytes but the end of a line.
        maps = Path("/proc/self/maps").read_bytes().decode("ascii", "replace")
        for line in filter(None, maps.split("\n")):
            area, rights, *rest = line.split(maxsplit=5)
            if rights[0] != "r" or (len(rest) == 4 and rest[3].startswith(_OF_THE_KERNEL)):
                continue
            start, end = (int(address, 16) for address in area.split("-"))
            entries = os.pread(
                pagemap.fileno(), 8 * ((end - start) // mmap.PAGESIZE), 8 * (start // mmap.PAGESIZE)
            )
            present = (np.frombuffer(entries, dtype=np.uint64) & _PRESENT) != 0
            edges = np.flatnonzero(np.diff(np.concatenate(([False], present, [False])).astype(int)))
            for first, after in edges.reshape(-1, 2).tolist():
                at, length = start + first * mmap.PAGESIZE, (after - first) * mmap.PAGESIZE
                found.append(Pages(at, length, writable=rights[1] == "w" and rights[3] == "p"))
    return found


def populate(pages: list[Pages]) -> bool:
    """Bring pages into this process's table, and copy those that it may write to."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    done = [
        advise(
            part.start,
            part.length,
            _MADV_POPULATE_WRITE if part.writable else _MADV_POPULATE_READ,
        )
        == 0
        for part in pages
    ]
    return any(done)
