"""Cache entries that are moved to another machine: their content, their pieces, their admission."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from svmbench.data.cache import (
    HEADER,
    admit_entry,
    cache_dir,
    content_hash,
    entry_path,
    unfinished_entry,
)
from svmbench.errors import DataError

#: Bytes of a piece, at most.
PIECE = 8 << 20


@dataclass(frozen=True)
class Piece:
    """A part of a file of an entry."""

    file: str  # name of the file
    offset: int  # where its bytes begin
    content: bytes
    sha256: str  # hash of the bytes


def pieces(key: str) -> Iterator[Piece]:
    """The files of an entry in pieces, its header last."""
    folder = entry_path(key)
    arrays = sorted(path for path in folder.iterdir() if path.name != HEADER)
    for path in [*arrays, folder / HEADER]:
        with path.open("rb") as file:
            while content := file.read(PIECE):
                offset = file.tell() - len(content)
                yield Piece(path.name, offset, content, hashlib.sha256(content).hexdigest())


def receive(mark: str, piece: Piece) -> None:
    """Keep a piece of an entry that is being moved here.

    Raises DataError if its bytes were changed on the way, pieces are missing before it, or the
    cache cannot be written. The pieces so far are removed then.
    """
    try:
        _append(unfinished_entry(mark), piece)
    except OSError as error:
        forget(mark)
        raise DataError(f"{cache_dir()}: cannot write the cache ({error.strerror})") from None
    except DataError:
        forget(mark)
        raise


def _append(folder: Path, piece: Piece) -> None:
    if hashlib.sha256(piece.content).hexdigest() != piece.sha256:
        raise DataError(f"{piece.file}: a piece of the rows was changed on the way")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / Path(piece.file).name
    with path.open("r+b" if path.exists() else "xb") as file:
        if file.seek(0, 2) != piece.offset:
            raise DataError(f"{piece.file}: pieces of the rows are missing")
        file.write(piece.content)


def forget(mark: str) -> None:
    """Remove the pieces of an entry that is not wanted any more."""
    shutil.rmtree(unfinished_entry(mark), ignore_errors=True)


def admit(mark: str, key: str, expected: str) -> None:
    """Check all bytes of an entry whose pieces are here, and put it into the cache.

    Raises DataError if it is not what was to be moved, or the cache cannot be written.
    """
    admit_entry(unfinished_entry(mark), key)
    if content_hash(key) != expected:
        raise DataError(f"{entry_path(key)}: not the rows that were to be moved here")
