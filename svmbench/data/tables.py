"""Tables with named columns as rows of numbers: CSV, TSV, Parquet, Arrow and NumPy files.

Columns of numbers are features as they are. A column of texts becomes a feature of 0 and 1 for each
text that it has. pandas and scipy read the files; only LIBSVM text has a reader of our own.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import Array
from svmbench.data.liblinear_model import LARGEST_LABEL
from svmbench.data.text_files import kind_of, text_sha256
from svmbench.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

#: What a missing value becomes: nothing, as it is refused; or the mean of its column.
OnMissing = Literal["refuse", "mean"]

#: The text of a category that is missing, where that is not refused.
NO_TEXT = "(missing)"

#: The class of rows in another table whose text no class of the encoding has.
OTHER_CLASS = "(another)"

#: A column with more different texts, in more than half of its rows, names rows.
_MOST_TEXTS = 1000


@dataclass(frozen=True)
class EncodedColumn:
    """How a column becomes features.

    Parameters
    ----------
    texts : tuple of str or None
        Those that have a feature each; None for a column of numbers, which is one feature.
    mean : float or None
        What a missing number becomes; None where missing values are refused.
    """

    name: str
    texts: tuple[str, ...] | None = None
    mean: float | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its features."""
        return (self.name,) if self.texts is None else tuple(f"{self.name}={t}" for t in self.texts)


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features and labels: a model keeps it for other tables.

    Parameters
    ----------
    target : str
        The column with the classes.
    classes : tuple of str or None
        Texts whose numbers, from 0, are the labels; None where the labels are whole numbers.
    """

    target: str
    columns: tuple[EncodedColumn, ...]
    classes: tuple[str, ...] | None = None

    @property
    def names(self) -> dict[int, object]:
        """The classes by label, where they are texts; the label after them is of any other text."""
        return {} if self.classes is None else dict(enumerate((*self.classes, OTHER_CLASS)))

    def facts(self) -> dict[str, Any]:
        """For a JSON file."""
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Encoding:
        """The encoding with these facts.

        Raises
        ------
        DataError
            If they are not those of an encoding.
        """
        try:
            columns = tuple(
                EncodedColumn(
                    str(each["name"]),
                    None if each["texts"] is None else tuple(map(str, each["texts"])),
                    None if each["mean"] is None else float(each["mean"]),
                )
                for each in facts["columns"]
            )
            classes = facts["classes"]
            named = None if classes is None else tuple(map(str, classes))
            return cls(str(facts["target"]), columns, named)
        except (KeyError, TypeError, ValueError):
            raise DataError("the model's JSON does not say how to read tables") from None


class EncodedTable(NamedTuple):
    """A table in numbers.

    Parameters
    ----------
    X : ndarray or csr_matrix, shape (m, d)
        Sparse where a column has texts.
    labels : ndarray of int64, shape (m,), or None
        None if the table does not have the target.
    unknown : int
        Number of texts that the encoding does not know; they have no feature.
    sha256 : str
        Of the uncompressed file.
    """

    X: Any
    labels: Array | None
    encoding: Encoding
    unknown: int
    sha256: str


def read_table(
    path: Path,
    target: str | None = None,
    missing: OnMissing = "refuse",
    encoding: Encoding | None = None,
) -> EncodedTable:
    """Read a table.

    Parameters
    ----------
    target : str, optional
        The column with the classes; the last one of a NumPy array. Not needed with an encoding.
    encoding : Encoding, optional
        That of the table on which a model was trained; found unless given.

    Raises
    ------
    DataError
        If the file cannot be read, has no such column, or values are missing that are not to be.
    """
    frame = _frame(path)
    if frame.empty:
        raise DataError(f"{path}: has no rows")
    frame.columns = frame.columns.map(str)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {twice!r}; rename one")
    encoding = encoding or _encoding(path, frame, target, missing)
    X, unknown = _features(path, frame, encoding)
    there = encoding.target in frame
    labels = _labels(path, frame[encoding.target], encoding) if there else None
    return EncodedTable(X, labels, encoding, unknown, text_sha256(path))


def _frame(path: Path) -> pd.DataFrame:
    import pandas as pd

    kind = kind_of(path)
    try:
        if kind == "numpy":
            return _of_arrays(path)
        if kind == "parquet":
            return pd.read_parquet(path)
        if kind == "feather":
            return pd.read_feather(path)
        return _of_text(path)
    except pd.errors.ParserWarning:
        raise DataError(
            f"{path}: its lines have more fields than its header; correct them"
        ) from None
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except ImportError:
        raise DataError(f"{path}: needs pyarrow; pip install pyarrow") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path}: is empty") from None
    except (OSError, ValueError, EOFError, pd.errors.ParserError) as error:
        said = " ".join(str(error).split())
        raise DataError(f"{path}: cannot be read ({said}); is it what its suffix says?") from None


def _of_text(path: Path) -> pd.DataFrame:
    """Fields between commas or tabs; or semicolons, if the header has no other separator."""
    import pandas as pd

    tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes)
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        how: dict[str, Any] = {"skipinitialspace": True, "index_col": False}
        found: pd.DataFrame = pd.read_csv(path, sep="\t" if tabs else ",", **how)
        if len(found.columns) == 1 and ";" in str(found.columns[0]):
            found = pd.read_csv(path, sep=";", **how)
    nameless = [at for at, name in enumerate(found.columns, 1) if str(name).startswith("Unnamed:")]
    if nameless:
        raise DataError(f"{path}: column {nameless[0]} has no name; name it, or remove row numbers")
    return found


def _of_arrays(path: Path) -> pd.DataFrame:
    """A matrix whose last column has the labels, or arrays X and y."""
    import pandas as pd

    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        X, y = found, None
    else:
        with found:
            if not {"X", "y"} <= set(found):
                raise DataError(f"{path}: has no arrays X and y; save them with these names")
            X, y = found["X"], found["y"]
    if X.ndim != 2 or (y is not None and y.shape != X.shape[:1]):
        raise DataError(f"{path}: X needs two dimensions, and y a label for each row")
    frame = pd.DataFrame(X, columns=[str(at + 1) for at in range(X.shape[1])])
    if y is None:
        return frame.rename(columns={frame.columns[-1]: "y"})
    return frame.assign(y=y)


def _encoding(path: Path, frame: pd.DataFrame, target: str | None, missing: OnMissing) -> Encoding:
    if target is None and kind_of(path) == "numpy":
        target = "y"
    names = list(frame.columns)
    if target is None:
        few = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise DataError(f"{path}: which column has the classes? add --target COLUMN; it has {few}")
    if target not in frame:
        raise DataError(f"{path}: no column {target!r}; {nearest(target, names)}")
    columns = tuple(_column(path, frame[name], missing) for name in names if name != target)
    if not columns:
        raise DataError(f"{path}: has no column but the target")
    return Encoding(target, columns, _classes(path, frame[target]))


def _column(path: Path, values: pd.Series, missing: OnMissing) -> EncodedColumn:
    import pandas as pd

    name, absent = str(values.name), values.isna()
    if pd.api.types.is_datetime64_any_dtype(values) or pd.api.types.is_timedelta64_dtype(values):
        raise DataError(f"{path}: column {name!r} has times; write numbers in their place")
    if absent.all():
        raise DataError(f"{path}: column {name!r} is empty; remove it")
    if missing == "refuse":
        _refuse_missing(path, values, "fill them, or add --missing mean")
    if _is_numbers(values):
        return EncodedColumn(name, None, float(values.mean()) if missing == "mean" else None)
    texts = _texts(values).unique()
    numbers = pd.to_numeric(pd.Series(texts), errors="coerce").notna()
    if numbers.mean() > 0.5:
        odd = str(texts[(~numbers).argmax()])
        at = int((_texts(values) == odd).to_numpy().argmax()) + 1
        raise DataError(
            f"{path}: column {name!r} has numbers, and in row {at:,} {odd!r}; correct it, or leave"
            " the field empty where a value is missing"
        )
    if len(texts) > max(_MOST_TEXTS, len(values) / 2):
        raise DataError(
            f"{path}: column {name!r} has {len(texts):,} different texts in {len(values):,} rows;"
            " remove it if it names the rows"
        )
    return EncodedColumn(name, tuple(sorted(texts)))


def _refuse_missing(path: Path, values: pd.Series, remedy: str) -> None:
    absent = values.isna().to_numpy()
    if absent.any():
        raise DataError(
            f"{path}: column {str(values.name)!r}: {int(absent.sum()):,} of {len(values):,} rows"
            f" have no value, first row {int(absent.argmax()) + 1:,}; {remedy}"
        )


def _is_numbers(values: pd.Series) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(values) and values.dtype.kind != "c")


def _texts(values: pd.Series) -> pd.Series:
    absent = values.isna()
    return values.astype(str).str.strip().where(~absent, NO_TEXT)


def _classes(path: Path, values: pd.Series) -> tuple[str, ...] | None:
    """The classes if they are texts; None if they are whole numbers."""
    _refuse_missing(path, values, "remove them: a row needs its class")
    if not _is_numbers(values):
        return tuple(sorted(_texts(values).unique()))
    numbers = values.to_numpy(np.float64)
    if np.abs(numbers).max() > LARGEST_LABEL:
        raise DataError(
            f"{path}: column {str(values.name)!r}: classes are numbers up to {LARGEST_LABEL}"
        )
    if not (numbers == np.rint(numbers)).all():
        raise DataError(
            f"{path}: column {str(values.name)!r} has numbers that are not whole: they are no"
            " classes, and a regression set cannot be trained on"
        )
    return None


def _labels(path: Path, values: pd.Series, encoding: Encoding) -> Array:
    _refuse_missing(path, values, "remove them, or the whole column where classes are not known")
    if encoding.classes is None:
        if not _is_numbers(values):
            raise DataError(f"{path}: column {encoding.target!r} has texts, and had numbers before")
        return np.asarray(values.to_numpy(np.float64), dtype=np.int64)
    places = {text: at for at, text in enumerate(encoding.classes)}
    # A class that the model does not have is never predicted rightly.
    return np.array([places.get(text, len(places)) for text in _texts(values)], dtype=np.int64)


def _features(path: Path, frame: pd.DataFrame, encoding: Encoding) -> tuple[Any, int]:
    lacking = [column.name for column in encoding.columns if column.name not in frame]
    if lacking:
        raise DataError(f"{path}: no column {lacking[0]!r}, which the model was trained with")
    parts: list[Any] = []
    unknown = 0
    for column in encoding.columns:
        values = frame[column.name]
        if column.mean is None and NO_TEXT not in (column.texts or ()):
            _refuse_missing(path, values, "fill them")
        if column.texts is None:
            parts.append(_numbers(path, values, column.mean))
        else:
            block, strange = _indicators(_texts(values), column.texts)
            unknown += strange
            parts.append(block)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.column_stack(parts), unknown
    import scipy.sparse as sp  # type: ignore[import-untyped]

    return sp.csr_matrix(sp.hstack([sp.csr_matrix(part) for part in parts])), unknown


def _numbers(path: Path, values: pd.Series, mean: float | None) -> Array:
    name = str(values.name)
    if not _is_numbers(values):
        raise DataError(f"{path}: column {name!r} has texts, and had numbers in the training table")
    filled = values if mean is None else values.fillna(mean)
    numbers = filled.to_numpy(np.float64)
    if not np.isfinite(numbers).all():
        at = int(np.argmin(np.isfinite(numbers)))
        raise DataError(f"{path}: column {name!r}: row {at + 1:,} is infinite; correct it")
    return numbers.reshape(-1, 1)


def _indicators(values: pd.Series, texts: Sequence[str]) -> tuple[Any, int]:
    """A column of 0 and 1 for each text, and the number of other texts."""
    import scipy.sparse as sp

    places = {text: at for at, text in enumerate(texts)}
    at = np.array([places.get(text, -1) for text in values])
    known = np.flatnonzero(at >= 0)
    ones = np.ones(len(known))
    block = sp.csr_matrix((ones, (known, at[known])), shape=(len(at), len(texts)))
    return block, len(at) - len(known)
