"""Storage of rows in the smallest form that holds their values."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, FloatArray, mapping_of
from svmbench.errors import DataError
from svmbench.memory import Growing, available_memory

#: Share of the free disk that a text may take: a small compressed file may hold endless rows.
_SHARE = 0.5

#: File systems whose files are in memory.
_OF_MEMORY = ("tmpfs", "ramfs")

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
        return any(line.partition(" - ")[2].startswith(_OF_MEMORY) for line in own)

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
    """A file in the cache folder, to which arrays are written and from which they are mapped.

    The system keeps as much of it in memory as there is room for. It has no name, so that it
    vanishes with this process, however that ends.
    """

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

    def arrays(self, places: Sequence[Extent | None]) -> list[Array | None]:
        """Map arrays that were put into the file, read-only."""
        whole: mmap.mmap | None = None
        if self._size:
            with self._room.writing():
                self._file.flush()
            whole = mmap.mmap(self._file.fileno(), self._size, access=mmap.ACCESS_READ)
        return [None if place is None else _view(whole, place) for place in places]

    def _drop(self) -> None:
        self._file.flush()
        os.fdatasync(self._file.fileno())
        os.posix_fadvise(
            self._file.fileno(), self._synced, self._size - self._synced, os.POSIX_FADV_DONTNEED
        )
        self._synced = self._size


def adjacent(arrays: Sequence[Array | None]) -> Array | None:
    """All entries of all arrays of a kind, if they are of one type and lie in a file."""
    first = arrays[0] if arrays else None
    mapping = mapping_of(first)
    if first is None or mapping is None:
        return None
    # The file has nothing else between the arrays of a kind if they are of one type.
    for array in arrays:
        if array is None or array.dtype != first.dtype or mapping_of(array) is not mapping:
            return None
    offset = first.ctypes.data - np.frombuffer(mapping, np.uint8, 1).ctypes.data
    size = sum(array.size for array in arrays if array is not None)
    return _view(mapping, Extent(offset, first.dtype, (size,)))


def _view(mapped: mmap.mmap | None, place: Extent) -> Array:
    # Unlike that of `np.frombuffer`, its base is the mapping (`svmbench.data.dataset.mapping_of`).
    return np.ndarray(place.shape, place.dtype, mapped, place.offset if mapped else 0)


StoredPrecision = Literal["float64"]

FLOAT32_DIGITS = 6
"""Decimal digits that survive float32: its rounding is below that of a text with as many."""

_BLOCK = 1 << 20

#: Share of the free memory that rows may take before they are kept in files; nothing if their text
#: is larger than the free memory.
_IN_MEMORY = 0.25


def column_type(n_features: int) -> np.dtype[Any]:
    """The type in which sparse rows of so many features store their columns."""
    return np.dtype(np.uint16 if n_features <= 1 << 16 else np.int32)


def _is_smaller_dense(m: int, d: int, nnz: int, stored: np.dtype[Any], ones: bool) -> bool:
    """Whether m rows take fewer bytes dense than sparse, where only ones take none."""
    entry = column_type(d).itemsize + (0 if ones else stored.itemsize)
    return m * d * stored.itemsize < (m + 1) * 8 + nnz * entry


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive rows of a text, in the smallest form that holds them."""

    # (shape (m,)) As in the text; if rows have several labels, those of all rows one after another
    labels: Array
    # (shape (m + 1,)) Where each row's labels start; None where each row has one
    label_indptr: Array | None
    indptr: Array  # (shape (m + 1,)) Row starts, for dense rows too
    # (shape (nnz,)) Columns from 0, ascending within a row; None for dense rows
    indices: Array | None
    values: Array | None  # shape (nnz,), or (m, width) for dense rows; None where all are one
    # whether the values equal those of the text read in double precision. Values are in double
    # precision only if single precision would not do.
    exact: bool
    max_index: int  # the largest index in the text, counted from 1
    zeros: int  # explicit zeros that were left out

    @property
    def n_samples(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1])

    @property
    def nbytes(self) -> int:
        arrays = (self.labels, self.label_indptr, self.indptr, self.indices, self.values)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def nbytes_later(self) -> int:
        """Bytes that joining it takes beside its own: labels are copied, sorted and mapped."""
        return 2 * self.labels.nbytes + 2 * self.n_samples + 8 * self.n_samples


