"""Rows to train on, with the labels that their text gives them, and weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from svmbench.data import libsvm
from svmbench.data.blocks import column_sizes
from svmbench.data.dataset import Array, Dataset, FloatArray, Provenance
from svmbench.data.derived import take_rows
from svmbench.data.liblinear_model import LARGEST_LABEL
from svmbench.data.storage import StoredPrecision
from svmbench.data.text_files import kind_of
from svmbench.errors import ConfigError, DataError
from svmbench.memory import require_memory
from svmbench.records.spelling import counted

if TYPE_CHECKING:
    from svmbench.data.tables import Encoding, OnMissing, Unknown

_ROWS_AT_A_TIME = 1 << 20

#: Relative gap from which on numbers of few digits are rounded to single precision, which moves
#: each by 6e-8 at most: usually, P then moves by less than a tenth of this.
ROUNDING = 1e-5

#: Columns are called uneven if the largest is more than so many times as large as the smallest.
#: Pixels and frequencies of words are not.
_UNEVEN = 1000.0


class Uneven(NamedTuple):
    """The columns with the largest and the smallest of all columns' largest absolute values."""

    large: str  # large, small: their names in a table, or numbers from 1
    small: str
    most: float  # most, least: those values
    least: float

    @property
    def doublings(self) -> float:
        """Logarithm of the ratio of both values to base 2."""
        return math.log2(self.most) - math.log2(self.least)

    def __str__(self) -> str:
        return (
            f"column {self.large} has values up to {self.most:.6g}, column {self.small} only up to "
            f"{self.least:.6g}"
        )


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows and their labels. Raises ConfigError for weights out of range or of no rows."""

    rows: Dataset  # its own labels mean nothing; `against_rest` sets them
    labels: Array
    # (shape (m,)) Weights of the rows' losses, not negative; 1 each by default
    row_weights: FloatArray | None = None
    # weights of classes, positive; 1 for those it does not name
    class_weights: Mapping[int, float] = field(default_factory=dict)
    # names of classes in messages, where users know them by other labels
    names: Mapping[int, object] = field(default_factory=dict)
    rounded: bool = False  # whether the rows are those of a text rounded to single precision
    # how the columns of their table became features; None for rows of another form
    encoding: Encoding | None = None
    # False for a table without its column of classes: the labels mean nothing
    labelled: bool = True
    unknown: Unknown | None = None  # the texts of a table that its encoding does not know

    def __post_init__(self) -> None:
        for label, weight in self.class_weights.items():
            if not 0.0 < weight < math.inf:
                raise ConfigError(
                    f"the weight of class {self.named(label)} must be positive and finite, "
                    f"not {weight!r}"
                )
            if not (self.labels == label).any():
                known = ", ".join(map(str, self.classes[:10]))
                raise ConfigError(f"a weight for class {label}, which has no rows; known: {known}")
        weights = self.row_weights
        if weights is not None and not ((weights >= 0.0) & (weights < math.inf)).all():
            raise ConfigError("weights of rows must not be negative, infinite or NaN")

    def named(self, label: int) -> str:
        """A class as its user knows it."""
        return str(self.names.get(label, label))

    @property
    def strange(self) -> str:
        """What a model does not know of these rows, in a line; empty if there is nothing."""
        if self.unknown is None or not self.unknown.fields:
            return ""
        return (
            f"{self.rows.name}: {counted(self.unknown.fields, 'field')} with a text that the "
            "training table does not have, or empty where it never is there "
            f"({self.unknown.first}); the model ignores them"
        )

    def of_others(self, classes: Sequence[int]) -> str:
        """The rows whose class a model does not have, in a line; empty if there are none."""
        others = [label for label in self.classes if label not in classes]
        if not (self.labelled and others):
            return ""
        if len(others) == len(self.classes):
            return f"{self.rows.name}: no label of these rows is a class of the model"
        rows = int(np.isin(self.labels, others).sum())
        named = ", ".join(self.named(label) for label in sorted(others)[:10])
        return (
            f"{self.rows.name}: {counted(rows, 'row')} of classes that the model does not have "
            f"({named}), which count as errors"
        )

    def weighed(self, weights: Mapping[str, float]) -> Examples:
        """The same with weights of classes, which are named as the user knows them.

        Raises ConfigError: as the class raises it; or if a class has two weights.
        """
        labels = {self.named(label): label for label in self.classes}
        found: dict[int, float] = {}
        for name, weight in weights.items():
            label = labels.get(name, None if self.names else _whole_number(name))
            if label not in self.classes:
                known = ", ".join(list(labels)[:10])
                raise ConfigError(f"a weight for class {name}, which has no rows; known: {known}")
            if label in found:
                raise ConfigError(f"class {self.named(label)} has two weights; leave one")
            found[label] = weight
        return replace(self, class_weights=found)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The distinct labels, ascending; of two the larger first, to whose side the plane points.

        Of equal decision values a model predicts the first class, and scikit-learn the smallest.
        """
        found: set[int] = set()
        for start in range(0, len(self.labels), _ROWS_AT_A_TIME):
            labels = np.sort(self.labels[start : start + _ROWS_AT_A_TIME])
            # np.unique loads numpy.ma, which is slow.
            found.update(labels[np.append(True, labels[1:] != labels[:-1])].tolist())
        ascending = tuple(sorted(found))
        return ascending if len(ascending) > 2 else ascending[::-1]

    @cached_property
    def uneven(self) -> Uneven | None:
        """Columns of very different size, if there are; None for rows in a file, too."""
        rows = self.rows
        if rows.values is None or rows.n_features == 0 or rows.mapped_bytes:
            return None
        sizes = column_sizes(rows)
        large, small = int(sizes.argmax()), int(np.where(sizes > 0.0, sizes, math.inf).argmin())
        if not sizes[large] / _UNEVEN > sizes[small]:
            return None
        names = [] if self.encoding is None else self.encoding.features
        most, least = (repr(names[at]) if names else str(at + 1) for at in (large, small))
        return Uneven(most, least, float(sizes[large]), float(sizes[small]))

    @cached_property
    def larger_class(self) -> tuple[int, float]:
        """The class whose rows weigh most, and the share of errors if it is always predicted."""
        costs = self.costs()
        of_class = [float(costs[self.labels == label].sum()) for label in self.classes]
        larger = self.classes[int(np.argmax(of_class))]
        return larger, float(costs[self.labels != larger].sum() / costs.sum())

    @property
    def fitted(self) -> tuple[int, ...]:
        """The classes that have a fit each, against the rest: the first of two, or all."""
        return self.classes[:1] if len(self.classes) == 2 else self.classes

    def against_rest(self, label: int) -> tuple[Dataset, FloatArray | None]:
        """The rows with one class as +1 and all others as -1, and their weights, if any.

        A class's weight counts in its own problem, of two classes both: as LIBLINEAR's -wi does.
        """
        own = self.labels == label
        rows = self.rows.relabelled(np.where(own, np.int8(1), np.int8(-1)))
        return rows, self.weights_against_rest(label)

    def weights_against_rest(self, label: int) -> FloatArray | None:
        """The weights of `against_rest`."""
        if self.row_weights is None and not self.class_weights:
            return None
        return self._weights(self.classes if len(self.classes) == 2 else (label,))

    def weighed_by_row(self) -> Examples:
        """The same with each row's weight times its class's, in every class's problem."""
        if not self.class_weights:
            return self
        return replace(self, row_weights=self._weights(self.classes), class_weights={})

    def costs(self) -> FloatArray:
        """What an error on each row costs, its weight times its class's, `scaled`; shape (m,)."""
        return scaled(self._weights(self.classes))[0]

    def _weights(self, counting: tuple[int, ...]) -> FloatArray:
        """Weights of the rows, times those of these classes; 0 or inf beyond double precision."""
        weights = np.ones(len(self.labels))
        for label in self.class_weights.keys() & counting:
            weights[self.labels == label] = self.class_weights[label]
        if self.row_weights is None:
            return weights
        with np.errstate(over="ignore", under="ignore"):
            product: FloatArray = weights * self.row_weights
        return product

    def chosen(self, rows: Array) -> Examples:
        """Some of the rows, by number, with their labels and weights; copied to memory.

        Raises DataError when they are in a file, and memory has no room for them.
        """
        if self.rows.mapped_bytes:
            share = len(rows) / self.rows.n_samples
            require_memory(
                int(share * self.rows.nbytes),
                f"{self.rows.name}: a copy of {len(rows):,} rows",
                "leave out --cv and rows of weight 0, or train on fewer rows",
            )
        weights = None if self.row_weights is None else self.row_weights[rows]
        return replace(
            self,
            rows=take_rows(self.rows, rows),
            labels=self.labels[rows],
            row_weights=weights,
        )

    def counting(self) -> Examples:
        """Without rows of weight 0. Raises DataError when no row of a class is left."""
        if self.row_weights is None or self.row_weights.all():
            return self
        left = np.flatnonzero(self.row_weights)
        missing = np.setdiff1d(self.labels, self.labels[left])
        if len(missing):
            which = self.named(int(missing[0]))
            raise DataError(f"{self.rows.name}: all rows of class {which} have weight 0")
        return self.chosen(left)


