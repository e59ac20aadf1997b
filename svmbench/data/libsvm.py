"""Reader of files of LIBSVM text into compact data sets."""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from svmbench.data.dataset import Array, Dataset, Provenance
from svmbench.data.stamp import Stamp, require_unchanged, stamp_before_reading
from svmbench.data.storage import (
    FLOAT32_DIGITS,
    Part,
    Parts,
    StoredPrecision,
    join,
    one_array,
    zeros_beside,
)
from svmbench.data.text_files import COMPRESSED, kind_of, reading
from svmbench.errors import DataError
from svmbench.kernels.libsvm import ParseError, Parser

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

READER_VERSION = 2
"""Incremented whenever the same text gives other stored rows, so that caches are rebuilt."""

LONGEST_LINE = 1 << 29
"""Length limit of a line in bytes: ten million features of 50 characters each.

A line is parsed once it is complete, so this bounds the memory that any text can take beyond
its rows in compact form, however small the compressed file is.
"""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # some programs save text in it
_RENAME = "let its name end in {}"
_TABLE = "a table; write it as LIBSVM text by 'svmbench data convert', or give it to svmbench train"

#: First bytes of other files that are given by mistake, what they look like and what to do.
_OTHERS = (
    (rb"\x1f\x8b", "gzip", "unpack it, or let its name end in .gz"),
    (rb"BZh[1-9]", "bzip2", "unpack it, or let its name end in .bz2"),
    (rb"\xfd7zXZ\0", "xz", "unpack it, or let its name end in .xz"),
    (rb"PK\x03\x04.{26}[^\n]*\.npy", "NumPy's .npz", _RENAME.format(".npz")),
    (rb"PK\x03\x04", "zip", "unpack it"),
    (rb"\x93NUMPY", "NumPy's .npy", _RENAME.format(".npy")),
    (rb"PAR1", "Parquet", _RENAME.format(".parquet")),
)

#: The first line of delimited text, which has no pairs.
_CSV = re.compile(rb"\s*+(?:#[^\n]*\n\s*+)*+[^\n:,;#]*[,;][^\n:]*(?:\n|\Z)")
_PIECE = 1 << 20  # once parsed, it fits a processor's caches
_LOOK = 1 << 12  # bytes that show what a file is
_SMALL = 4 << 20  # bytes of a file in whose time for parsing threads are loaded and started
_LABELS_SHOWN = 10
_ROWS_AT_A_TIME = 1 << 20
_WAITING = 2  # items per thread, so that no thread is idle while the next item is read


@dataclass(frozen=True, eq=False)
class ParsedText:
    """The content of a file of LIBSVM text, before its rows are stored in one form."""

    path: Path
    sha256: str  # of the uncompressed text
    # (shape (m,)) As in the text; if rows have several labels, those of all rows one after another
    labels: Array
    parts: list[Part]  # the rows, in order; `to_dataset` consumes them
    n_samples: int  # n_samples, nnz: number of rows and of nonzero entries
    nnz: int
    max_index: int  # the largest index in the text, counted from 1
    zeros: int  # explicit zeros that were left out
    # (shape (m + 1,)) Where each row's labels start; None where each row has one
    label_indptr: Array | None = None
    # label_path, label_sha256: file of the labels, if it is separate, and its hash
    label_path: Path | None = None
    label_sha256: str | None = None
    stamps: tuple[Stamp, ...] = ()  # stamps of the file and of the labels' file when they were read
    zero_based: bool = False  # whether its indices were read as counted from 0

    @classmethod
    def of_parts(cls, path: Path, sha256: str, parts: list[Part]) -> ParsedText:
        """Combine the parts of a file."""
        n_samples = sum(part.n_samples for part in parts)
        if n_samples == 0:
            raise DataError(f"{path}: no rows; a data set needs at least one")
        label_indptr = None
        if parts[0].label_indptr is not None:
            counts = [np.diff(part.label_indptr) for part in parts if part.label_indptr is not None]
            label_indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return cls(
            path=path,
            sha256=sha256,
            labels=one_array([part.labels for part in parts]),
            parts=parts,
            n_samples=n_samples,
            nnz=sum(part.nnz for part in parts),
            max_index=max(part.max_index for part in parts),
            zeros=sum(part.zeros for part in parts),
            label_indptr=label_indptr,
        )

    @property
    def provenance(self) -> Provenance:
        """Name and hash of the content; for two files, the hash of their hashes."""
        digest = self.sha256
        if self.label_sha256 is not None:
            digest = hashlib.sha256(f"{digest}{self.label_sha256}".encode()).hexdigest()
        return Provenance(
            plain_name(self.path),
            digest,
            ("zero-based",) if self.zero_based else (),
        )