class _FiledParts:
    """Parts whose arrays are in files, one file for each kind of array."""

    def __init__(self, room: Room) -> None:
        kinds = "labels", "label_indptr", "indptr", "indices", "values"
        self._files = {kind: Scratch(room) for kind in kinds}
        self._places: dict[str, list[Extent | None]] = {kind: [] for kind in kinds}
        self._facts: list[tuple[bool, int, int]] = []

    def add(self, part: Part) -> None:
        for kind, file in self._files.items():
            array = getattr(part, kind)
            self._places[kind].append(None if array is None else file.put(array))
        self._facts.append((part.exact, part.max_index, part.zeros))

    def all(self) -> list[Part]:
        """All parts, whose arrays are read from the files when they are used."""
        arrays = [file.arrays(self._places[kind]) for kind, file in self._files.items()]
        each = zip(*arrays, self._facts, strict=True)
        return [Part(*kinds, *facts) for *kinds, facts in each]


class Parts:
    """The parts of a text as they are read: in memory, or from a limit on all of them in files."""

    def __init__(self, what: str, beyond_memory: bool, size: int) -> None:
        self._what, self._growing = what, Growing(what)
        free = available_memory() if beyond_memory else None
        self._most = math.inf if free is None else _IN_MEMORY * free * (size <= free)
        self._taken = 0
        self._parts: list[Part] = []
        self._filed: _FiledParts | None = None

    def add(self, part: Part) -> None:
        self._taken += part.nbytes + part.nbytes_later
        if self._taken > self._most and self._filed is None:
            self._file()
        if self._filed is not None:
            self._filed.add(part)
            return
        self._growing.add(part.nbytes, part.nbytes_later)
        self._parts.append(part)

    def _file(self) -> None:
        """Put all parts into files, unless these would be in memory as well."""
        room = Room(self._what)
        if room.is_in_memory:
            self._most = math.inf
            self._growing.remedy += f", or set SVMBENCH_CACHE: {room.folder} is not on a disk"
            return
        self._filed = _FiledParts(room)
        self._parts.reverse()
        while self._parts:
            self._filed.add(self._parts.pop())

    def all(self) -> list[Part]:
        return self._parts if self._filed is None else self._filed.all()


def part_of(
    labels: Array,
    indptr: Array,
    indices: Array,
    values: FloatArray | None,
    max_index: int,
    significant_digits: int,
) -> Part:
    """Part of rows in memory, in single precision if that will do."""
    stored: Array | None = values
    if values is None or bool(np.all(values == 1.0)):
        stored = None
    elif _single_will_do(values, significant_digits):
        stored = values.astype(np.float32, copy=False)
    exact = values is None or stored is None or bool(np.array_equal(stored, values))
    return Part(labels, None, indptr, indices, stored, exact, max_index, 0)


def join(
    parts: list[Part], n_features: int, *, dtype: StoredPrecision | None = None
) -> tuple[Array | None, Array | None, Array | None]:
    """Rows of consecutive parts in the smallest form that holds them all, as `Dataset` takes them.

    Each part is freed once it is copied, so that there is never a second copy of all rows. Arrays
    that lie in a file as the data set wants them are not copied, and stay there.
    """
    m, nnz = sum(part.n_samples for part in parts), sum(part.nnz for part in parts)
    ones = all(part.values is None for part in parts)
    double = any(part.values is not None and part.values.dtype == np.float64 for part in parts)
    double = double or dtype == "float64"
    assert not double or all(part.exact for part in parts)
    stored = np.dtype(np.float64 if double else np.float32)
    narrow = column_type(n_features)
    new = _in_file if any(map(_is_in_file, parts)) else _in_memory
    if _is_smaller_dense(m, n_features, nnz, stored, ones):
        return None, None, _join_dense(parts, new(m * n_features, stored).reshape(m, n_features))
    indptr = _joined_starts(parts, new(m + 1, np.dtype(np.int64)))
    in_place = _as_they_lie(parts, narrow, None if ones else stored)
    if in_place is not None:
        return indptr, *in_place
    indices, values = new(nnz, narrow), None if ones else new(nnz, stored)
    _copy_entries(parts, indices, values)
    return indptr, indices, values


