"""Reader of LIBSVM text files, plain or compressed, into compact data sets."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray, Provenance
from svmbench.data.storage import Precision, compact
from svmbench.errors import DataError
from svmbench.kernels.libsvm import ParseError, Parser

COMPRESSED: dict[str, Callable[..., Any]] = {
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".gz": gzip.open,
}

READER_VERSION = 1
"""Raised whenever the same text would give other stored rows, so that caches are rebuilt."""

_CHUNK = 4 << 20
_LABELS_SHOWN = 10


@dataclass(frozen=True, eq=False)
class ParsedText:
    """What a file of LIBSVM text says, before anything is decided about its storage.

    Parameters
    ----------
    path : Path
    sha256 : str
        Of the uncompressed text.
    labels : ndarray of float64, shape (m,)
        As they stand in the text; where rows bear several, those of all rows, in a row.
    indptr : ndarray of int64, shape (m + 1,)
    indices : ndarray of int32, shape (nnz,)
        Columns from 0, ascending within a row.
    values : ndarray of float64, shape (nnz,)
        Without zeros.
    max_index : int
        The largest index in the text, counted from 1.
    significant_digits : int
        The most digits of any value that a float32 does not hold exactly.
    zeros : int
        Explicit zeros that were left out.
    label_indptr : ndarray of int64, shape (m + 1,), or None
        Where each row's labels start; None where each row has one.
    label_path, label_sha256 : Path and str, or None
        File of the labels, where they are apart, and its hash.
    """

    path: Path
    sha256: str
    labels: FloatArray
    indptr: Array
    indices: Array
    values: FloatArray
    max_index: int
    significant_digits: int
    zeros: int
    label_indptr: Array | None = None
    label_path: Path | None = None
    label_sha256: str | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows, m."""
        return len(self.indptr) - 1

    @property
    def provenance(self) -> Provenance:
        """Name and hash of the content; of two files, the hash of their hashes."""
        sha256 = self.sha256
        if self.label_sha256 is not None:
            sha256 = hashlib.sha256((self.sha256 + self.label_sha256).encode()).hexdigest()
        return Provenance(plain_name(self.path), sha256)


def plain_name(path: Path) -> str:
    """Name of the file without the suffix of a compression this reader knows."""
    return path.stem if path.suffix in COMPRESSED else path.name


def open_text(path: Path) -> IO[bytes]:
    """Open a file as a stream of uncompressed bytes; the suffix tells the compression."""
    stream: IO[bytes] = COMPRESSED.get(path.suffix, open)(path, "rb")
    return stream


def feed_text(path: Path, *consumers: Callable[[bytes], Any]) -> None:
    """Hand the uncompressed bytes of a file to each consumer, some MB at a time.

    Raises
    ------
    DataError
        When the file is missing, unreadable, truncated or not what its suffix says.
    """
    try:
        with open_text(path) as stream:
            while chunk := stream.read(_CHUNK):
                for consume in consumers:
                    consume(chunk)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: truncated or corrupt ({error}); fetch it again") from None
    except OSError as error:
        if error.errno is None:  # the bz2 module's word for data that is not bzip2
            raise DataError(f"{path}: truncated or corrupt ({error}); fetch it again") from None
        raise DataError(f"{path}: {error.strerror}; make it a readable file") from None


def text_sha256(path: Path) -> str:
    """Compute the sha256 of a file's uncompressed bytes; errors as `feed_text`."""
    digest = hashlib.sha256()
    feed_text(path, digest.update)
    return digest.hexdigest()


def parse_libsvm(
    path: Path, *, n_features: int | None = None, multilabel: bool = False
) -> ParsedText:
    """Read a file of LIBSVM text.

    Parameters
    ----------
    path : Path
        Plain, or compressed with the suffix .xz, .bz2 or .gz.
    n_features : int, optional
        The largest index allowed.
    multilabel : bool
        Whether rows bear any number of labels, whole numbers with commas between.

    Raises
    ------
    DataError
        When the file cannot be read, is not LIBSVM text (``FILE:LINE:COLUMN: ...``) or
        has no rows.
    """
    digest = hashlib.sha256()
    parser = Parser(n_features or 0, multilabel)
    try:
        feed_text(path, digest.update, parser.feed)
        labels, indptr, indices, values = parser.finish()
    except ParseError as error:
        raise DataError(f"{path}:{error}") from None
    if len(indptr) == 1:
        raise DataError(f"{path}: no rows; a data set needs at least one")
    return ParsedText(
        path=path,
        sha256=digest.hexdigest(),
        labels=labels,
        indptr=indptr,
        indices=indices,
        values=values,
        max_index=parser.max_index,
        significant_digits=parser.significant_digits,
        zeros=parser.zeros,
        label_indptr=parser.label_indptr,
    )


