"""The kinds of hostile input: their generation, their reader and the expected outcome.

A `Kind` makes a case only from a random generator, so that kind, seed and number determine it. Its
`attempt` passes the case to the project and returns whether it was accepted. A
`svmbench.errors.SvmbenchError` is a refusal; any other exception is a find.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import re
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import strict

from svmbench.data import cache, csvtext, idx
from svmbench.data import libsvm as reader
from svmbench.data.catalogue import Csv
from svmbench.data.dataset import Array, Dataset
from svmbench.data.libsvm import ParsedText
from svmbench.data.text_files import chunks
from svmbench.errors import DataError
from svmbench.kernels.libsvm import ParseError, Parser

ROOT = Path(__file__).resolve().parents[2]


class FindError(Exception):
    """A violation of the reader's specification."""


@dataclass
class Case:
    """One input."""

    files: dict[str, bytes]  # contents of the files, by name
    how: dict[str, Any] = field(default_factory=dict)  # options of the reader


class Kind:
    """A kind of input; `prepare` is called once, in an empty folder of the kind's own."""

    share = 1.0
    """Share of all inputs, relative to the other kinds."""

    on_disk = True
    """Whether to write the case's files before the attempt."""

    kernels: tuple[str, ...] | None = None
    """The compiled modules that its reader needs; None for all of them."""

    def prepare(self, folder: Path) -> None:
        """Generate the common starting point of all cases."""

    def make(self, rng: Random) -> Case:
        """Make one case."""
        raise AssertionError

    def attempt(self, case: Case, folder: Path) -> bool:
        """Read it, and check the result; return False if it is refused without an error."""
        raise AssertionError


# --- mutation ------------------------------------------------------------------------

NUMBERS = [
    *("0", "-0", "1", "+1", "-1", "1.", ".5", ".", "", "+", "--1", "1e5", "1e", "1e400", "-1e400"),
    *("1e-400", "nan", "inf", "-Infinity", "0x10", "1_0", "2147483647", "2147483648", "4294967297"),
    *("18446744073709551616", "9007199254740993", "5e-324", "2.2250738585072011e-308", "1e22"),
    *(
        *("179769313486231580793e289", "36893488147419103232", "0x1p3", "1" + "0" * 30),
        "3.4028236e38",
        "0.1",
        "123456.7",
        "1e-45",
        "٣",
        "1e999999999999",
    ),
    *("0" * 60 + "1", "1" * 400, "0." + "3" * 900, "1" * 30 + "e-30", "1,5", "true", "1:1", "#"),
]
TOKENS = [
    *(b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b" ", b"\t", b":", b"#", b",", b";", b'"', b"'", b"-"),
    *(b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3\xa9", b"\x1b[31m", b"\x80" * 9, b"9" * 70),
    *(b"{", b"}", b"[", b"]", b"*a", b"&a ", b"!!x ", b"<<: ", b"- ", b": ", b"null", b"~", b"|"),
    *(b"../", b"/dev/zero", b"%n%s", b"__proto__", b"NaN", b"[" * 400, b'{"a":' * 300),
    *(text.encode() for text in NUMBERS),
]


def _flip(rng: Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng: Random, data: bytearray) -> None:
    data[rng.randrange(len(data))] = rng.randrange(256)


def _cut(rng: Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _drop(rng: Random, data: bytearray) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 1, 2, 8, 64))]


def _double(rng: Random, data: bytearray) -> None:
    start = rng.randrange(len(data))
    piece = data[start : start + rng.choice((1, 4, 30, 200))]
    data[start:start] = piece * rng.choice((1, 1, 2, 30))


def _insert(rng: Random, data: bytearray) -> None:
    start = rng.randrange(len(data) + 1)
    data[start:start] = rng.choice(TOKENS)


def _replace(rng: Random, data: bytearray) -> None:
    """Replace a word or number."""
    words = list(re.finditer(rb"[A-Za-z0-9_.+-]+", bytes(data)))
    if words:
        word = rng.choice(words)
        data[word.start() : word.end()] = rng.choice(TOKENS)