def _joined_starts(parts: list[Part], indptr: Array) -> Array:
    row = start = 0
    for part in parts:
        end = row + part.n_samples
        np.add(part.indptr[1:], start, out=indptr[row + 1 : end + 1])
        row, start = end, start + part.nnz
    return indptr


def _as_they_lie(
    parts: list[Part], columns: np.dtype[Any], numbers: np.dtype[Any] | None
) -> tuple[Array, Array | None] | None:
    """The parts' columns and values, if they lie in files as the data set wants them."""
    filled = [part for part in parts if part.nnz]
    indices = adjacent([part.indices for part in filled])
    values = None if numbers is None else adjacent([part.values for part in filled])
    if indices is None or indices.dtype != columns or (values is None) != (numbers is None):
        return None
    return None if values is not None and values.dtype != numbers else (indices, values)


def _copy_entries(parts: list[Part], indices: Array, values: Array | None) -> None:
    """Copy the parts' columns and values, and free each part."""
    start = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        entries = slice(start, start + part.nnz)
        if part.indices is None:
            assert part.values is not None
            filled = np.nonzero(part.values)
            indices[entries] = filled[1]
            if values is not None:
                values[entries] = part.values[filled]
        else:
            indices[entries] = part.indices
            if values is not None:
                values[entries] = 1.0 if part.values is None else part.values
        start = entries.stop


def _in_memory(length: int, dtype: np.dtype[Any]) -> Array:
    return np.zeros(length, dtype)


def _in_file(length: int, dtype: np.dtype[Any]) -> Array:
    from tempfile import TemporaryFile

    size, room = length * dtype.itemsize, Room("storing its rows")
    if not size:  # an array without entries has no place in a file
        return _in_memory(length, dtype)
    room.take(size)
    with room.writing(), TemporaryFile(dir=room.folder) as file:
        # A page without a place on the disk would end the process when it is written to.
        os.posix_fallocate(file.fileno(), 0, size)
        return _view(mmap.mmap(file.fileno(), size), Extent(0, dtype, (length,)))


def _is_in_file(part: Part) -> bool:
    return mapping_of(part.indices) is not None or mapping_of(part.values) is not None


def zeros_beside(other: Array, length: int, dtype: np.dtype[Any]) -> Array:
    """Zeros of shape (length,): in a file if the other array is, and else in memory."""
    return (_in_memory if mapping_of(other) is None else _in_file)(length, dtype)


def one_array(arrays: Sequence[Array]) -> Array:
    """The entries of all arrays; without a copy if they lie one behind the other in a file."""
    whole = adjacent(arrays)
    return np.concatenate(arrays) if whole is None else whole


def _join_dense(parts: list[Part], out: Array) -> Array:
    """The parts' rows, written to zeros of shape (m, d)."""
    start = 0
    parts.reverse()
    while parts:
        part = parts.pop()
        rows = out[start : start + part.n_samples]
        start += part.n_samples
        if part.indices is None:
            assert part.values is not None
            rows[:, : part.values.shape[1]] = part.values
        else:
            of_row = np.repeat(np.arange(part.n_samples), np.diff(part.indptr))
            rows[of_row, part.indices] = 1.0 if part.values is None else part.values
    return out


def compact(
    indptr: Array,
    indices: Array,
    values: FloatArray | None,
    n_features: int,
    significant_digits: int,
) -> tuple[Array | None, Array | None, Array | None]:
    """Rows in their smallest form.

    Columns are uint16 if d allows. Values are left out if all are one. They are float32 if that
    holds them exactly or the text gives at most six significant digits. Rows are dense if that is
    smaller.
    """
    rows = part_of(np.empty(0), indptr, indices, values, 0, significant_digits)
    return join([rows], n_features)


def _single_will_do(values: FloatArray, significant_digits: int) -> bool:
    tiny = np.finfo(np.float32).tiny
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        with np.errstate(over="ignore", under="ignore"):
            rounded = block.astype(np.float32)
        good = rounded == block
        if significant_digits <= FLOAT32_DIGITS:
            good |= np.isfinite(rounded) & (np.abs(rounded) >= tiny)
        if not good.all():
            return False
    return True
