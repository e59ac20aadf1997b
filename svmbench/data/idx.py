"""Reader of IDX files, the format of MNIST: images in one file, their labels in another.

An IDX file is a header of big-endian numbers (two zero bytes, the type of the entries, the
number of dimensions, the dimensions) and the entries, the last dimension fastest. Only
unsigned bytes are read, the only type that image sets use.
"""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from svmbench.data.dataset import Array
from svmbench.data.libsvm import ParsedText
from svmbench.data.storage import part_of
from svmbench.data.text_files import reading
from svmbench.errors import DataError
from svmbench.memory import require_memory

UNSIGNED_BYTE = 0x08

_MOST_DIMENSIONS = 32  # NumPy's limit

DIGITS = 3
"""Decimal digits of an unsigned byte: float32 holds them without loss, scaled or not."""


def parse_idx(path: Path, label_path: Path, *, scale: float | None = None) -> ParsedText:
    """Read images and their labels: one column per pixel, also those that are zero everywhere.

    Scaled or not, entries count as three digits, and so are stored in single precision: its
    rounding of a scaled entry (6e-8 of it) is far below the step of the entries (1/255 of the
    largest).
    """
    images, sha256 = _read(path)
    labels, label_sha256 = _read(label_path)
    if images.ndim < 2:
        raise DataError(f"{path}: {images.ndim} dimension; rows and columns are needed")
    if labels.ndim != 1:
        raise DataError(f"{label_path}: {labels.ndim} dimensions; labels have one")
    if len(labels) != len(images):
        raise DataError(
            f"{label_path}: {len(labels)} labels for the {len(images)} rows of {path.name};"
            " take both files from the same source"
        )
    if len(images) == 0:
        raise DataError(f"{path}: no rows; a data set needs at least one")
    rows = images.reshape(len(images), -1)
    flat = rows.reshape(-1)
    places = np.flatnonzero(flat)
    counts = np.count_nonzero(rows, axis=1)
    values = flat[places].astype(np.float64)
    if scale is not None:
        values *= scale
    part = part_of(
        labels.astype(np.float64),
        np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        (places % rows.shape[1]).astype(np.int32),
        values,
        rows.shape[1],
        DIGITS,
    )
    text = ParsedText.of_parts(path, sha256, [part])
    return replace(text, label_path=label_path, label_sha256=label_sha256)


def _read(path: Path) -> tuple[Array, str]:
    """Entries of an IDX file and the hash of its bytes."""
    with reading(path) as stream:
        head = stream.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or not 1 <= head[3] <= _MOST_DIMENSIONS:
            raise DataError(f"{path}: byte 0: not the header of an IDX file; fetch it again")
        if head[2] != UNSIGNED_BYTE:
            raise DataError(
                f"{path}: byte 2: entries of type {head[2]:#04x}; only unsigned bytes"
                f" ({UNSIGNED_BYTE:#04x}) are read: convert it to LIBSVM text"
            )
        head += stream.read(4 * head[3])
        if len(head) < 4 + 4 * head[3]:
            raise DataError(f"{path}: byte 0: not the header of an IDX file; fetch it again")
        shape = np.frombuffer(head, dtype=">u4", offset=4).tolist()
        size = math.prod(shape)
        require_memory(size, f"{path}: keeping it", "take fewer rows, or fetch it again")
        # One more tells whether there are more.
        entries = stream.read(min(size + 1, sys.maxsize))
    if len(entries) != size:
        found = "more than" if len(entries) > size else f"{len(head) + len(entries)} bytes, not"
        raise DataError(
            f"{path}: {found} the {len(head) + size} bytes that its header announces; fetch it"
            " again"
        )
    digest = hashlib.sha256(head)
    digest.update(entries)
    return np.frombuffer(entries, dtype=np.uint8).reshape(shape), digest.hexdigest()
