"""Tables with named columns as rows of numbers: CSV, TSV, Parquet, Arrow and NumPy files.

Columns of numbers are features as they are. A column of texts becomes a feature of 0 and 1 for each
text that it has. A model keeps how, and reads other tables in the same way.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import Array
from svmbench.data.liblinear_model import LARGEST_LABEL
from svmbench.data.text_files import kind_of, reading
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
_MOST_TEXTS = 100

#: Figures as people and programs write them, also with spaces that do not break a line, with a
#: typographic apostrophe, or with a decimal comma and an exponent.
_NUMBER = (
    r"(\d*[.,\u066b]?\d+(e[-+\u2212]?\d+)?|\d{1,3}([,.'\u2019_\s]\d{3})+([.,]\d+)?|0x[0-9a-f]+)"
)

#: Texts of quantities that pandas does not read as numbers, and what to write.
_QUANTITIES = {
    # U+2212 is the minus sign of several languages; accountants put brackets instead.
    rf"(?i)\(?[-+\u2212]?[$€£]?\s?[-+\u2212]?{_NUMBER}\s?[%$€£]?\)?": "numbers; write 1234.5",
    r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?": "times of day; write numbers of seconds",
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?": "dates; write numbers of days",
}


@dataclass(frozen=True)
class EncodedColumn:
    """How a column becomes features."""

    name: str
    # those that have a feature each; None for a column of numbers, which is one feature
    texts: tuple[str, ...] | None = None
    # what a missing number becomes; None where missing values are refused
    mean: float | None = None

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name,) if self.texts is None else tuple(f"{self.name}={t}" for t in self.texts)


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features and labels: a model keeps it for other tables."""

    target: str  # the column with the classes
    columns: tuple[EncodedColumn, ...]
    # texts whose numbers, from 0, are the labels; None where the labels are whole numbers
    classes: tuple[str, ...] | None = None
    missing: OnMissing = "refuse"  # what missing values of the columns become

    @property
    def in_texts(self) -> tuple[str, ...]:
        """The columns that have texts, even where all of another table's look like numbers."""
        named = () if self.classes is None else (self.target,)
        return (*named, *(column.name for column in self.columns if column.texts is not None))

    @property
    def features(self) -> list[str]:
        return [name for column in self.columns for name in column.features]

    @property
    def names(self) -> dict[int, object]:
        """The classes by label, where they are texts; the label after them is of any other text."""
        if self.classes is None:
            return {}
        other = OTHER_CLASS
        while other in self.classes:
            other = f"({other})"
        return dict(enumerate((*self.classes, other)))

    def facts(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Encoding:
        """The encoding with these facts."""
        from pydantic import TypeAdapter, ValidationError  # slow to load

        try:
            found = TypeAdapter(cls).validate_python(dict(facts))
        except ValidationError:
            found = None
        if found is None or not found.columns:
            raise DataError("the model's JSON does not say how to read tables")
        return found


class Unknown(NamedTuple):
    """The texts that an encoding does not know; they have no feature."""

    fields: int = 0
    first: str = ""  # the first of them, and its column and row


class EncodedTable(NamedTuple):
    X: Any  # (shape (m, d)) Sparse where a column has texts
    labels: Array | None  # (shape (m,)) None if the table does not have the target
    encoding: Encoding
    unknown: Unknown
    sha256: str  # of the uncompressed file


def read_table(
    path: Path,
    target: str | None = None,
    missing: OnMissing = "refuse",
    dropped: Sequence[str] = (),
    encoding: Encoding | None = None,
) -> EncodedTable:
    """Read a table, as the encoding of a training table says if it is given."""
    if encoding is None:
        given = target or ("y" if kind_of(path) == "numpy" else None)
        wanted = Wanted(given, dropped=dropped)
    else:
        columns = [column.name for column in encoding.columns]
        wanted = Wanted(encoding.target, columns, encoding.in_texts)
    frame, sha256 = read_frame(path, wanted)
    encoding = encoding or _encoding(path, frame, wanted.target, missing)
    X, unknown = _features(path, frame, encoding)
    there = encoding.target in frame
    labels = _labels(path, frame[encoding.target], encoding) if there else None
    return EncodedTable(X, labels, encoding, unknown, sha256)


def encoded(frame: pd.DataFrame, encoding: Encoding) -> Any:
    """The columns of a frame in memory as a model reads them: features, shape (m, d)."""
    wanted = Wanted(encoding.target, [each.name for each in encoding.columns], encoding.in_texts)
    path = Path("X")
    found, unknown = _features(path, decided(path, frame.rename(columns=str), wanted), encoding)
    if unknown.fields:
        said = f"{unknown.fields:,} texts that training has not seen count as none"
        warnings.warn(f"{said} ({unknown.first})", stacklevel=4)
    return found


def _encoding(path: Path, frame: pd.DataFrame, target: str | None, missing: OnMissing) -> Encoding:
    names = list(frame.columns)
    if target is None:
        few = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise DataError(f"{path}: which column has the classes? add --target COLUMN; it has {few}")
    if target not in frame:
        raise DataError(f"{path}: no column {target!r}; {nearest(target, names)}")
    absent = frame.isna().to_numpy()
    empty = absent.all(axis=0)
    if empty.any():
        name = names[int(empty.argmax())]
        raise DataError(f"{path}: column {name!r} is empty; add --drop {name}")
    others = [name for name in names if name != target]
    if not others:
        raise DataError(f"{path}: has no column but the target")
    if missing == "refuse":
        _refuse_missing(path, frame[others], "fill them, or add --missing mean")
    with np.errstate(over="ignore"):
        means = dict(frame[others].mean(numeric_only=True)) if missing == "mean" else {}
    texts = {name for name, kind in frame.dtypes.items() if kind.kind != "f"}
    columns = tuple(
        _of_categories(path, frame[name])
        if name in texts
        else EncodedColumn(name, None, None if missing == "refuse" else float(means[name]))
        for name in others
    )
    for each in columns:
        if each.mean is not None and not math.isfinite(each.mean):
            raise DataError(f"{path}: column {each.name!r} has no finite mean; correct it")
    return Encoding(target, columns, _classes(path, frame[target]), missing)


def _of_categories(path: Path, values: pd.Series) -> EncodedColumn:
    name, texts = str(values.name), values.fillna(NO_TEXT).unique().tolist()
    present = [text for text in texts if text != NO_TEXT]
    # A column of quantities would become a feature for each of their texts.
    for form, remedy in _QUANTITIES.items():
        alike = [text for text in present if re.fullmatch(form, text)]
        if 2 * len(alike) > len(present):
            raise DataError(
                f"{path}: column {name!r} has {remedy} instead of {alike[0]!r}, add --drop {name}, "
                "or put a letter before each if they are names"
            )
    if len(texts) > max(_MOST_TEXTS, len(values) / 2):
        raise DataError(
            f"{path}: column {name!r} has {len(texts):,} different texts in {len(values):,} rows;"
            f" if it names the rows, add --drop {name}"
        )
    return EncodedColumn(name, tuple(sorted(texts)))


def _refuse_missing(path: Path, columns: pd.DataFrame, remedy: str) -> None:
    absent = columns.isna().to_numpy()
    if absent.any():
        at = int(absent.any(axis=0).argmax())
        rows = absent[:, at]
        raise DataError(
            f"{path}: column {str(columns.columns[at])!r}: {int(rows.sum()):,} of {len(rows):,}"
            f" rows have no value, first row {int(rows.argmax()) + 1:,}; {remedy}"
        )


def _classes(path: Path, values: pd.Series) -> tuple[str, ...] | None:
    """The classes if they are texts; None if they are whole numbers."""
    _refuse_missing(path, values.to_frame(), "remove them: a row needs its class")
    if is_numbers(values):
        _whole(path, values)
    several = values.nunique()
    if several > max(_MOST_TEXTS, len(values) / 2):
        raise DataError(
            f"{path}: column {str(values.name)!r} has {several:,} different values in"
            f" {len(values):,} rows; a target has a few classes, each of several rows"
        )
    return None if is_numbers(values) else tuple(sorted(values.unique()))


def _whole(path: Path, values: pd.Series) -> Array:
    """Classes that are numbers, shape (m,)."""
    numbers = values.to_numpy(np.float64)
    for wrong, rule in (
        (~(np.abs(numbers) <= LARGEST_LABEL), f"classes are numbers up to {LARGEST_LABEL}"),
        (numbers != np.rint(numbers), "classes are whole numbers, and a regression set has none"),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            raise DataError(
                f"{path}: column {str(values.name)!r}: row {at + 1:,}: {numbers[at]:g}: {rule}"
            )
    return numbers.astype(np.int64)


def _labels(path: Path, values: pd.Series, encoding: Encoding) -> Array:
    remedy = "remove them, or the whole column where classes are not known"
    _refuse_missing(path, values.to_frame(), remedy)
    if encoding.classes is None:
        return _whole(path, _as_numbers(path, values))
    places = {text: at for at, text in enumerate(encoding.classes)}
    # A class that the model does not have is never predicted rightly.
    texts = values.astype(str)
    return np.array([places.get(text, len(places)) for text in texts], dtype=np.int64)


def _features(path: Path, frame: pd.DataFrame, encoding: Encoding) -> tuple[Any, Unknown]:
    if encoding.missing == "refuse":
        _refuse_missing(path, frame[[column.name for column in encoding.columns]], "fill them")
    parts: list[Any] = []
    unknown = Unknown()
    for of_texts, group in groupby(encoding.columns, lambda column: column.texts is not None):
        if not of_texts:
            parts.append(_numbers(path, frame, list(group)))
            continue
        for column in group:
            values = frame[column.name]
            texts = values.astype(str).where(values.notna(), NO_TEXT)
            if set(texts) <= {"True", "False", NO_TEXT}:  # what pandas makes of true and false
                known = {text.lower(): text for text in column.texts or ()}
                texts = texts.map(lambda text, known=known: known.get(text.lower(), text))
            block, strange = _indicators(texts, column.texts or ())
            if strange.size:
                at = int(strange[0])
                first = f"{texts.iloc[at]!r} in column {column.name!r} of row {at + 1:,}"
                unknown = Unknown(unknown.fields + strange.size, unknown.first or first)
            parts.append(block)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.column_stack(parts), unknown
    import scipy.sparse as sp  # type: ignore[import-untyped]

    return sp.csr_matrix(sp.hstack([sp.csr_matrix(part) for part in parts])), unknown


def _as_numbers(path: Path, values: pd.Series) -> pd.Series:
    if is_numbers(values) or values.isna().all():
        return values.astype(float)
    truth = values.map({"True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0})
    # A column of truth values, which Parquet has and text does not.
    if truth[values.notna()].notna().all():
        return truth
    raise DataError(
        f"{path}: column {str(values.name)!r} has texts, and had numbers in the training table"
    )


def _numbers(path: Path, frame: pd.DataFrame, columns: Sequence[EncodedColumn]) -> Array:
    """Columns of numbers as a matrix; means stand for what is missing."""
    kinds = frame.dtypes
    block = frame[[column.name for column in columns]]
    if any(kinds[column.name].kind != "f" for column in columns):
        block = block.apply(lambda values: _as_numbers(path, values))
    numbers: Array = np.ascontiguousarray(block, dtype=np.float64)
    absent = np.isnan(numbers)
    if absent.any():
        means = np.array([column.mean for column in columns], dtype=np.float64)
        numbers = np.where(absent, means, numbers)
    infinite = np.argwhere(np.isinf(numbers))
    if len(infinite):
        row, at = infinite[0]
        raise DataError(
            f"{path}: column {columns[at].name!r}: row {row + 1:,} is infinite; correct it"
        )
    return numbers


def _indicators(values: pd.Series, texts: Sequence[str]) -> tuple[Any, Array]:
    """A column of 0 and 1 for each text, and the rows with other texts."""
    import scipy.sparse as sp

    places = {text: at for at, text in enumerate(texts)}
    at = np.array([places.get(text, -1) for text in values])
    known = np.flatnonzero(at >= 0)
    ones = np.ones(len(known))
    block = sp.csr_matrix((ones, (known, at[known])), shape=(len(at), len(texts)))
    return block, np.flatnonzero(at < 0)


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
    import pandas as pd

    if not len(frame):
        raise DataError(f"{path}: has no rows")
    if wanted.columns is not None:
        for name in wanted.columns:
            if name not in frame:
                near = nearest(name, list(frame.columns))
                raise DataError(f"{path}: no column {name!r}, which the model knows; {near}")
        needed = {*wanted.columns, wanted.target}
        frame = frame[[name for name in frame.columns if name in needed]]
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
    with np.errstate(over="ignore"):  # what is beyond double precision is refused as infinite
        frame = pd.DataFrame(X.astype(np.float64), columns=names)
    return frame if y is None else frame.assign(y=y)


def _of_columns(path: Path, content: bytes, wanted: Wanted) -> pd.DataFrame:
    import pandas as pd

    read = pd.read_parquet if kind_of(path) == "parquet" else pd.read_feather
    frame = read(io.BytesIO(content))
    # A named index is a column again, as it is in the file.
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = [str(name).strip() for name in frame.columns]
    _require_names(path, names)
    return frame.set_axis(names, axis=1)


_READERS = {
    "text": _of_text,
    "numpy": _of_arrays,
    "parquet": _of_columns,
    "feather": _of_columns,
}


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