def with_even_columns(examples: Examples) -> tuple[Examples, FloatArray]:
    """Each column divided by its largest absolute value, and these values, shape (d,).

    They are 1 where a column has no entries. Raises DataError when the rows are in a file.
    """
    rows = examples.rows
    if rows.mapped_bytes:
        raise DataError(
            f"{rows.name}: the rows are in a file; scale them before, or train where more memory "
            "is free"
        )
    sizes = column_sizes(rows)
    sizes[sizes == 0.0] = 1.0
    if rows.values is not None:
        each = sizes if rows.indices is None else sizes[rows.indices]
        rows = replace(rows, values=rows.values / each)
    origin = replace(rows.provenance, transforms=(*rows.provenance.transforms, "max-abs"))
    return replace(examples, rows=replace(rows, provenance=origin)), sizes


def scaled(weights: FloatArray) -> tuple[FloatArray, int]:
    """Weights over a power of two, the largest from 1 to 2, and its exponent."""
    exponent = int(np.frexp(weights.max())[1]) - 1
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(weights, -exponent), exponent


class SquaredLengths(NamedTuple):
    """What is needed to know of ||x_i||^2, which need not be kept for each row."""

    total: float
    largest: float
    longest: int  # number of the row with the largest
    rows: int  # number of rows

    @classmethod
    def of(cls, rows: Dataset) -> SquaredLengths:
        """Those of the rows of a data set."""
        squares = np.asarray(rows.rows.norms2())
        with np.errstate(over="ignore"):
            total = float(squares.sum())
        longest = int(np.argmax(squares))
        return cls(total, float(squares[longest]), longest, len(squares))

    def in_range(self, lam: float) -> bool:
        """Whether they, summed and divided by lambda m, stay in double precision."""
        return math.isfinite(self.total / (lam * self.rows))

    def require(self, lam: float, name: str) -> None:
        """Raise DataError, which names the longest row, unless they are `in_range`."""
        if not self.in_range(lam):
            raise DataError(
                f"{name}: row {self.longest + 1}: ||x||^2 = {self.largest:.2g} is too large for"
                f" lambda = {lam:.2g}; scale the features"
            )


