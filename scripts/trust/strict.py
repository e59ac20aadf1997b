"""Reads the documented formats in plain Python, as a reference for svmbench's readers.

This module is independent of the readers of svmbench. Each function returns the meaning of a text,
or None if the text is not legal.
"""

from __future__ import annotations

import csv
import math
import re
import struct
from dataclasses import dataclass, field

LARGEST = 2**31 - 1
NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
PAIR = re.compile(rb"(\+?[0-9]+):[ \t]*([^:]*)")
TOKENS = re.compile(rb"\+?[0-9]+:[ \t]*[^ \t]*|[^ \t]+")
LABEL_LIST = re.compile(rb"[0-9]+(?:,[0-9]+)*")

Row = list[tuple[int, float]]


@dataclass
class Meaning:
    """The rows of a text."""

    labels: list[list[float]] = field(default_factory=list)  # labels of each row
    # columns, counted from 0, and their values, without zeros
    rows: list[Row] = field(default_factory=list)
    width: int = 0  # the largest index, counted from 1
    # largest number of digits of a value that single precision does not represent exactly
    digits: int = 0


def number(text: bytes) -> float | None:
    """A finite number."""
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def digits(text: bytes) -> int:
    """Number of digits from the first nonzero digit to the last one."""
    mantissa = re.split(rb"[eE]", text)[0]
    return len(re.sub(rb"[^0-9]", b"", mantissa).lstrip(b"0"))


def single(value: float) -> float:
    """The value in single precision."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def libsvm(text: bytes, n_features: int = 0, multilabel: bool = False) -> Meaning | None:
    """LIBSVM text; with ``multilabel``, rows may have any number of labels."""
    found = Meaning()
    for line in text.split(b"\n"):
        body, comment, _ = line.partition(b"#")
        if not comment:
            body = body.removesuffix(b"\r")
        if b"\r" in body:
            return None
        tokens = TOKENS.findall(body)
        if tokens and not _row(found, body, tokens, n_features or LARGEST, multilabel):
            return None
    return found


def _row(found: Meaning, body: bytes, tokens: list[bytes], limit: int, multilabel: bool) -> bool:
    labels: list[float] = []
    if not multilabel:
        label = number(tokens.pop(0))
        if label is None:
            return False
        labels = [label]
    elif body[:1] not in (b" ", b"\t") and not re.match(rb"[0-9]*:", tokens[0]):
        if not LABEL_LIST.fullmatch(tokens[0]):
            return False
        labels = [float(label) for label in tokens.pop(0).split(b",")]
        if max(labels) > LARGEST:
            return False
    previous, row = 0, Row()
    for token in tokens:
        pair = PAIR.fullmatch(token)
        if pair is None or len(pair[1].lstrip(b"+0")) > 10:
            return False
        index, value = int(pair[1].lstrip(b"+0") or b"0"), number(pair[2])
        if value is None or not previous < index <= limit:
            return False
        previous = index
        if value != 0:
            row.append((index - 1, value))
            if single(value) != value:
                found.digits = max(found.digits, digits(pair[2]))
    found.width = max(found.width, previous)
    found.labels.append(labels)
    found.rows.append(row)
    return True


SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "blanks": None}


def delimited(text: bytes, separator: str, header: bool, label: int) -> Meaning | None:
    """Delimited text of numbers; ``label`` is the label's column, counted from 1."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        return None
    found = Meaning()
    width: int | None = None
    for line in decoded.removeprefix("\ufeff").split("\n"):
        line = line.removesuffix("\r")
        if not line.strip():
            continue
        if "\r" in line:
            return None
        try:
            cells = _cells(line, SEPARATORS[separator])
        except csv.Error:
            return None
        first = width is None
        width = len(cells) if width is None else width
        if len(cells) != width or label > width or width < 2:
            return None
        if first and header:
            continue
        try:
            written = [cell.encode("ascii") for cell in cells]
        except UnicodeEncodeError:
            return None
        numbers = [number(cell) for cell in written]
        if None in numbers:
            return None
        target = numbers.pop(label - 1)
        written.pop(label - 1)
        assert target is not None
        found.labels.append([target])
        found.rows.append([(i, x) for i, x in enumerate(numbers) if x])
        for i, x in found.rows[-1]:
            if single(x) != x:
                found.digits = max(found.digits, digits(written[i]))
    found.width = (width or 1) - 1
    return found


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return [cell.strip('"') for cell in line.split()]
    return [cell.strip(" \t") for cell in next(csv.reader([line], delimiter=separator), [])]


def idx(content: bytes, label_content: bytes) -> Meaning | None:
    """Images and labels of unsigned bytes."""
    images, labels = _idx(content), _idx(label_content)
    if images is None or labels is None or len(images[0]) < 2 or len(labels[0]) != 1:
        return None
    shape, entries = images
    if shape[0] != labels[0][0] or shape[0] == 0:
        return None
    size = math.prod(shape[1:])
    rows = [entries[i * size : (i + 1) * size] for i in range(shape[0])]
    return Meaning(
        [[float(label)] for label in labels[1]],
        [[(j, float(x)) for j, x in enumerate(row) if x] for row in rows],
        size,
    )


def _idx(content: bytes) -> tuple[list[int], bytes] | None:
    if len(content) < 4 or content[:3] != b"\0\0\x08" or content[3] == 0:
        return None
    end = 4 + 4 * content[3]
    if len(content) < end:
        return None
    shape = list(struct.unpack(f">{content[3]}I", content[4:end]))
    return (shape, content[end:]) if math.prod(shape) == len(content) - end else None