def _recode(rng: Random, data: bytearray) -> None:
    text = bytes(data).decode("latin-1")
    data[:] = rng.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-be"),
            lambda: text.encode("utf-8"),
            lambda: b"\xef\xbb\xbf" + bytes(data),
            lambda: bytes(data).replace(b"\n", b"\r\n"),
            lambda: bytes(data).replace(b"\n", b"\r"),
            lambda: bytes(data).replace(b"\n", b""),
        )
    )()


_CHANGES = (_flip, _flip, _flip, _set, _drop, _double, _insert, _insert, _replace, _replace, _cut)


def mutate(rng: Random, data: bytes) -> bytes:
    """A copy with some bytes changed; one in eight stays unchanged."""
    out = bytearray(data)
    if rng.random() < 0.02:
        _recode(rng, out)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 5, 8))):
        if out:
            rng.choice(_CHANGES)(rng, out)
    return bytes(out[: 1 << 16])


def mutate_bits(rng: Random, data: bytes) -> bytes:
    """A copy of binary content with bits flipped, truncated or extended."""
    out = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        if out:
            rng.choice((_flip, _flip, _flip, _set, _cut, _drop, _double))(rng, out)
    return bytes(out)


# --- rows ----------------------------------------------------------------------------


def a_number(rng: Random) -> str:
    """A decimal number as in files; rarely one that is hard to read."""
    kind = rng.random()
    if kind < 0.3:
        return "1"
    if kind < 0.7:
        return f"{rng.gauss(0, 1):.{rng.randrange(1, 8)}g}"
    if kind < 0.9:
        return repr(rng.gauss(0, 1) * 10.0 ** rng.randrange(-30, 30))
    if kind < 0.99:
        return f"{rng.randrange(10 ** rng.randrange(1, 25))}e{rng.randrange(-340, 300)}"
    return rng.choice(NUMBERS)


def libsvm_text(rng: Random, multilabel: bool = False) -> bytes:
    """LIBSVM text that is most likely legal."""
    lines = []
    for _ in range(rng.randrange(1, 8)):
        index, pairs = 0, []
        for _ in range(rng.randrange(7)):
            index += rng.choice((1, 1, 2, 10, 1000, 100_000, 2**28))
            pairs.append(f"{index}:{a_number(rng)}")
        labels = ",".join(str(rng.randrange(30)) for _ in range(rng.randrange(4)))
        label = labels if multilabel else rng.choice(("1", "-1", "+1", "0", "2", a_number(rng)))
        end = rng.choice(("", "", "", " ", "\r", " # note", "\t"))
        lines.append(" ".join([label, *pairs]) + end)
    return ("\n".join(lines) + rng.choice(("\n", "\n", ""))).encode()


def _rows(m: int, indptr: Array | None, indices: Array | None, values: Array | None) -> list[Any]:
    if indices is None:
        assert values is not None
        return [[(j, float(x)) for j, x in enumerate(row) if x] for row in values.tolist()]
    assert indptr is not None
    ends = indptr.tolist()
    numbers = [1.0] * len(indices) if values is None else values.tolist()
    pairs = list(zip(indices.tolist(), numbers, strict=True))
    return [pairs[ends[i] : ends[i + 1]] for i in range(m)]


def compare(
    labels: Array, label_indptr: Array | None, rows: list[Any], rounded: bool, meant: strict.Meaning
) -> None:
    """Raise `FindError` if the rows that were read are not the expected ones."""
    flat = [label for row in meant.labels for label in row]
    if labels.astype(np.float64).tolist() != flat:
        raise FindError("other labels than the text has")
    if label_indptr is not None and np.diff(label_indptr).tolist() != [*map(len, meant.labels)]:
        raise FindError("labels of other rows than the text has")
    wanted: list[Any] = meant.rows
    if rounded and meant.digits > 6:
        raise FindError(f"rounded to single precision, but there are {meant.digits} digits")
    if rounded:
        wanted = [[(j, strict.single(x)) for j, x in row] for row in wanted]
    if rows != wanted:
        raise FindError("other rows than the text has")


