"""Files of text, plain or compressed, as streams of uncompressed bytes."""

from __future__ import annotations

import hashlib
import io
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from svmbench.errors import DataError

if TYPE_CHECKING:
    from gzip import GzipFile

_DICTIONARY = 1 << 30  # bytes that decompression may take; xz's own presets take up to 64 MiB
_CHUNK = 4 << 20
_BUFFER = 1 << 20


def open_text(path: Path) -> IO[bytes]:
    """Open a file as a stream of uncompressed bytes; the suffix tells the compression."""
    opened = COMPRESSED.get(path.suffix.lower())
    stream: IO[bytes] = path.open("rb") if opened is None else opened(path)
    return stream


class _Streams(io.RawIOBase):
    """Content of concatenated compressed streams in a file.

    The standard library's readers take what is no stream for padding, and so would silently leave
    out all streams behind a damaged one.
    """

    def __init__(self, path: Path, decompressor: Callable[[], Any]) -> None:
        self._file = path.open("rb")
        self._decompressor = decompressor
        self._stream = decompressor()
        self._begun = False  # whether any byte of the current stream was read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            piece = b""
            if self._stream.eof:
                piece = self._stream.unused_data
                self._stream, self._begun = self._decompressor(), False
            if not piece and (self._stream.needs_input or not self._begun):
                piece = self._file.read(_CHUNK)
                if not piece and self._begun:
                    raise EOFError("it ends within a stream")
                if not piece:
                    return 0
            if not self._begun:
                piece = piece.lstrip(b"\0")  # xz's padding; no stream begins with it
                if not piece:
                    continue
                self._begun = True
            out = self._stream.decompress(piece, len(buffer))
            if out:
                buffer[: len(out)] = out
                return len(out)

    def close(self) -> None:
        self._file.close()
        super().close()


def _opened_streams(path: Path, decompressor: Callable[[], Any]) -> io.BufferedReader:
    return io.BufferedReader(_Streams(path, decompressor), _BUFFER)


def _xz(path: Path) -> io.BufferedReader:
    from lzma import LZMADecompressor  # these modules are slow to load, and most texts are plain

    return _opened_streams(path, lambda: LZMADecompressor(memlimit=_DICTIONARY))


def _bz2(path: Path) -> io.BufferedReader:
    from bz2 import BZ2Decompressor

    return _opened_streams(path, BZ2Decompressor)


def _gz(path: Path) -> GzipFile:
    import gzip

    return gzip.open(path)


COMPRESSED: dict[str, Callable[[Path], Any]] = {".xz": _xz, ".bz2": _bz2, ".gz": _gz}

#: Suffixes of the files that are tables, and what reads them.
TABLES = {
    ".csv": "text",
    ".tsv": "text",
    ".parquet": "parquet",
    ".arrow": "feather",
    ".feather": "feather",
    ".npz": "numpy",
    ".npy": "numpy",
}


def kind_of(path: Path) -> str:
    """What reads a file, by its suffix; empty for LIBSVM text."""
    return TABLES.get(_uncompressed(path).suffix.lower(), "")


def stem(path: Path) -> str:
    """The name of a table without the suffixes that say how to read it."""
    return _uncompressed(path).stem


def _uncompressed(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def chunks(path: Path) -> Iterator[bytes]:
    """The uncompressed bytes of a file, some MB at a time."""
    with reading(path) as stream:
        yield from iter(partial(stream.read, _CHUNK), b"")


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file's text; report any failure in one line."""
    _require_plain(path)
    try:
        with open_text(path) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: a folder; name a file") from None
    except _damage() as error:
        raise DataError(f"{path}: truncated or corrupt ({error}); fetch it again") from None
    except OSError as error:
        if error.errno is None:  # what the bz2 module raises for data that is not bzip2
            raise DataError(f"{path}: truncated or corrupt ({error}); fetch it again") from None
        raise DataError(f"{path}: {error.strerror}; make it a readable file") from None


def _damage() -> tuple[type[Exception], ...]:
    """What a damaged file raises when it is read."""
    import gzip
    import lzma
    import zlib

    return EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile


def _require_plain(path: Path) -> None:
    """Refuse pipes and devices: they may never end, and cannot be read twice."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # opening it will say why
    except ValueError as error:  # a NUL in its name
        raise DataError(f"{path}: no such file ({error}); check the path") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError(f"{path}: a pipe or a device; copy its content into a file")


def text_sha256(path: Path) -> str:
    digest = hashlib.sha256()
    for chunk in chunks(path):
        digest.update(chunk)
    return digest.hexdigest()
