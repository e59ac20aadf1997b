"""NumPy's archives of arrays, read without asking for more memory than they may take."""

from __future__ import annotations

import lzma
import math
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


def unpacked(file: Path | IO[bytes], room: int) -> dict[str, Array]:
    """The arrays of an archive that unpacks to no more than ``room`` bytes.

    Parameters
    ----------
    file : Path or file
        A file must be seekable.
    room : int

    Raises
    ------
    OSError, ValueError and the others of `DAMAGED`
        When it cannot be read, is damaged or takes more room.
    """
    if isinstance(file, Path) and not stat.S_ISREG(file.stat().st_mode):
        raise ValueError("it is not a file")  # reading a pipe may never end
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len({member.filename for member in members}) < len(members):
            raise ValueError("it has two arrays of a name")  # readers take different ones
        if sum(member.file_size for member in members) > room:
            raise ValueError("it unpacks to more than it may")
        for member in members:
            with archive.open(member) as stream:
                _require_size(stream, member.file_size)
    if not isinstance(file, Path):
        file.seek(0)
    with np.load(file, allow_pickle=False, max_header_size=LONGEST_ARRAY_HEADER) as stored:
        return dict(stored)


def _require_size(stream: IO[bytes], size: int) -> None:
    """Refuse an array whose header says another size, for which NumPy would ask for memory."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of NumPy's format")
    header = np.lib.format.read_array_header_1_0(stream, max_header_size=LONGEST_ARRAY_HEADER)
    shape, _, dtype = header
    if stream.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError("an array of another size than its header says")
