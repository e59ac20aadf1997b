"""Arrays in a file that has no name, for rows that do not fit into memory.

The system keeps as much of the file in memory as there is room for. The file is in the cache
folder. It has no name, so that it vanishes with this process, however that ends.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, mapping_of
from svmbench.errors import DataError

#: Share of the free disk that a text may take: a small compressed file may hold endless rows.
_SHARE = 0.5

#: File systems whose files are in memory.
_IN_MEMORY = ("tmpfs", "ramfs")

_MOUNTS = Path("/proc/self/mountinfo")

#: Bytes after which what was written is put on the disk and need not stay in memory.
_WRITTEN = 64 << 20


class Extent(NamedTuple):
    """An array's place in a file."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Room:
    """The disk space that some files may take together."""

    def __init__(self, what: str) -> None:
        from svmbench.data.cache import cache_dir  # slow to load, and most rows fit into memory

        self._what, self.folder = what, cache_dir()
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            free = os.statvfs(self.folder)
        self._most = self._left = int(_SHARE * free.f_bavail * free.f_frsize)

    @property
    def is_in_memory(self) -> bool:
        """Whether the folder is known to be in memory and on no disk, where files save none."""
        try:
            device = self.folder.stat().st_dev
            # Names of folders may have any bytes.
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return False
        number = f"{os.major(device)}:{os.minor(device)}"
        own = (line for line in mounts if line.split(" ")[2:3] == [number])
        return any(line.partition(" - ")[2].startswith(_IN_MEMORY) for line in own)

    def take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise DataError(
                f"{self._what} needs more than the {self._most / 1e9:,.1f} GB that may be taken of "
                f"{self.folder}; take fewer rows, or set SVMBENCH_CACHE to a folder with more room"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DataError(
                f"{self.folder}: {self._what} does not fit into memory and cannot be written there "
                f"({error.strerror}); make room, or set SVMBENCH_CACHE to a folder that has it"
            ) from None


class Scratch:
    """A file without a name, to which arrays are written and from which they are mapped."""

    def __init__(self, room: Room) -> None:
        from tempfile import TemporaryFile

        self._room = room
        with room.writing():
            self._file: IO[bytes] = TemporaryFile(dir=room.folder)  # noqa: SIM115
        self._size = self._synced = 0

    def put(self, array: Array) -> Extent:
        padding = -self._size % array.itemsize  # none between arrays of one type
        place = Extent(self._size + padding, array.dtype, array.shape)
        self._room.take(padding + array.nbytes)
        with self._room.writing():
            self._file.write(bytes(padding))
            self._file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
            self._size += padding + array.nbytes
            if self._size - self._synced > _WRITTEN:
                self._drop()
        return place

    def empty(self, length: int, dtype: np.dtype[Any]) -> Array:
        """A new array in the file, to be written to; it must have an entry at least."""
        offset = -(-self._size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        size = length * dtype.itemsize
        self._room.take(offset + size - self._size)
        with self._room.writing():
            # A page without a place on the disk would end the process when it is written to.
            os.posix_fallocate(self._file.fileno(), offset, size)
        self._size = offset + size
        return self._mapped(Extent(offset, dtype, (length,)), mmap.ACCESS_WRITE)

    def arrays(self, places: Sequence[Extent | None]) -> list[Array | None]:
        """Map arrays that were put into the file, read-only."""
        whole: mmap.mmap | None = None
        if self._size:
            with self._room.writing():
                self._file.flush()
            whole = mmap.mmap(self._file.fileno(), self._size, access=mmap.ACCESS_READ)
        return [None if place is None else _view(whole, place) for place in places]

    def _mapped(self, place: Extent, access: int) -> Array:
        size = place.dtype.itemsize * place.shape[0]
        mapped = mmap.mmap(self._file.fileno(), size, access=access, offset=place.offset)
        return _view(mapped, place._replace(offset=0))

    def _drop(self) -> None:
        self._file.flush()
        os.fdatasync(self._file.fileno())
        os.posix_fadvise(
            self._file.fileno(), self._synced, self._size - self._synced, os.POSIX_FADV_DONTNEED
        )
        self._synced = self._size


def adjacent(arrays: Sequence[Array | None]) -> Array | None:
    """All entries of arrays of one type that lie in a file, each right behind the one before."""
    first = arrays[0] if arrays else None
    mapping = mapping_of(first)
    if first is None or mapping is None:
        return None
    address, size = _address(first), 0
    for array in arrays:
        if array is None or array.dtype != first.dtype or mapping_of(array) is not mapping:
            return None
        if _address(array) != address + size * first.itemsize:
            return None
        size += array.size
    offset = address - np.frombuffer(mapping, np.uint8, 1).ctypes.data
    return _view(mapping, Extent(offset, first.dtype, (size,)))


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _view(mapped: mmap.mmap | None, place: Extent) -> Array:
    # Unlike that of `np.frombuffer`, its base is the mapping (`svmbench.data.dataset.mapping_of`).
    return np.ndarray(place.shape, place.dtype, mapped, place.offset if mapped else 0)
