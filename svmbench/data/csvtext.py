"""Reader of delimited text: one example per line, its values in columns.

Each line is rewritten as a line of LIBSVM text for the compiled parser, which rounds
numbers correctly, counts their digits and leaves out zeros. When that parser refuses a line,
the line is checked cell by cell to find the column that is wrong.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from svmbench.data.catalogue import Csv, CsvColumn
from svmbench.data.libsvm import ParsedText, parse_libsvm
from svmbench.data.storage import FLOAT32_DIGITS, Part
from svmbench.data.text_files import feed_text
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
    digest = hashlib.sha256()
    lines = _Lines(path, layout)
    feed_text(path, digest.update, lines.feed)
    text = lines.finish(digest.hexdigest())
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
    """Feeds chunks of delimited text to the parser of LIBSVM text."""

    def __init__(self, path: Path, layout: Csv) -> None:
        self._path = path
        self._layout = layout
        self._separator = _SEPARATORS[layout.separator]
        self._split: Callable[[str], list[str]] = self._plain_cells
        self._parser = Parser()
        self._growing = Growing(f"{path}: reading further rows")
        self._carry = b""
        self._line = 0
        self._names: list[str] | None = None  # of the columns, once the first line is read
        self._label: int | None = None
        self._kept: list[int] = []
        self._prefixes: list[str] = []

    def feed(self, chunk: bytes) -> None:
        """Read the lines that ``chunk`` completes; keep the start of the next one."""
        whole, newline, rest = (self._carry + chunk).rpartition(b"\n")
        self._carry = rest
        if newline:
            self._read(whole)
        if len(rest) > _LONGEST_LINE:
            size = f"longer than {_LONGEST_LINE >> 20} MiB"
            what = f"the line is {size}; is this delimited text, one row per line?"
            raise self._fault(self._line + 1, what)

    def finish(self, sha256: str) -> ParsedText:
        """Read the last line, if it has no newline, and return the rows."""
        if self._carry:
            self._read(self._carry)
        part = Part(*self._parser.take(FLOAT32_DIGITS))
        return replace(ParsedText.of_parts(self._path, sha256, [part]), max_index=len(self._kept))

    def _read(self, content: bytes) -> None:
        numbered = list(self._rows(content))
        out = "".join([line for _, _, line in numbered])
        before = self._parser.lines
        self._growing.add(2 * len(out))  # entries of 8 or 12 bytes, written in 4 to 20
        try:
            self._parser.feed(out.encode())
        except ParseError as error:
            number, line, _ = numbered[error.line - before - 1]
            raise self._explain(number, line) from None

    def _rows(self, content: bytes) -> Iterator[tuple[int, str, str]]:
        """Yield each line's number in the file, the line, and the line as LIBSVM text."""
        for raw in content.split(b"\n"):
            self._line += 1
            try:
                line = raw.decode().removesuffix("\r")
            except UnicodeDecodeError:
                raise self._fault(self._line, "not UTF-8; save it as such") from None
            if self._line == 1:
                line = line.removeprefix("\ufeff")  # the byte order mark of some programs
            if not line or line.isspace():
                continue
            cells = self._cells(self._line, line)
            if self._names is None:
                self._begin(cells)
                if self._layout.header:
                    continue
            if len(cells) != len(self._names or ()):
                raise self._explain(self._line, line)
            label = _NO_DIGITS if self._label is None else cells[self._label]
            pairs = [
                f" {place}:{cells[column]}" for place, column in enumerate(self._kept, start=1)
            ]
            text = f"{label}{''.join(pairs)}\n"
            # A cell with a mark of LIBSVM text would be read as more than its own value.
            if (":" in line or "#" in line) and ("#" in text or text.count(":") > len(pairs)):
                raise self._explain(self._line, line)
            yield self._line, line, text

    def _cells(self, number: int, line: str) -> list[str]:
        if "\r" in line:
            raise self._fault(number, "a carriage return inside a line; correct the line")
        try:
            return self._quoted_cells(line) if '"' in line else self._split(line)
        except csv.Error as error:
            raise self._fault(number, f"{error}; correct the line") from None

    def _plain_cells(self, line: str) -> list[str]:
        if not self._separator:
            return line.split()
        cells = line.split(self._separator)
        padded = " " in line or "\t" in line
        return [cell.strip(_BLANKS) for cell in cells] if padded else cells

    def _quoted_cells(self, line: str) -> list[str]:
        if not self._separator:
            return [cell.strip('"') for cell in line.split()]
        cells = next(csv.reader([line], delimiter=self._separator))
        return [cell.strip(_BLANKS) for cell in cells]

    def _begin(self, cells: list[str]) -> None:
        """Find the columns of the layout in the first line."""
        header = self._layout.header
        self._names = cells if header else [str(i) for i in range(1, len(cells) + 1)]
        if self._layout.label is not None:
            self._label = self._column(self._layout.label)
        left_out = {self._label, *map(self._column, self._layout.drop)}
        self._kept = [i for i in range(len(cells)) if i not in left_out]
        if not self._kept:
            raise self._fault(self._line, "no column is left; correct 'label' and 'drop'")

    def _column(self, wanted: CsvColumn) -> int:
        names = self._names or []
        if isinstance(wanted, int):
            if wanted <= len(names):
                return wanted - 1
        elif self._layout.header and wanted in names:
            first = names.index(wanted)
            if wanted in names[first + 1 :]:
                again = names.index(wanted, first + 1)
                raise self._fault(
                    self._line,
                    f"columns {first + 1} and {again + 1} both have the name {wanted[:_SHOWN]!r};"
                    " write the number of the one that is meant",
                )
            return first
        shown = ", ".join(name[:_SHOWN] for name in names[:10]) + (
            ", ..." if len(names) > 10 else ""
        )
        raise self._fault(
            self._line, f"no column {wanted!r} among {shown}; correct the description"
        )

    def _explain(self, number: int, line: str) -> DataError:
        """The error in a refused line."""
        cells = self._cells(number, line)
        names: Sequence[str] = self._names or ()
        if len(cells) != len(names):
            return self._fault(
                number,
                f"{len(cells)} cells, not the {len(names)} of the first line; correct the line",
            )
        for column in sorted({*self._kept, *([] if self._label is None else [self._label])}):
            cell = cells[column]
            if _NUMBER.fullmatch(cell) and float(cell) not in (float("inf"), -float("inf")):
                continue
            what = "label" if column == self._label else "value"
            wrong = f"{what} '{cell[:_SHOWN]}'" if cell else f"no {what}"
            return self._fault(
                number,
                f"{wrong} in column {names[column][:_SHOWN]}; write a finite decimal number, or"
                " drop the column or the row",
            )
        return self._fault(number, "':' or '#' in a line of numbers; remove it")

    def _fault(self, line: int, message: str) -> DataError:
        return DataError(f"{self._path}:{line}: {message}")