def plain_name(path: Path) -> str:
    return path.stem if path.suffix.lower() in COMPRESSED else path.name


def parse_libsvm(
    path: Path,
    *,
    n_features: int | None = None,
    multilabel: bool = False,
    zero_based: bool = False,
    dtype: StoredPrecision | None = None,
    threads: int | None = None,
    beyond_memory: bool = False,
) -> ParsedText:
    """Read a file of LIBSVM text.

    Pieces of the text are parsed in parallel while the next ones are read, decompressed and hashed;
    the result, rows or an error, is the same for any number of threads. The text is never in memory
    as a whole, and its rows only in compact form.

    - ``beyond_memory``: keep rows and labels in files without names as soon as they take a quarter
      of the free memory, and from the first one on if the text's file is larger than the free
      memory.
    """
    threads = threads or (1 if _size(path) < _SMALL else available_processors())
    how = n_features, multilabel, zero_based, threads, beyond_memory
    try:
        if dtype is None:
            with suppress(_DoubleNeededError):
                return _parse(path, *how, FLOAT32_DIGITS)
        return _parse(path, *how, 0)
    except MemoryError as error:
        what = str(error) or "no memory left"
        raise DataError(f"{path}: too large for the memory ({what}); take fewer rows") from None


def parse_own(
    path: Path,
    *,
    zero_based: bool = False,
    dtype: StoredPrecision | None = None,
    beyond_memory: bool = False,
) -> ParsedText:
    """Read a user's own file of LIBSVM text, unless it changes meanwhile.

    Nobody has a hash to check it by, and the end of one that is cut looks like that of any other.
    """
    before = stamp_before_reading(path)
    text = parse_libsvm(path, zero_based=zero_based, dtype=dtype, beyond_memory=beyond_memory)
    require_unchanged(path, before)
    return text


def available_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _DoubleNeededError(Exception):
    """Rows have been rounded to single precision, and a later one needs double."""


def _size(path: Path) -> int:
    """Bytes of a file; 0 if there is none of that name, which is refused when it is opened."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _parse(
    path: Path,
    n_features: int | None,
    multilabel: bool,
    zero_based: bool,
    threads: int,
    beyond_memory: bool,
    single_digits: int,
) -> ParsedText:
    digest = hashlib.sha256()
    parsers: list[Parser] = []  # threads may take from it and add to it

    def parse(piece: list[memoryview] | Exception) -> tuple[Part, int]:
        if isinstance(piece, Exception):
            raise piece
        try:
            parser = parsers.pop()
        except IndexError:
            parser = Parser(n_features or 0, multilabel, zero_based)
        for chunk in piece:
            parser.feed(chunk)
        lines = parser.lines
        part = Part(*parser.take(single_digits))
        parsers.append(parser)  # to reuse its buffers; a parser that failed is not reused
        return part, lines

    parts = Parts(f"{path}: reading further rows", beyond_memory, _size(path))
    lines = 0
    try:
        for part, count in in_order(parse, _pieces(path, digest, multilabel), threads):
            double = part.values is not None and part.values.dtype == np.float64
            if double and single_digits:
                # Parts behind it, and perhaps before it, have been rounded already.
                raise _DoubleNeededError
            parts.add(part)
            lines += count
    except ParseError as error:
        raise DataError(f"{path}:{lines + error.line}:{error.column}: {error.message}") from None
    return replace(
        ParsedText.of_parts(path, digest.hexdigest(), parts.all()), zero_based=zero_based
    )


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Results of ``work`` on each item, in the order of the items.

    An exception is raised in place of its result, so that the outcome does not depend on the number
    of threads. The caller's thread iterates over the items, of which few are in progress at a time.
    """
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            del item
            if len(pending) >= _WAITING * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _other_format(start: bytes, multilabel: bool) -> str:
    """What a file is by its first bytes, and what to do; empty if it may be LIBSVM text."""
    for pattern, name, remedy in _OTHERS:
        if re.match(pattern, start, re.DOTALL):
            return f"this looks like {name}: {remedy}"
    if not multilabel and _CSV.match(start):  # a row of several labels has commas, too
        return f"this looks like CSV: {_RENAME.format('.csv')}, and add --target COLUMN"
    return ""


