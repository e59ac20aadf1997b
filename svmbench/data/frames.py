"""Files of tables as columns of numbers and of texts: CSV, TSV, Parquet, Arrow and NumPy files.

pandas and NumPy read them; what is number and what is text is decided here, for whole columns. Only
LIBSVM text has a reader of our own.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from svmbench.data.text_files import kind_of, reading
from svmbench.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

#: What stands for a missing value in a column of numbers. In a column of texts only nothing does.
_NOT_A_NUMBER = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>")


class Wanted(NamedTuple):
    """What is known of a table before it is read."""

    target: str | None = None  # the column of classes
    columns: Sequence[str] | None = None  # the other columns that are needed; None for all
    # columns whose fields are texts even if all of them look like numbers
    in_texts: Collection[str] = ()
    dropped: Sequence[str] = ()  # columns that are left out


def read_frame(path: Path, wanted: Wanted) -> tuple[pd.DataFrame, str]:
    """The columns of a table, and the sha256 of its uncompressed bytes.

    Each column has numbers, or texts without space around them; missing values are NaN.
    """
    with reading(path) as stream:
        content = stream.read()
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            frame = _READERS[kind_of(path)](path, content, wanted)
    except (DataError, MemoryError):
        raise
    except ImportError:
        raise DataError(f"{path}: needs pyarrow; pip install pyarrow") from None
    except UnicodeError:
        raise DataError(f"{path}: is not UTF-8; save it as text in UTF-8") from None
    except Exception as error:  # pandas and NumPy raise many kinds for damaged files
        raise DataError(f"{path}: cannot be read ({_said(error)})") from None
    for name in wanted.dropped:
        if name not in frame or name == wanted.target:
            what = "is the target" if name == wanted.target else nearest(name, list(frame.columns))
            raise DataError(f"{path}: --drop {name}: {what}")
    frame = frame.drop(columns=[*wanted.dropped])
    return decided(path, frame, wanted), hashlib.sha256(content).hexdigest()


def decided(path: Path, frame: pd.DataFrame, wanted: Wanted) -> pd.DataFrame:
    """The columns of a frame that are wanted, each as numbers or as texts."""
    if not len(frame):
        raise DataError(f"{path}: has no rows")
    if wanted.columns is not None:
        for name in wanted.columns:
            if name not in frame:
                near = nearest(name, list(frame.columns))
                raise DataError(f"{path}: no column {name!r}, which the model knows; {near}")
        needed = {*wanted.columns, wanted.target}
        frame = frame[[name for name in frame.columns if name in needed]]
    return _decided(path, frame, wanted)


def is_numbers(values: pd.Series) -> bool:
    """Whether a column of `read_frame` has numbers."""
    return values.dtype.kind == "f"


def _said(error: Exception) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found:
        return f"line {found[2]} has {found[3]} fields, and the header {found[1]}"
    return " ".join(str(error).split())[:200] or type(error).__name__


def _of_text(path: Path, content: bytes, wanted: Wanted) -> pd.DataFrame:
    """Fields between commas or tabs; or what the header has, if that is a single field."""
    import pandas as pd

    tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes)
    separator = "\t" if tabs else ","
    header, before = _header(content, separator)
    others = [each for each in ";\t|," if len(header) == 1 and each in header[0]]
    if others:
        separator = others[0]
        header, before = _header(content, separator)
    _require_names(path, header)
    if len(header) > 1:  # a line without text is a row without values, unless it is at the end
        content = content.rstrip(b"\r\n")

    def read(**how: Any) -> pd.DataFrame:
        found: pd.DataFrame = pd.read_csv(
            io.BytesIO(content), sep=separator, skiprows=before, header=0, names=header,
            index_col=False, skipinitialspace=True, keep_default_na=False, na_values=[""],
            low_memory=False, skip_blank_lines=False, encoding="utf-8-sig", **how,
        )  # fmt: skip
        return found

    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        try:
            frame = read(dtype={name: str for name in wanted.in_texts if name in header})
        except pd.errors.ParserWarning:
            raise DataError(
                f"{path}: its lines have more fields than its header; correct them"
            ) from None
        # The words of truth, and columns with some numbers, are texts as they are written.
        kinds = zip(header, frame.dtypes, strict=True)
        others = [name for name, kind in kinds if kind.kind not in "iuf"]
        if others:
            frame[others] = read(dtype=str, usecols=others)[others].astype(object)
    return frame


def _header(content: bytes, separator: str) -> tuple[list[str], int]:
    """The names of the columns, and the number of lines before them."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    before = 0
    lines = csv.reader(text, delimiter=separator, skipinitialspace=True)
    for line in lines:
        if line:
            return [name.strip() for name in line], before
        before = lines.line_num
    return [], before


def _require_names(path: Path, header: list[str]) -> None:
    if not header:
        raise DataError(f"{path}: is empty")
    seen: set[str] = set()
    for at, name in enumerate(header, 1):
        if not name.strip():
            raise DataError(f"{path}: column {at} has no name; name it, or remove row numbers")
        if "\n" in name or "\r" in name:
            raise DataError(f"{path}: the name of column {at} has two lines; is a quote missing?")
        if name in seen:
            raise DataError(f"{path}: two columns are called {name!r}; rename one")
        seen.add(name)