def positive_labels(text: ParsedText) -> tuple[float, ...]:
    """Which labels a file itself makes +1.

    Of two labels the larger; of a single one, that if it is +1 and none if it is -1 or 0.
    Where rows bear several, that must be stated.

    Raises
    ------
    DataError
        When the labels do not tell.
    """
    found = np.unique(text.labels)
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
    """Labels as -1 and +1, int8: +1 where one of the row's labels is among ``positive``."""
    mask = np.isin(text.labels, np.fromiter(positive, dtype=np.float64))
    if text.label_indptr is not None:
        found = np.concatenate([[0], np.cumsum(mask)])[text.label_indptr]
        mask = np.diff(found) > 0
    return np.where(mask, 1, -1).astype(np.int8)


def show_labels(labels: Array) -> str:
    """Distinct labels for a message, the first ten of them."""
    shown = [f"{label:g}" for label in np.unique(labels)]
    more = ", ..." if len(shown) > _LABELS_SHOWN else ""
    return ", ".join(shown[:_LABELS_SHOWN]) + more


def to_dataset(
    text: ParsedText,
    *,
    name: str,
    n_features: int,
    positive: Collection[float],
    transforms: tuple[str, ...] = (),
    dtype: Precision | None = None,
) -> Dataset:
    """Data set of a parsed text: labels mapped, rows stored compactly.

    ``transforms`` says what of this was the user's choice, so that it tells the rows from
    others of the same text.
    """
    indptr, indices, values = compact(
        text.indptr, text.indices, text.values, n_features, text.significant_digits, dtype=dtype
    )
    return Dataset(
        name=name,
        n_features=n_features,
        indptr=indptr,
        indices=indices,
        values=values,
        labels=binary_labels(text, positive),
        provenance=replace(text.provenance, transforms=transforms),
    )


def read_libsvm(
    path: Path | str,
    *,
    n_features: int | None = None,
    positive: float | Sequence[float] | None = None,
    name: str | None = None,
    dtype: Precision | None = None,
) -> Dataset:
    """Read a file of LIBSVM text as a data set for binary classification.

    Parameters
    ----------
    path : Path or str
        Plain, or compressed with the suffix .xz, .bz2 or .gz.
    n_features : int, optional
        d; by default the largest index in the file. A larger index is refused.
    positive : float or sequence of float, optional
        Label or labels that become +1; all others become -1. By default the larger of
        exactly two labels.
    name : str, optional
        By default the file's name without a compression suffix.
    dtype : {'float64'}, optional
        Store the values in double although single precision would do.

    Returns
    -------
    Dataset
        In compact form; rows without entries are kept, explicit zeros are not.

    Raises
    ------
    DataError
        When the file cannot be read, is not LIBSVM text (``FILE:LINE:COLUMN: ...``), has
        no rows, or its labels do not tell which is +1.
    """
    path = Path(path)
    text = parse_libsvm(path, n_features=n_features)
    if positive is None:
        chosen = positive_labels(text)
    else:
        chosen = tuple(positive) if isinstance(positive, Sequence) else (positive,)
        require_positive(text, chosen)
    return to_dataset(
        text,
        name=name or plain_name(path),
        n_features=n_features or text.max_index,
        positive=chosen,
        dtype=dtype,
    )


def require_positive(text: ParsedText, positive: Collection[float]) -> None:
    """Raise DataError when no row bears a positive label: most likely it is misstated."""
    if not np.isin(text.labels, np.fromiter(positive, dtype=np.float64)).any():
        wanted = show_labels(np.fromiter(positive, dtype=np.float64))
        raise DataError(
            f"{text.path}: no row is labelled {wanted}, which 'positive' makes +1;"
            f" the labels are {show_labels(text.labels)}"
        )