def _pieces(
    path: Path, digest: hashlib._Hash, multilabel: bool
) -> Iterator[list[memoryview] | Exception]:
    """Pieces of a text in whole lines, about equally long; the last may end within a line.

    An error in reading is yielded last, in place of a piece, so that errors in the text before
    it are reported first. The text is hashed while other threads parse it.
    """
    piece: list[memoryview] = []
    begun = 0  # bytes of the line that is not complete yet
    mark = codecs.BOM_UTF8  # some editors begin a text with it
    try:
        with reading(path) as stream:
            while chunk := stream.read(_PIECE):
                if mark and chunk.startswith(_UTF16):
                    yield DataError(f"{path}: it is in UTF-16; save it as UTF-8")
                    return
                if mark and (other := _other_format(chunk[:_LOOK], multilabel)):
                    yield DataError(f"{path}: {_TABLE if kind_of(path) else other}")
                    return
                start, mark = len(mark) if chunk.startswith(mark) else 0, b""
                first = chunk.find(b"\n")
                begun += len(chunk) if first < 0 else first
                if begun > LONGEST_LINE:
                    size = f"longer than {LONGEST_LINE >> 20} MiB"
                    what = f"the line is {size}; is this LIBSVM text, one row per line?"
                    yield ParseError(1, LONGEST_LINE + 1, what)
                    return
                cut = max(start, chunk.rfind(b"\n") + 1)
                if cut > start:
                    yield [*piece, memoryview(chunk)[start:cut]]
                    piece, begun = [], len(chunk) - cut
                piece.append(memoryview(chunk)[cut:])
                digest.update(chunk)
    except DataError as error:
        yield error
    else:
        yield piece


def _distinct(labels: Array) -> Array:
    """The distinct labels, ascending."""
    ordered = np.sort(labels)
    # np.unique loads numpy.ma, which takes as long as reading some MB of text.
    further = ordered[1:][ordered[1:] != ordered[:-1]]
    return np.concatenate([ordered[:1], further])


def positive_labels(text: ParsedText) -> tuple[float, ...]:
    """The labels that become +1 by default.

    Of two labels it is the larger one. A single label stays +1 if it is +1, and becomes -1 if it is
    -1 or 0. If rows have several labels, the positive ones must be stated.
    """
    found = _distinct(text.labels)
    if text.label_indptr is None:
        if len(found) == 2:
            return (float(found[1]),)
        if len(found) == 1 and found[0] in (-1.0, 0.0, 1.0):
            return (1.0,)
    raise DataError(
        f"{text.path}: cannot tell which of the labels {show_labels(found)} is +1;"
        " state it as 'positive'"
    )


def binary_labels(text: ParsedText, positive: Collection[float]) -> Array:
    """Labels as -1 and +1, int8: +1 if one of the row's labels is in ``positive``."""
    wanted = np.fromiter(positive, dtype=np.float64)
    if text.label_indptr is not None:
        found = np.concatenate([[0], np.cumsum(np.isin(text.labels, wanted))])
        return _signs(np.diff(found[text.label_indptr]) > 0)
    signs = zeros_beside(text.labels, text.n_samples, np.dtype(np.int8))
    for start in range(0, text.n_samples, _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        signs[rows] = _signs(np.isin(text.labels[rows], wanted))
    return signs


def _signs(positive: Array) -> Array:
    return np.where(positive, np.int8(1), np.int8(-1))


def label_text(label: float) -> str:
    """A label as one would write it, with as many digits as tell it from all others."""
    short = f"{label:g}"
    return short if float(short) == label else f"{label:.17g}"


def show_labels(labels: Array) -> str:
    """The first ten distinct labels, for a message."""
    shown = list(map(label_text, _distinct(labels)))
    more = ", ..." if len(shown) > _LABELS_SHOWN else ""
    return ", ".join(shown[:_LABELS_SHOWN]) + more


def to_dataset(
    text: ParsedText,
    *,
    name: str,
    n_features: int,
    positive: Collection[float],
    transforms: tuple[str, ...] = (),
    dtype: StoredPrecision | None = None,
) -> Dataset:
    """Data set of a parsed text, whose parts are consumed; ``transforms``: the user's choices."""
    labels = binary_labels(text, positive)
    indptr, indices, values = join(text.parts, n_features, dtype=dtype)
    return Dataset(
        name=name,
        n_features=n_features,
        indptr=indptr,
        indices=indices,
        values=values,
        labels=labels,
        provenance=replace(text.provenance, transforms=(*text.provenance.transforms, *transforms)),
    )


def require_positive(text: ParsedText, positive: Collection[float]) -> None:
    """Refuse rows none of which has a positive label: it is probably misstated."""
    if not np.isin(text.labels, np.fromiter(positive, dtype=np.float64)).any():
        wanted = show_labels(np.fromiter(positive, dtype=np.float64))
        raise DataError(
            f"{text.path}: no row is labelled {wanted}, which 'positive' makes +1;"
            f" the labels are {show_labels(text.labels)}"
        )
