"""NumPy's archives of arrays, read without asking for more memory than they may take."""

from __future__ import annotations

import lzma
import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from svmbench.data.cache import LONGEST_ARRAY_HEADER
from svmbench.data.dataset import Array

#: What zip, its decompressors and NumPy's header reader raise for an absent or damaged file. A
#: MemoryError is no damage, but `svmbench.errors.unopened` has to see it.
DAMAGED = (
    OSError, EOFError, ValueError, KeyError, IndexError, TypeError, OverflowError, SyntaxError,
    RuntimeError, MemoryError, struct.error, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
    tokenize.TokenError,
)  # fmt: skip


#: Where the header of an array in an archive states the lengths of its name and of what follows,
#: and most bytes that follow: its sizes in 64 bits.
_LENGTHS_AT, _LONGEST_EXTRA = 26, 20

#: The last record of an archive without a comment, but for the numbers in it.
_END = b"PK\5\6" + bytes(18)


def unpacked(file: Path | IO[bytes], room: int, *, of_others: bool = False) -> dict[str, Array]:
    """The arrays of an archive that unpacks to at most ``room`` bytes; `DAMAGED` if it is none."""
    if isinstance(file, Path) and not stat.S_ISREG(file.stat().st_mode):
        raise ValueError("it is not a file")  # reading a pipe may never end
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len({member.filename for member in members}) < len(members):
            raise ValueError("it has two arrays of one name")  # readers take different ones
        if sum(member.file_size for member in members) > room:
            raise ValueError("it unpacks to more than it may")
        if not of_others:
            _require_nothing_else(archive)
        for member in members:
            with archive.open(member) as stream:
                _require_size(stream, member.file_size)
    if not isinstance(file, Path):
        file.seek(0)
    with np.load(file, allow_pickle=False, max_header_size=LONGEST_ARRAY_HEADER) as stored:
        return dict(stored)


def _require_nothing_else(archive: zipfile.ZipFile) -> None:
    """Refuse bytes before, between and after the arrays, which readers leave out."""
    file = archive.fp
    assert file is not None
    end = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        file.seek(end + _LENGTHS_AT)
        name, extra = struct.unpack("<HH", file.read(4))
        if member.header_offset != end or extra > _LONGEST_EXTRA:
            raise ValueError("it has bytes that belong to no array")
        end += _LENGTHS_AT + 4 + name + extra + member.compress_size
    file.seek(-len(_END), os.SEEK_END)
    last = file.read()
    if end != archive.start_dir or not last.startswith(_END[:4]) or not last.endswith(_END[-2:]):
        raise ValueError("it has bytes that belong to no array")


def _require_size(stream: IO[bytes], size: int) -> None:
    """Refuse an array whose header says another size, for which NumPy would ask for memory."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of NumPy's format")
    header = np.lib.format.read_array_header_1_0(stream, max_header_size=LONGEST_ARRAY_HEADER)
    shape, _, dtype = header
    if stream.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError("an array of another size than its header says")
