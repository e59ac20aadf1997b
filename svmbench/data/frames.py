"""Files of tables as columns of numbers and of texts: CSV, TSV, Parquet, Arrow and NumPy files.

pandas and NumPy read them; what is number and what is text is decided here, for whole columns. Only
LIBSVM text has a reader of our own.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from svmbench.data.text_files import kind_of, reading
from svmbench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: What stands for a missing value in a column of numbers. In a column of texts only nothing does.
_NOT_A_NUMBER = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>")


def read_frame(path: Path, in_texts: Collection[str] = ()) -> tuple[pd.DataFrame, str]:
    """The columns of a table, and the sha256 of its uncompressed bytes.

    Each column has numbers, or texts without space around them; missing values are NaN.

    Parameters
    ----------
    in_texts : collection of str
        Columns whose fields are texts even if all of them look like numbers.

    Raises
    ------
    DataError
        If the file cannot be read, has no rows, or a column has neither numbers nor texts.
    """
    import zipfile
    import zlib

    import pandas as pd

    damaged = (
        OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, csv.Error,
        pd.errors.ParserError,
    )  # fmt: skip
    with reading(path) as stream:
        content = stream.read()
    try:
        frame = _READERS[kind_of(path)](path, content, in_texts)
    except ImportError:
        raise DataError(f"{path}: needs pyarrow; pip install pyarrow") from None
    except pd.errors.ParserWarning:
        raise DataError(
            f"{path}: its lines have more fields than its header; correct them"
        ) from None
    except damaged as error:
        said = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: cannot be read ({said}); is it what its suffix says?") from None
    if frame.empty:
        raise DataError(f"{path}: has no rows")
    columns = {name: _decided(path, frame[name], name in in_texts) for name in frame.columns}
    return pd.DataFrame(columns), hashlib.sha256(content).hexdigest()


def is_numbers(values: pd.Series) -> bool:
    """Whether a column of `read_frame` has numbers."""
    return values.dtype.kind == "f"


def _of_text(path: Path, content: bytes, in_texts: Collection[str]) -> pd.DataFrame:
    """Fields between commas or tabs; or semicolons, if the header has no other separator."""
    import warnings

    import pandas as pd

    tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes)
    separator = "\t" if tabs else ","
    header = _header(content, separator)
    if len(header) == 1 and ";" in header[0]:
        separator = ";"
        header = _header(content, separator)
    _require_names(path, header)

    def read(**how: Any) -> pd.DataFrame:
        found: pd.DataFrame = pd.read_csv(
            io.BytesIO(content), sep=separator, header=0, names=header, index_col=False,
            skipinitialspace=True, keep_default_na=False, na_values=[""], low_memory=False,
            # A line without text is a row whose only value is missing.
            skip_blank_lines=len(header) > 1, encoding="utf-8-sig", **how,
        )  # fmt: skip
        return found

    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        frame = read(dtype={name: str for name in in_texts if name in header})
        # The words of truth, and columns with some numbers, are texts as they are written.
        others = [name for name in header if frame[name].dtype.kind not in "iuf"]
        if others:
            texts = read(dtype=str, usecols=others)
            frame = frame.assign(**{name: texts[name] for name in others})
    return frame


def _header(content: bytes, separator: str) -> list[str]:
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    lines = csv.reader(text, delimiter=separator, skipinitialspace=True)
    return next((line for line in lines if line), [])


def _require_names(path: Path, header: list[str]) -> None:
    if not header:
        raise DataError(f"{path}: is empty")
    for at, name in enumerate(header, 1):
        if not name.strip():
            raise DataError(f"{path}: column {at} has no name; name it, or remove row numbers")
        if "\n" in name or "\r" in name:
            raise DataError(f"{path}: the name of column {at} has two lines; is a quote missing?")
        if name in header[: at - 1]:
            raise DataError(f"{path}: two columns are called {name!r}; rename one")


def _of_arrays(path: Path, content: bytes, in_texts: Collection[str]) -> pd.DataFrame:
    """A matrix whose last column has the labels, or arrays X and y."""
    import pandas as pd

    found = np.load(io.BytesIO(content), allow_pickle=False)
    if isinstance(found, np.ndarray):
        X, y = found, None
    else:
        with found:
            if not {"X", "y"} <= set(found):
                raise DataError(f"{path}: has no arrays X and y; save them with these names")
            X, y = found["X"], found["y"]
    if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
        raise DataError(f"{path}: X needs two dimensions, and y a label for each row")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: X has the type {X.dtype}; it needs real numbers")
    columns = [str(at + 1) for at in range(X.shape[1])]
    if y is None:
        return pd.DataFrame(X, columns=[*columns[:-1], "y"])
    return pd.DataFrame(X, columns=columns).assign(y=y)


def _of_parquet(path: Path, content: bytes, in_texts: Collection[str]) -> pd.DataFrame:
    import pandas as pd

    return _with_names(path, pd.read_parquet(io.BytesIO(content)))


def _of_feather(path: Path, content: bytes, in_texts: Collection[str]) -> pd.DataFrame:
    import pandas as pd

    return _with_names(path, pd.read_feather(io.BytesIO(content)))


def _with_names(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    _require_names(path, list(frame.columns.map(str)))
    return frame.set_axis(frame.columns.map(str), axis=1)


_READERS = {
    "text": _of_text,
    "numpy": _of_arrays,
    "parquet": _of_parquet,
    "feather": _of_feather,
}


def _decided(path: Path, values: pd.Series, as_texts: bool) -> pd.Series:
    """A column as numbers or as texts."""
    import pandas as pd

    name = str(values.name)
    if values.dtype.kind in "mMc":
        kind = "complex numbers" if values.dtype.kind == "c" else "times"
        raise DataError(f"{path}: column {name!r} has {kind}; write numbers in their place")
    if pd.api.types.is_numeric_dtype(values) and values.dtype.kind != "b" and not as_texts:
        return values.astype(float)
    texts = values.astype(str).str.strip()
    texts = texts.where(values.notna() & (texts != ""))
    if as_texts:
        return texts
    distinct = pd.Series(texts.dropna().unique())
    _require_single_lines(path, texts, distinct)
    numbers = distinct[~distinct.isin(_NOT_A_NUMBER)]
    parsed = pd.to_numeric(numbers, errors="coerce").notna()
    if not parsed.any() or parsed.mean() <= 0.5:
        return texts
    if not parsed.all():
        odd = str(numbers[~parsed].iloc[0])
        at = int((texts == odd).to_numpy().argmax()) + 1
        raise DataError(
            f"{path}: column {name!r} has numbers, and in row {at:,} {odd!r}; correct it, or leave"
            " the field empty where a value is missing"
        )
    return pd.to_numeric(texts.where(~texts.isin(_NOT_A_NUMBER)), errors="raise").astype(float)


def _require_single_lines(path: Path, texts: pd.Series, distinct: pd.Series) -> None:
    """A quotation mark that is never closed swallows lines."""
    broken = distinct[distinct.str.contains(r"[\r\n]", regex=True)]
    if len(broken):
        at = int((texts == broken.iloc[0]).to_numpy().argmax()) + 1
        raise DataError(
            f"{path}: column {str(texts.name)!r}, row {at:,}: a text of more than one line; is a"
            " quotation mark missing?"
        )