def judge(read: Callable[[], ParsedText], meant: strict.Meaning | None, scale: float = 1) -> bool:
    """Whether a text was accepted; it must be accepted if and only if it is legal."""
    legal = meant is not None and bool(meant.rows)
    try:
        text = read()
    except DataError as error:
        if legal:
            raise FindError(f"refused although legal: {error}") from None
        raise
    if not legal or meant is None:
        raise FindError("accepted although not legal")
    if text.max_index != meant.width:
        raise FindError(f"width {text.max_index}, not {meant.width}")
    parts = list(text.parts)
    rounded = not all(part.exact for part in parts)
    if rounded and any(part.values is not None and part.values.dtype == "f8" for part in parts):
        raise FindError("some parts rounded and some in double precision")
    rows = [
        [(j, x / scale) for j, x in row] if scale != 1 else row
        for part in parts
        for row in _rows(part.n_samples, part.indptr, part.indices, part.values)
    ]
    compare(text.labels, text.label_indptr, rows, rounded, meant)
    return True


class LibsvmParser(Kind):
    """LIBSVM text passed to the compiled parser in chunks of any size."""

    share = 60.0
    on_disk = False
    kernels = ("libsvm", "rows")

    def make(self, rng: Random) -> Case:
        """Make a text and the ends of its chunks."""
        multilabel = rng.random() < 0.2
        text = mutate(rng, libsvm_text(rng, multilabel))
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
        limit = rng.choice((0, 0, 0, 5, 1003))
        return Case({"text": text}, {"cuts": cuts, "limit": limit, "multilabel": multilabel})

    def attempt(self, case: Case, folder: Path) -> bool:
        """Feed the chunks and compare the rows."""
        text, how = case.files["text"], case.how
        meant = strict.libsvm(text, how["limit"], how["multilabel"])
        parser = Parser(how["limit"], how["multilabel"])
        places = [0, *how["cuts"], len(text)]
        try:
            for start, end in pairwise(places):
                # A separate copy, so that a sanitizer detects any read beyond its end.
                parser.feed(bytearray(text[start:end]))
            taken = parser.take()
        except ParseError as error:
            if meant is not None:
                raise FindError(f"refused although legal: {error}") from None
            if not 1 <= error.line <= text.count(b"\n") + 1 or error.column < 1:
                raise FindError(f"no such place: {error.line}:{error.column}") from None
            raise DataError(str(error)) from None
        if meant is None:
            raise FindError("accepted although not legal")
        labels, label_indptr, indptr, indices, values, exact, width, _ = taken
        if width != meant.width or not exact:
            raise FindError(f"width {width}, not {meant.width}, or rounded without need")
        compare(labels, label_indptr, _rows(len(indptr) - 1, indptr, indices, values), False, meant)
        return True


class LibsvmFile(Kind):
    """LIBSVM files, read by several threads and converted to data sets."""

    share = 12.0
    kernels = ("libsvm", "rows")

    def make(self, rng: Random) -> Case:
        """Make a file."""
        multilabel = rng.random() < 0.2
        text = mutate(rng, libsvm_text(rng, multilabel))
        how = {"multilabel": multilabel, "threads": rng.choice((1, 1, 1, 2))}
        return Case({"rows.libsvm": text}, how)

    def attempt(self, case: Case, folder: Path) -> bool:
        """Read it, compare the rows, join them and pass them to the kernels."""
        path = folder / "rows.libsvm"
        text = case.files["rows.libsvm"].removeprefix(BOM_UTF8)
        meant = strict.libsvm(text, 0, case.how["multilabel"])
        kept: list[ParsedText] = []

        def read() -> ParsedText:
            kept.append(reader.parse_libsvm(path, **case.how))
            return kept[0]

        judge(read, meant)
        assert meant is not None
        width = max(1, kept[0].max_index)
        found = reader.to_dataset(kept[0], name="x", n_features=width, positive=(1.0,))
        rows = _rows(found.n_samples, found.indptr, found.indices, found.values)
        single = found.values is not None and found.values.dtype == np.float32
        signs = np.array([1.0 if 1.0 in labels else -1.0 for labels in meant.labels])
        signed = strict.Meaning([[x] for x in signs.tolist()], meant.rows, 0, meant.digits)
        compare(found.labels, None, rows, single, signed)
        found.rows.norms2()
        return True