def _of_arrays(path: Path, content: bytes, wanted: Wanted) -> pd.DataFrame:
    """A matrix whose last column has the labels, or arrays X and y.

    A table for a model of such a one has as many columns, with or without labels.
    """
    import pandas as pd

    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
        alone = isinstance(found, np.ndarray)
        X, y = (found, None) if alone else (found.get("X"), found.get("y"))
    except ValueError:
        raise DataError(
            f"{path}: cannot be read: it is damaged, or holds Python objects; save numbers, and"
            " texts as y.astype(str)"
        ) from None
    if X is None or (y is None and not alone and wanted.columns is None):
        raise DataError(f"{path}: has no arrays X and y; save them with these names")
    if np.ndim(X) != 2 or (y is not None and np.shape(y) != X.shape[:1]):
        raise DataError(f"{path}: X needs two dimensions, and y a label for each row")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: X has the type {X.dtype}; it needs real numbers")
    d, names = X.shape[1], [str(at + 1) for at in range(X.shape[1])]
    needed = [] if wanted.columns is None else list(wanted.columns)
    of_arrays = needed == [str(at + 1) for at in range(len(needed))] != []
    labelled = alone and (not of_arrays or d == len(needed) + 1)
    if d <= labelled or (of_arrays and d - labelled != len(needed)):
        of_model = f", and the model is of {len(needed)} beside the labels" if of_arrays else ""
        raise DataError(f"{path}: has {d} columns{of_model}")
    if labelled:
        names[-1] = "y"
    frame = pd.DataFrame(X.astype(np.float64), columns=names)
    return frame if y is None else frame.assign(y=y)


def _of_parquet(path: Path, content: bytes, wanted: Wanted) -> pd.DataFrame:
    import pandas as pd

    return _with_names(path, pd.read_parquet(io.BytesIO(content)))


def _of_feather(path: Path, content: bytes, wanted: Wanted) -> pd.DataFrame:
    import pandas as pd

    return _with_names(path, pd.read_feather(io.BytesIO(content)))


def _with_names(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose named index is a column again, as it is in the file."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = [str(name).strip() for name in frame.columns]
    _require_names(path, names)
    return frame.set_axis(names, axis=1)


_READERS = {
    "text": _of_text,
    "numpy": _of_arrays,
    "parquet": _of_parquet,
    "feather": _of_feather,
}


def _decided(path: Path, frame: pd.DataFrame, wanted: Wanted) -> pd.DataFrame:
    """Each column as numbers or as texts; those of numbers at once, as there may be many."""
    import pandas as pd

    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {name!r}; rename one")
    kinds = dict(zip(frame.columns, frame.dtypes, strict=True))
    numbers = [
        name
        for name, kind in kinds.items()
        if pd.api.types.is_numeric_dtype(kind)
        and kind.kind != "c"
        and name not in wanted.in_texts
        and not (kind.kind == "b" and name == wanted.target)  # classes are True and False
    ]
    parts = {name: _of_texts(path, frame[name], wanted) for name in kinds.keys() - {*numbers}}
    whole = frame[numbers].astype(np.float64)
    return pd.concat([whole, pd.DataFrame(parts)], axis=1)[list(kinds)] if parts else whole


def _of_texts(path: Path, values: pd.Series, wanted: Wanted) -> pd.Series:
    """A column that came as texts, unless all of them are numbers."""
    import pandas as pd

    name = str(values.name)
    if values.dtype.kind in "mMc":
        kind = "complex numbers" if values.dtype.kind == "c" else "times"
        raise DataError(f"{path}: column {name!r} has {kind}; write numbers in their place")
    if any(isinstance(value, list | dict | np.ndarray | bytes) for value in values.head()):
        raise DataError(f"{path}: column {name!r} has lists or bytes; write numbers or texts")
    texts = values.astype(str).str.strip()
    texts = texts.where(values.notna() & (texts != "")).astype(object)
    distinct = pd.Series(texts.dropna().unique(), dtype=object)
    _require_single_lines(path, texts, distinct)
    numbers = distinct[~distinct.isin(_NOT_A_NUMBER)]
    parsed = pd.to_numeric(numbers, errors="coerce").notna()
    if name in wanted.in_texts or not (parsed.all() or parsed.mean() > 0.5):
        return texts
    if not parsed.all():
        if name == wanted.target:
            return texts
        odd = str(numbers[~parsed].iloc[0])
        raise DataError(
            f"{path}: column {name!r} has numbers, and in row {_row(texts, odd)} {odd!r}; correct"
            " it, or leave the field empty where a value is missing"
        )
    return texts.where(~texts.isin(_NOT_A_NUMBER)).map(float)


def _require_single_lines(path: Path, texts: pd.Series, distinct: pd.Series) -> None:
    """A quotation mark that is never closed swallows lines."""
    broken = [text for text in distinct if "\n" in text or "\r" in text]
    if broken:
        raise DataError(
            f"{path}: column {str(texts.name)!r}, row {_row(texts, broken[0])}: a text of more than"
            " one line; is a quotation mark missing?"
        )


def _row(texts: pd.Series, text: str) -> str:
    return f"{int((texts == text).to_numpy().argmax()) + 1:,}"
