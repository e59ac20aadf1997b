"""The parser of LIBSVM text on Python's own strings, regular expressions and float()."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

INT32_MAX = 2**31 - 1
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(rb"[+-]*(nan|inf|infinity)", re.IGNORECASE)


class FaultError(Exception):
    """Line and column, from 1, and words that the message must hold."""

    def __init__(self, line, column, words):
        super().__init__(line, column, words)
        self.line, self.column, self.words = line, column, words


@dataclass
class Parsed:
    labels: list = field(default_factory=list)
    rows: list = field(default_factory=list)  # lists of (column from 0, value)
    max_index: int = 0
    zeros: int = 0
    significant_digits: int = 0
    all_ones: bool = True


def parse(text, n_features=0):
    """Rows of a text, or FaultError."""
    out = Parsed()
    for number, line in enumerate(text.split(b"\n"), start=1):
        body, comment, _ = line.partition(b"#")
        if not comment:
            body = body.removesuffix(b"\r")
        tokens = re.finditer(rb"\+?[0-9]+:[ \t]*[^ \t\r]*|[^ \t\r]+|\r", body)
        try:
            _parse_line(out, [(m.start() + 1, m.group()) for m in tokens], n_features)
        except FaultError as fault:
            fault.line = number
            raise
    return out


def _parse_line(out, tokens, n_features):
    previous = 0
    for position, (column, token) in enumerate(tokens):
        if token == b"\r":
            raise FaultError(0, column, "carriage return")
        if position == 0:
            out.labels.append(_label(column, token))
            out.rows.append([])
            continue
        pair = re.fullmatch(rb"(\+?[0-9]+):[ \t]*(.*)", token, re.DOTALL)
        if pair is None:
            words = "qid" if token.lower().startswith(b"qid:") else "not index:value"
            raise FaultError(0, column, words)
        index = int(pair[1])
        if index == 0:
            raise FaultError(0, column, "zero-based")
        if index <= previous:
            raise FaultError(0, column, "twice" if index == previous else "sort")
        if index > (n_features or INT32_MAX):
            raise FaultError(0, column, "features" if n_features else "too large")
        value = _value(column + pair.start(2), pair[2])
        previous = index
        out.max_index = max(out.max_index, index)
        if value == 0:
            out.zeros += 1
            continue
        out.rows[-1].append((index - 1, value))
        out.all_ones &= value == 1
        with np.errstate(over="ignore"):
            exact = float(np.float32(value)) == value
        if not exact:
            out.significant_digits = max(out.significant_digits, digits(pair[2]))


def digits(text):
    """Digits from the first that is not zero to the last one written."""
    mantissa = re.split(rb"[eE]", text)[0]
    return len(re.sub(rb"[^0-9]", b"", mantissa).lstrip(b"0"))


def _number(column, text):
    """A number; None if the text is none."""
    if not NUMBER.fullmatch(text):
        return None
    if math.isinf(float(text)):
        raise FaultError(0, column, "too large")
    return float(text)


def _label(column, token):
    label = _number(column, token)
    if label is not None:
        return label
    if NOT_FINITE.fullmatch(token):
        raise FaultError(0, column, "not finite")
    raise FaultError(0, column, "label")


def _value(column, text):
    value = _number(column, text)
    if value is not None:
        return value
    if NOT_FINITE.fullmatch(text):
        raise FaultError(0, column, "not finite")
    raise FaultError(0, column, "without a value" if not text or b":" in text else "not a number")
