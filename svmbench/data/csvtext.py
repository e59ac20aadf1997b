"""Reader of delimited text: one example per line, its values in columns.

Each line is rewritten as a line of LIBSVM text for the compiled parser, which rounds
numbers correctly, counts their digits and leaves out zeros. When that parser refuses a line,
the line is checked cell by cell to find the column that is wrong.
"""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

from svmbench.data.catalogue import Csv, CsvColumn
from svmbench.data.libsvm import ParsedText, parse_libsvm
from svmbench.data.storage import FLOAT32_DIGITS, Part
from svmbench.data.text_files import reading
from svmbench.errors import DataError
from svmbench.kernels.libsvm import ParseError, Parser
from svmbench.memory import Growing

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "blanks": ""}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NO_DIGITS = "0"
_BLANKS = " \t"  # what may surround a cell
_SHOWN = 40  # characters of a cell or a name in a message
_LONGEST_LINE = 1 << 26  # bytes; Python splits it into one string per cell


def parse_csv(path: Path, layout: Csv, label_path: Path | None = None) -> ParsedText:
    """Read a file of delimited text, and the labels from a file of their own if there is one."""
    with reading(path) as stream:
        text = _Lines(path, layout).read(stream)
    if label_path is None:
        return text
    labels = parse_libsvm(label_path)
    if labels.nnz or labels.n_samples != text.n_samples:
        raise DataError(
            f"{label_path}: not one label per line for the {text.n_samples} rows of {path.name};"
            " take both files from the same source"
        )
    return replace(text, labels=labels.labels, label_path=label_path, label_sha256=labels.sha256)


class _Lines:
    """Passes lines of delimited text to the parser of LIBSVM text."""

    def __init__(self, path: Path, layout: Csv) -> None:
        self._path, self._layout = path, layout
        self._separator = _SEPARATORS[layout.separator]
        self._line = 0
        self._names: list[str] = []  # of the columns, once the first line is read
        self._label: int | None = None
        self._kept: list[int] = []

    def read(self, stream: IO[bytes]) -> ParsedText:
        parser, digest = Parser(), hashlib.sha256()
        growing = Growing(f"{self._path}: reading further rows")
        for raw in iter(partial(stream.readline, _LONGEST_LINE + 1), b""):
            self._line += 1
            digest.update(raw)
            if len(raw) > _LONGEST_LINE:
                size = f"longer than {_LONGEST_LINE >> 20} MiB"
                raise self._fault(f"the line is {size}; is this delimited text, one row per line?")
            try:
                line = raw.decode().removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError:
                raise self._fault("not UTF-8; save it as such") from None
            if self._line == 1:
                line = line.removeprefix("\ufeff")  # the byte order mark of some programs
            if not line or line.isspace():
                continue
            cells = self._cells(line)
            if not self._names:
                self._begin(cells)
                if self._layout.header:
                    continue
            if len(cells) != len(self._names):
                number = f"{len(cells)} cells, not the {len(self._names)} of the first line"
                raise self._fault(f"{number}; correct the line")
            label = _NO_DIGITS if self._label is None else cells[self._label]
            pairs = [f" {place}:{cells[at]}" for place, at in enumerate(self._kept, start=1)]
            text = f"{label}{''.join(pairs)}\n"
            # A cell with a mark of LIBSVM text would be read as more than its own value.
            if (":" in line or "#" in line) and ("#" in text or text.count(":") > len(pairs)):
                raise self._explained(cells)
            growing.add(2 * len(text))  # entries of 8 or 12 bytes, written in 4 to 20
            try:
                parser.feed(text.encode())
            except ParseError:
                raise self._explained(cells) from None
        part = Part(*parser.take(FLOAT32_DIGITS))
        found = ParsedText.of_parts(self._path, digest.hexdigest(), [part])
        return replace(found, max_index=len(self._kept))

    def _cells(self, line: str) -> list[str]:
        if "\r" in line:
            raise self._fault("a carriage return inside a line; correct the line")
        if not self._separator:
            return [cell.strip('"') for cell in line.split()] if '"' in line else line.split()
        try:
            quoted = '"' in line
            reader = csv.reader([line], delimiter=self._separator)
            cells = next(reader) if quoted else line.split(self._separator)
        except csv.Error as error:
            raise self._fault(f"{error}; correct the line") from None
        padded = quoted or " " in line or "\t" in line
        return [cell.strip(_BLANKS) for cell in cells] if padded else cells

    def _begin(self, cells: list[str]) -> None:
        """Find the columns of the layout in the first line."""
        header = self._layout.header
        self._names = cells if header else [str(i) for i in range(1, len(cells) + 1)]
        if self._layout.label is not None:
            self._label = self._column(self._layout.label)
        left_out = {self._label, *map(self._column, self._layout.drop)}
        self._kept = [i for i in range(len(cells)) if i not in left_out]
        if not self._kept:
            raise self._fault("no column is left; correct 'label' and 'drop'")

    def _column(self, wanted: CsvColumn) -> int:
        names = self._names
        if isinstance(wanted, int):
            if wanted <= len(names):
                return wanted - 1
        elif self._layout.header and wanted in names:
            first, *more = (at for at, name in enumerate(names) if name == wanted)
            if more:
                raise self._fault(
                    f"columns {first + 1} and {more[0] + 1} both have the name {wanted[:_SHOWN]!r};"
                    " write the number of the one that is meant"
                )
            return first
        shown = [name[:_SHOWN] for name in names[:10]] + ["..."] * (len(names) > 10)
        raise self._fault(f"no column {wanted!r} among {', '.join(shown)}; correct the description")

    def _explained(self, cells: Sequence[str]) -> DataError:
        """The error in a refused line."""
        for column in sorted({*self._kept, *([] if self._label is None else [self._label])}):
            cell = cells[column]
            if _NUMBER.fullmatch(cell) and math.isfinite(float(cell)):
                continue
            what = "label" if column == self._label else "value"
            wrong = f"{what} '{cell[:_SHOWN]}'" if cell else f"no {what}"
            return self._fault(
                f"{wrong} in column {self._names[column][:_SHOWN]}; write a finite decimal number,"
                " or drop the column or the row"
            )
        return self._fault("':' or '#' in a line of numbers; remove it")

    def _fault(self, message: str) -> DataError:
        return DataError(f"{self._path}:{self._line}: {message}")