def read_examples(
    path: Path,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    tolerance: float = ROUNDING,
    dtype: StoredPrecision | None = None,
    target: str | None = None,
    missing: OnMissing = "refuse",
    dropped: Sequence[str] = (),
    encoding: Encoding | None = None,
) -> Examples:
    """Read a file of LIBSVM text, or a table. Rows of text beyond memory are kept in a file.

    - ``n_features``: least number of features.
    - ``tolerance``: relative gap to train to: below `ROUNDING`, numbers are not rounded to single
      precision; nor are they with ``dtype`` float64.
    - ``target, missing, dropped, encoding``: of a table: see `svmbench.data.tables.read_table`.

    Raises DataError.
    """
    if kind_of(path):
        if zero_based:
            raise DataError(f"{path}: is a table; --zero-based is of LIBSVM text")
        from svmbench.data.in_memory import as_dataset  # needs scipy, which text does without
        from svmbench.data.tables import read_table

        table = read_table(path, target, missing, dropped, encoding)
        origin = Provenance(path.name, table.sha256)
        rows = replace(as_dataset(table.X), name=path.name, provenance=origin)
        return Examples(
            rows,
            np.zeros(rows.n_samples, dtype=np.int64) if table.labels is None else table.labels,
            names=table.encoding.names,
            encoding=table.encoding,
            labelled=table.labels is not None,
            unknown=table.unknown,
        )
    if target is not None or missing != "refuse" or dropped:
        raise DataError(
            f"{path}: is LIBSVM text by its name, and --target, --missing and --drop are of tables;"
            " let the name of a table end in .csv, .tsv, .parquet, .arrow, .npz or .npy"
        )
    kept: StoredPrecision | None = "float64" if tolerance < ROUNDING else dtype
    text = libsvm.parse_own(path, zero_based=zero_based, dtype=kept, beyond_memory=True)
    rounded = not all(part.exact for part in text.parts)
    labels = _whole(text.labels, path)
    rows = libsvm.to_dataset(
        text,
        name=libsvm.plain_name(path),
        n_features=max(text.max_index, n_features or 0),
        positive=(),
        dtype=dtype,
    )
    return Examples(rows, labels, rounded=rounded)


def read_others(
    path: Path,
    n_features: int,
    *,
    zero_based: bool = False,
    encoding: Encoding | None = None,
) -> Examples:
    """Read rows as those that a model was trained on, in double precision as LIBLINEAR does.

    Raises DataError: as `read_examples`, and for a table if the model was not trained on one.
    """
    if kind_of(path) and encoding is None:
        raise DataError(
            f"{path}: a table, and nothing says how the model reads one; it is of LIBSVM text, or"
            " its JSON is missing"
        )
    found = read_examples(
        path,
        n_features=n_features,
        zero_based=zero_based,
        dtype="float64",
        encoding=encoding if kind_of(path) else None,
    )
    return found if encoding is None else replace(found, names=encoding.names)


def _whole_number(name: str) -> int | None:
    """The class that LIBLINEAR would have for this text; None if it is no whole number."""
    try:
        number = float(name.replace("_", "?"))
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _whole(labels: Array, path: Path) -> Array:
    """Labels of a text as whole numbers: int8 as the reader has small ones, or int64."""
    if labels.dtype.kind == "i":
        return labels
    whole, largest = "classes are whole numbers", f"up to {LARGEST_LABEL}"
    for wrong, rule in (
        (labels != np.rint(labels), f"{whole}; a regression set cannot be trained on"),
        (np.abs(labels) > LARGEST_LABEL, f"{whole} {largest}; number them anew"),
    ):
        if wrong.any():
            first = int(wrong.argmax())
            label = libsvm.label_text(labels[first])
            raise DataError(f"{path}: row {first + 1:,}: label {label}: {rule}")
    return labels.astype(np.int64)