class Archive(Kind):
    """Compressed LIBSVM text with damage to the compressed bytes."""

    share = 8.0
    kernels = ("libsvm", "rows")

    def make(self, rng: Random) -> Case:
        """Compress a text, in one stream or two, and damage it."""
        suffix = rng.choice((".gz", ".bz2", ".xz"))
        pack: dict[str, Any] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
        text = libsvm_text(rng)
        cut = rng.randrange(len(text)) if rng.random() < 0.5 else len(text)
        streams = [pack[suffix](part) for part in (text[:cut], text[cut:]) if part]
        packed = mutate_bits(rng, b"".join(streams))
        return Case({f"rows.libsvm{suffix}": packed}, {"text": text.hex()})

    def attempt(self, case: Case, folder: Path) -> bool:
        """Read it: all of the text, or a refusal."""
        name = next(iter(case.files))
        text = bytes.fromhex(case.how["text"])
        try:
            found = reader.parse_libsvm(folder / name, threads=1)
        except DataError as error:
            if "truncated or corrupt" not in str(error) and strict.libsvm(text) is not None:
                # The rest of a damaged archive may be wrong text.
                sum(map(len, chunks(folder / name)))
            raise
        whole = found.sha256 == hashlib.sha256(text).hexdigest()
        judge(lambda: found, strict.libsvm(text if whole else _unpacked(folder / name)))
        if not whole and not _is_whole(folder / name):
            raise FindError("only a part of the archive was read")
        return True


def _unpacked(path: Path) -> bytes:
    """The content of all streams of an archive, from the decompressors themselves."""
    return b"".join(_streams(path))


def _is_whole(path: Path) -> bool:
    try:
        _streams(path)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        return False
    return True


def _streams(path: Path) -> list[bytes]:
    left, out = path.read_bytes(), []
    if path.suffix == ".gz":
        return [gzip.decompress(left)]
    while left:
        unpack: Any = bz2.BZ2Decompressor() if path.suffix == ".bz2" else lzma.LZMADecompressor()
        out.append(unpack.decompress(left))
        if not unpack.eof:
            raise EOFError("ends within a stream")
        left = unpack.unused_data
        if path.suffix == ".xz":
            left = left.lstrip(b"\0") if len(left) % 4 == 0 else left
    return out


class CsvFile(Kind):
    """Delimited text."""

    share = 10.0
    kernels = ("libsvm", "rows")

    def make(self, rng: Random) -> Case:
        """Make a table of numbers, and a layout that most likely is the right one."""
        separator = rng.choice(tuple(strict.SEPARATORS))
        comma = strict.SEPARATORS[separator] or "  "
        header, width = rng.random() < 0.5, rng.randrange(2, 6)
        lines = [comma.join(f'"c{i}"' if i % 2 else f"c{i}" for i in range(width))] * header
        for _ in range(rng.randrange(1, 7)):
            cells = [a_number(rng) for _ in range(width)]
            quoted = rng.random() < 0.1
            lines.append(comma.join(f'"{cell}"' if quoted else cell for cell in cells))
        text = mutate(rng, ("\n".join(lines) + rng.choice(("\n", "", "\r\n"))).encode())
        how = {"separator": separator, "header": header, "label": rng.randrange(1, width + 1)}
        return Case({"table.csv": text}, how)

    def attempt(self, case: Case, folder: Path) -> bool:
        """Read it and compare the rows."""
        meant = strict.delimited(case.files["table.csv"], **case.how)
        return judge(lambda: csvtext.parse_csv(folder / "table.csv", Csv(**case.how)), meant)


class IdxFiles(Kind):
    """IDX files of images and labels."""

    share = 5.0
    kernels = ("libsvm", "rows")

    def make(self, rng: Random) -> Case:
        """Make both files."""
        m, height, width = rng.randrange(1, 4), rng.randrange(1, 4), rng.randrange(1, 4)
        sizes = np.array([m, height, width], ">u4").tobytes()
        entries = bytes(rng.choice((0, 0, 1, 255)) for _ in range(m * height * width))
        images = b"\0\0\x08\x03" + sizes + entries
        labels = b"\0\0\x08\x01" + sizes[:4] + bytes(rng.randrange(10) for _ in range(m))
        if rng.random() < 0.7:
            images = mutate_bits(rng, images)
        else:
            labels = mutate_bits(rng, labels)
        return Case({"images": images, "labels": labels}, {"scale": rng.choice((None, 0.5))})

    def attempt(self, case: Case, folder: Path) -> bool:
        """Read both and compare the rows."""
        meant = strict.idx(case.files["images"], case.files["labels"])
        scale = case.how["scale"]

        def read() -> ParsedText:
            return idx.parse_idx(folder / "images", folder / "labels", scale=scale)

        return judge(read, meant, scale or 1)


# --- caches --------------------------------------------------------------------------


def a_dataset() -> Dataset:
    """A data set of a few rows."""
    indptr, indices = np.array([0, 2, 3, 6, 7]), np.array([0, 2, 1, 0, 1, 3, 3], np.int32)
    values = np.array([0.5, 1e-3, 1.25, 7, 8, 9, 1])
    return Dataset("few", 4, indptr, indices, values, np.array([1, -1, 1, -1], np.int8))


class CacheEntry(Kind):
    """Entries of the cache of data sets."""

    share = 1.0
    kernels = ("libsvm", "rows")

    def prepare(self, folder: Path) -> None:
        """Store an entry."""
        os.environ["SVMBENCH_CACHE"] = str(folder / "cache")
        self.original = a_dataset()
        # The entry's key is the name of the folder in which the cases are placed.
        self.entry = cache.store(self.original, "case")
        self.files = {path.name: path.read_bytes() for path in sorted(self.entry.iterdir())}

    def make(self, rng: Random) -> Case:
        """Damage one of its files."""
        name = rng.choice(list(self.files))
        change = mutate if name == cache.HEADER and rng.random() < 0.5 else mutate_bits
        return Case({**self.files, name: change(rng, self.files[name])})

    def attempt(self, case: Case, folder: Path) -> bool:
        """Open it; an opened entry is safe for the kernels, and `verify` finds all damage."""
        opened = cache.open_cached(folder)
        if opened is not None:
            opened.rows.dot(np.ones(opened.n_features))
        whole = case.files == self.files
        if whole and opened is None:
            raise FindError("a sound entry is not opened")
        try:
            cache.verify(folder)
        except DataError:
            if whole:
                raise FindError("a sound entry is called damaged") from None
            return opened is not None
        if not whole and not _same_rows(opened, self.original):
            raise FindError("damage that is not found")
        return True


def _same_rows(found: Dataset | None, wanted: Dataset) -> bool:
    names = ("indptr", "indices", "values", "labels")
    return found is not None and all(
        np.array_equal(getattr(found, name), getattr(wanted, name)) for name in names
    )


KINDS: dict[str, type[Kind]] = {
    "libsvm": LibsvmParser,
    "libsvm-file": LibsvmFile,
    "archive": Archive,
    "csv": CsvFile,
    "idx": IdxFiles,
    "cache": CacheEntry,
}


def place(case: Case, folder: Path) -> None:
    """Write a case's files into its folder, and remove all others."""
    if folder.exists():
        for other in folder.iterdir():
            if other.name not in case.files:
                shutil.rmtree(other) if other.is_dir() else other.unlink()
    folder.mkdir(exist_ok=True)
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
