"""What may be done to a data set before training: pure functions of its compact rows.

A configuration names transforms, `apply_transforms` carries them out in order, and what
was done is recorded in the rows' provenance, completely enough to be part of their
identity. Nothing is changed in place: every transform returns new data sets.

**Precision.** Every new value is computed in double. How it is stored follows one rule:

- Values held exactly by single precision are stored in it, whatever made them.
- Rows stored in single precision, or as implicit ones, come from a text of at most six
  significant digits, or hold whole numbers or the like exactly. Transforms that multiply
  or divide single values (`Factor`, `MaxAbs`, `UnitNorm`) keep them in single precision:
  the rounding, 6e-8 of a value, lies below the 5e-7 that six digits leave open, for eight
  such transforms in a row. A result that single precision could not hold to 6e-8
  (because it is too large or too small) puts the whole set into double.
- A constant (`Bias`) enters such rows as a number in a text would: in single precision
  if it has at most six significant digits.
- All other results (`Standardise`, whose differences cancel digits, and everything made
  of rows stored in double) are stored in double.

**Randomness** comes from the kernels' generator (kernels/rng.pxd), so that a seed means
the same rows on every machine and with every version of NumPy.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, ClassVar, NoReturn, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    model_validator,
)

from svmbench.data.blocks import (
    Block,
    blocks,
    column_extremes,
    column_moments,
    dense_blocks,
    row_blocks,
    row_maxima,
    row_starts,
)
from svmbench.data.catalogue import Entry, OwnFiles
from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.storage import FLOAT32_DIGITS, compact
from svmbench.errors import DataError
from svmbench.kernels.rng import Generator

TRANSFORMS_VERSION = 1
"""Raised whenever the same transform would give other rows, so that caches are rebuilt."""

MOST_ENTRIES = 1 << 28
"""Entries that standardising may make of sparse rows: 2 GiB in double precision."""

_LONGEST_SUFFIX = 80  # names of data sets are parts of names of files
_TINY32 = float(np.finfo(np.float32).tiny)

Pair = tuple[Dataset, Dataset | None]


# --- what their parameters hold ----------------------------------------------------


def is_size(value: Any) -> bool:
    """Whether it is a part of the rows: a fraction between 0 and 1, or how many."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 1 if isinstance(value, int) else 0.0 < value < 1.0


def _size(value: Any) -> Any:
    if is_size(value):
        return value
    raise ValueError("Input should be a fraction between 0 and 1, or a whole number of rows")


def _as_columns(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def _columns(values: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(values)) < len(values):
        raise ValueError("Input should name each column once")
    return tuple(sorted(values))


Size = Annotated[
    int | float,
    BeforeValidator(
        _size,
        json_schema_input_type=Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0, lt=1)],
    ),
]
"""A part of the rows: a fraction between 0 and 1, or how many."""

Seed = Annotated[int, Strict(), Field(ge=0, lt=1 << 63)]
Row = Annotated[int, Strict(), Field(ge=0)]
Column = Annotated[int, Strict(), Field(ge=1, lt=1 << 31)]
Columns = Annotated[
    tuple[Column, ...],
    Field(min_length=1),
    BeforeValidator(_as_columns, json_schema_input_type=Column | list[Column]),
    AfterValidator(_columns),
]
PositiveNumber = Annotated[float, Strict(), Field(gt=0.0, allow_inf_nan=False)]


class Transform(BaseModel, ABC):
    """One step from a data set to another.

    Attributes
    ----------
    name : str
        What configurations call it.
    main : str, optional
        The parameter that may stand alone: ``{factor: 0.5}`` is ``{factor: {by: 0.5}}``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    main: ClassVar[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else cls.expand(given)

    @classmethod
    def expand(cls, given: Any) -> Any:
        """Parameters that a value standing alone means."""
        if cls.main is None:
            raise ValueError(f"Input should be left out: {cls.name} has no parameters")
        return {cls.main: given}

    @abstractmethod
    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Carry it out on training rows and, if there are any, test rows.

        Raises
        ------
        DataError
            When the rows do not allow it.
        """

    def scaled(self, scale: float) -> Transform:
        """The same for ``scale`` times as many rows: numbers of rows change, fractions do not."""
        return self

    def plain(self) -> Any:
        """Its shortest form in a configuration."""
        given = self.model_dump(mode="json", exclude_defaults=True)
        if not given:
            return self.name
        return {self.name: given[self.main] if self.main and set(given) == {self.main} else given}

    def __str__(self) -> str:
        """Its name with all parameters, for the record."""
        values = self.model_dump(mode="json", exclude_none=True)
        shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
        return f"{self.name}({shown})" if shown else self.name

    def record(self, train: Dataset) -> str:
        """What provenance says of it when it is applied with these training rows."""
        return str(self)

    def refuse(self, data: Dataset, why: str) -> NoReturn:
        """Raise DataError: the data set, the transform, why and what to do."""
        raise DataError(f"{data.name}: {self}: {why}")

    def shuffled_rows(self, m: int, seed: int) -> Array:
        """Return 0 .. m - 1 in a random order, int32; every kind of transform draws its own."""
        digest = hashlib.sha256(f"svmbench {self.name} {seed}".encode()).digest()
        order = np.arange(m, dtype=np.int32)
        Generator(int.from_bytes(digest[:8], "little")).shuffle(order)
        return order


class _OfTrain(Transform, ABC):
    """A transform whose statistics are the training rows', for these and the test rows."""

    def record(self, train: Dataset) -> str:
        # Of which text: test rows so transformed depend on it as well as on their own.
        source = train.provenance
        name = "stand-in" if source.stand_in else source.source
        return f"{self} of {name} {source.sha256[:12]}".rstrip()


# --- which rows --------------------------------------------------------------------


class Shuffled(Transform):
    """Training rows in a random order, laid out so in memory."""

    name = "shuffled"
    main = "seed"

    seed: Seed = Field(default=0, description="Seed of the order.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Permute the training rows."""
        return take_rows(train, self.shuffled_rows(train.n_samples, self.seed)), test


class Rows(Transform):
    """Training rows from one number up to another: `{rows: [0, 20000]}` keeps 20,000."""

    name = "rows"

    start: Row = Field(description="First row, counted from 0.")
    stop: Annotated[Row, Field(ge=1)] = Field(description="The row after the last.")

    @classmethod
    def expand(cls, given: Any) -> Any:
        """Two numbers are the start and the stop."""
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise ValueError("Input should be [first row, row after the last]")
        return {"start": given[0], "stop": given[1]}

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.start >= self.stop:
            raise ValueError("Input should be [first row, row after the last], ascending")
        return self

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Keep the rows start .. stop - 1."""
        if self.stop > train.n_samples:
            self.refuse(train, f"there are {train.n_samples} rows only; end at that at most")
        return take_rows(train, np.arange(self.start, self.stop)), test

    def scaled(self, scale: float) -> Rows:
        """The corresponding part of a smaller or larger set."""
        start = int(self.start * scale)
        return Rows(start=start, stop=max(int(self.stop * scale), start + 1))

    def plain(self) -> Any:
        """Its two numbers, as a list."""
        return {self.name: [self.start, self.stop]}


class Subsample(Transform):
    """A random part of the training rows, in their order."""

    name = "subsample"
    main = "size"

    size: Size = Field(description="Fraction of the rows, or how many.")
    seed: Seed = Field(default=0, description="Seed of the choice.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Keep that many rows, each as likely as any other."""
        count = _count(self, train, self.size)
        order = self.shuffled_rows(train.n_samples, self.seed)
        return take_rows(train, np.sort(order[:count])), test

    def scaled(self, scale: float) -> Subsample:
        """As many of more rows."""
        return self.model_copy(update={"size": _scaled_size(self.size, scale)})


class Balance(Transform):
    """The more frequent class of the training rows thinned out at random."""

    name = "balance"
    main = "count"

    count: Annotated[int, Strict(), Field(ge=1)] | None = Field(
        default=None,
        description="Rows to keep of the more frequent class; as many as the other has unless set.",
    )
    seed: Seed = Field(default=0, description="Seed of the choice.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Keep all rows of one class and that many of the other, in their order."""
        classes = [np.flatnonzero(train.labels == sign) for sign in (-1, 1)]
        fewer, more = sorted(classes, key=len)
        count = len(fewer) if self.count is None else self.count
        if len(fewer) == 0:
            self.refuse(train, "all rows are of one class; leave balance out")
        if count > len(more):
            self.refuse(train, f"the larger class has {len(more)} rows only; keep at most those")
        kept = more[self.shuffled_rows(len(more), self.seed)[:count]]
        return take_rows(train, np.sort(np.concatenate([fewer, kept]))), test

    def scaled(self, scale: float) -> Balance:
        """As many of more rows."""
        if self.count is None:
            return self
        return self.model_copy(update={"count": max(1, round(self.count * scale))})


class Split(Transform):
    """A random part of the rows set apart as test rows; both parts keep their order."""

    name = "split"
    main = "test"

    test: Size = Field(description="Test rows: a fraction of all rows, or how many.")
    seed: Seed = Field(default=0, description="Seed of the choice.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Part the rows in two."""
        if test is not None:
            self.refuse(train, "there are test rows already; leave the split out")
        count = _count(self, train, self.test)
        if count == train.n_samples:
            self.refuse(train, "no row would be left for training; take fewer for the test")
        order = self.shuffled_rows(train.n_samples, self.seed)
        parts = [take_rows(train, np.sort(part)) for part in (order[count:], order[:count])]
        return parts[0], parts[1]

    def scaled(self, scale: float) -> Split:
        """As many of more rows."""
        return self.model_copy(update={"test": _scaled_size(self.test, scale)})


class Swap(Transform):
    """Train on the test rows and test on the training rows."""

    name = "swap"

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Exchange the two."""
        if test is None:
            self.refuse(train, "there are no test rows; leave the swap out")
        return replace(test, name=train.name), replace(train, name=test.name)


def _count(transform: Transform, data: Dataset, size: int | float) -> int:
    m = data.n_samples
    count = max(1, round(size * m)) if isinstance(size, float) else size
    if count > m:
        transform.refuse(data, f"there are {m} rows only; take at most those")
    return count


def _scaled_size(size: int | float, scale: float) -> int | float:
    return size if isinstance(size, float) else max(1, round(size * scale))


def take_rows(data: Dataset, order: Array) -> Dataset:
    """Rows of a data set, in the order given, copied into new arrays.

    Parameters
    ----------
    data : Dataset
    order : ndarray of integers, shape (n,)
        Row numbers; a row may occur several times.
    """
    labels = data.labels[order]
    if data.indices is None:
        assert data.values is not None
        return replace(data, values=data.values[order], labels=labels)
    assert data.indptr is not None
    indptr = row_starts(np.diff(data.indptr)[order])
    shift = data.indptr[order] - indptr[:-1]
    indices = np.empty(indptr[-1], dtype=data.indices.dtype)
    values = None if data.values is None else np.empty(indptr[-1], dtype=data.values.dtype)
    for rows in row_blocks(indptr):
        entries = slice(indptr[rows.start], indptr[rows.stop])
        lengths = np.diff(indptr[rows.start : rows.stop + 1])
        source = np.arange(entries.start, entries.stop) + np.repeat(shift[rows], lengths)
        indices[entries] = data.indices[source]
        if values is not None:
            assert data.values is not None
            values[entries] = data.values[source]
    return replace(data, indptr=indptr, indices=indices, values=values, labels=labels)


# --- their values ------------------------------------------------------------------


class UnitNorm(Transform):
    """Every row, of training and of test, divided by its Euclidean norm; zero rows stay."""

    name = "unit-norm"

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Divide the rows of both."""
        return self._normalise(train), None if test is None else self._normalise(test)

    def _normalise(self, data: Dataset) -> Dataset:
        squares = data.rows.norms2()
        largest = row_maxima(data)
        # Where squares overflow or vanish, the root of their sum is not the norm.
        if not np.isfinite(squares).all() or np.any(squares[largest > 0.0] < 1e-280):
            self.refuse(data, "a row's norm is out of range; put a factor before it")
        norms = np.sqrt(squares)
        norms[norms == 0.0] = 1.0
        return _rewritten(self, data, lambda block: block.values / block.per_row(norms))


class MaxAbs(_OfTrain):
    """Every column divided by its largest absolute value in the training rows.

    Columns that are zero there stay as they are.
    """

    name = "max-abs"

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Divide the columns of both by the training rows' largest values."""
        low, high = column_extremes(train)
        largest = np.maximum(-low, high)
        largest[largest == 0.0] = 1.0

        def divided(data: Dataset) -> Dataset:
            return _rewritten(self, data, lambda block: block.values / block.per_column(largest))

        return divided(train), None if test is None else divided(test)


class Factor(Transform):
    """All values multiplied by one number."""

    name = "factor"
    main = "by"

    by: PositiveNumber = Field(description="The number.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Multiply both."""

        def multiplied(data: Dataset) -> Dataset:
            return _rewritten(self, data, lambda block: block.values * self.by)

        return multiplied(train), None if test is None else multiplied(test)


class Standardise(_OfTrain):
    """Columns shifted and scaled to mean 0 and standard deviation 1 in the training rows.

    Zeros do not stay zeros, so that sparse columns fill up. A column that is constant in
    the training rows is only shifted.
    """

    name = "standardise"
    main = "columns"

    columns: Columns | None = Field(
        default=None, description="The columns, counted from 1; all of them unless set."
    )

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Standardise both with the training rows' means and deviations."""
        chosen = _chosen_columns(self, train, self.columns)
        for data in (train, test) if test is not None else (train,):
            self._require_room(data, int(np.count_nonzero(chosen)))
        mean, deviation = column_moments(train)
        if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
            self.refuse(train, "a column's deviation overflows; put a factor before it")
        mean[~chosen], deviation[~chosen] = 0.0, 1.0

        def standardised(data: Dataset) -> Dataset:
            if data.indices is None:
                return _rewritten(
                    self, data, lambda block: (block.values - mean) / deviation, keeps_digits=False
                )
            if chosen.all():
                return _filled_up(data, mean, deviation)
            return _rebuilt(
                data,
                data.n_features,
                lambda block: _standardised_entries(block, chosen, mean, deviation),
                np.dtype(np.float64),
            )

        return standardised(train), None if test is None else standardised(test)

    def _require_room(self, data: Dataset, n_columns: int) -> None:
        if data.indices is not None and data.n_samples * n_columns > MOST_ENTRIES:
            self.refuse(
                data,
                f"{data.n_samples * n_columns:,} entries that are not zero would be stored, of "
                f"{MOST_ENTRIES:,} at most; name some columns, or use max-abs, which keeps zeros",
            )


# --- their columns -----------------------------------------------------------------


class Drop(Transform):
    """Columns removed, and the others renumbered."""

    name = "drop"
    main = "columns"

    columns: Columns = Field(description="The columns, counted from 1.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Remove the columns from both."""
        kept = ~_chosen_columns(self, train, self.columns)
        if not kept.any():
            self.refuse(train, "no column would be left; drop fewer")
        return _without(train, kept), None if test is None else _without(test, kept)


class Bias(Transform):
    """One more feature of the same value in every row, the last: a regularised bias."""

    name = "bias"
    main = "rho"

    rho: PositiveNumber = Field(default=1.0, description="The feature's value.")

    def apply(self, train: Dataset, test: Dataset | None) -> Pair:
        """Append the feature to both."""
        return self._appended(train), None if test is None else self._appended(test)

    def _appended(self, data: Dataset) -> Dataset:
        single = _is_single(data) and _is_single_number(self.rho)
        dtype = np.dtype(np.float32 if single else np.float64)
        d = data.n_features
        if data.indices is None:
            assert data.values is not None
            values = np.empty((data.n_samples, d + 1), dtype=dtype)
            values[:, :d] = data.values
            values[:, d] = self.rho
            return replace(data, n_features=d + 1, values=values)

        def with_last(block: Block) -> tuple[Array, Array, FloatArray]:
            assert block.columns is not None
            ends = np.cumsum(block.lengths)
            return (
                block.lengths + 1,
                np.insert(block.columns.astype(np.int32), ends, d),
                np.insert(block.values, ends, self.rho),
            )

        return _rebuilt(data, d + 1, with_last, dtype)


TRANSFORMS: dict[str, type[Transform]] = {
    kind.name: kind
    for kind in (
        *(Shuffled, Rows, Subsample, Balance, Split, Swap),
        *(UnitNorm, MaxAbs, Factor, Standardise),
        *(Drop, Bias),
    )
}
"""All transforms, by the name that configurations use."""


# --- a chain of them ---------------------------------------------------------------


@dataclass(frozen=True)
class Derived:
    """A data set made of another.

    Parameters
    ----------
    source : str, mapping, OwnFiles or Entry
        The other, as `svmbench.data.catalogue.resolve` takes it.
    transforms : tuple of Transform
        What is done to it, in order; there may be none.
    name : str
        What the result is called.
    """

    source: str | Mapping[str, Any] | OwnFiles | Entry
    transforms: tuple[Transform, ...]
    name: str


def apply_transforms(
    train: Dataset, test: Dataset | None, transforms: Sequence[Transform], *, name: str
) -> Pair:
    """Carry out transforms in order, and decide anew how the rows are stored.

    Parameters
    ----------
    train : Dataset
    test : Dataset or None
    transforms : sequence of Transform
    name : str
        Of the result; its test rows get ``.t`` appended.

    Returns
    -------
    train : Dataset
    test : Dataset or None

    Raises
    ------
    DataError
        When the rows do not allow a transform: data set, transform, why, what to do.
    """
    for transform in transforms:
        note = transform.record(train)
        train, test = transform.apply(train, test)
        train, test = _noted(train, note), None if test is None else _noted(test, note)
    train = replace(_settled(train), name=name)
    return train, None if test is None else replace(_settled(test), name=f"{name}.t")


def makes_test_rows(transforms: Sequence[Transform]) -> bool:
    """Whether there are test rows after these transforms, even if there were none before."""
    return any(isinstance(transform, Split) for transform in transforms)


def suffix(transforms: Sequence[Transform]) -> str:
    """What tells a transformed set's name from the plain one's: ``+max-abs+rows-0-20000``."""
    text = "".join("+" + "-".join(_words(transform.plain())) for transform in transforms)
    if len(text) <= _LONGEST_SUFFIX:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[: _LONGEST_SUFFIX - 9]}-{digest[:8]}"


def _words(plain: Any) -> Iterator[str]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            # Parameters are told by their values; the transform's own name is the outer key.
            yield from [key] if key in TRANSFORMS else []
            yield from _words(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from _words(value)
    else:
        yield plain if isinstance(plain, str) else f"{plain:.12g}"


def _noted(data: Dataset, note: str) -> Dataset:
    source = data.provenance
    return replace(data, provenance=replace(source, transforms=(*source.transforms, note)))


def _settled(data: Dataset) -> Dataset:
    """The same rows in their smallest form.

    Values in double become single where that holds them all; rounding was decided when
    they were computed.
    """
    if data.indices is None:
        assert data.values is not None
        indptr, indices, values = _compact_dense(data.values)
    else:
        assert data.indptr is not None
        indptr, indices, values = compact(
            data.indptr, data.indices, data.values, data.n_features, FLOAT32_DIGITS + 1
        )
    return replace(data, indptr=indptr, indices=indices, values=values)


def _compact_dense(values: Array) -> tuple[Array | None, Array | None, Array | None]:
    m, d = values.shape
    if values.dtype != np.float32 and _holds_exactly(values):
        values = values.astype(np.float32)
    nonzeros, ones = 0, True
    for rows in dense_blocks(m, d):
        block = values[rows]
        nonzeros += int(np.count_nonzero(block))
        ones = ones and bool(np.all((block == 0.0) | (block == 1.0)))
    entry = (2 if d <= 1 << 16 else 4) + (0 if ones else values.itemsize)
    if 8 * (m + 1) + nonzeros * entry > values.nbytes:
        return None, None, values
    starts = np.zeros(m, dtype=np.int64)
    columns, entries = [], []
    for rows in dense_blocks(m, d):
        block = values[rows]
        of_row, column = np.nonzero(block)
        starts[rows] = np.bincount(of_row, minlength=len(block))
        columns.append(column.astype(np.int32))
        entries.append(block[of_row, column])
    return compact(
        row_starts(starts), np.concatenate(columns), np.concatenate(entries), d, FLOAT32_DIGITS + 1
    )


def _holds_exactly(values: Array) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        return all(
            np.array_equal(values[rows].astype(np.float32), values[rows])
            for rows in dense_blocks(*values.shape)
        )


# --- new values ---------------------------------------------------------------------


def _is_single(data: Dataset) -> bool:
    return data.values is None or data.values.dtype == np.float32


def _is_single_number(number: float) -> bool:
    digits = Decimal(repr(number)).normalize().as_tuple().digits
    exact = float(np.float32(number)) == number if number <= 3e38 else False
    return exact or (len(digits) <= FLOAT32_DIGITS and _TINY32 <= number <= 3e38)


def _rewritten(
    transform: Transform,
    data: Dataset,
    compute: Callable[[Block], FloatArray],
    *,
    keeps_digits: bool = True,
) -> Dataset:
    """The same entries with new values, stored by the rule of this module."""
    values = None
    if keeps_digits and _is_single(data):
        values = _computed(transform, data, compute, np.dtype(np.float32))
    if values is None:
        values = _computed(transform, data, compute, np.dtype(np.float64))
    return replace(data, values=values)


def _computed(
    transform: Transform,
    data: Dataset,
    compute: Callable[[Block], FloatArray],
    dtype: np.dtype[Any],
) -> Array | None:
    """New values of all entries; None where single precision would not hold one of them."""
    shape = (data.nnz,) if data.indices is not None else (data.n_samples, data.n_features)
    out = np.empty(shape, dtype=dtype)
    for block in blocks(data):
        with np.errstate(over="ignore", under="ignore"):
            exact = compute(block)
            rounded = exact.astype(dtype)
        if not np.isfinite(exact).all():
            transform.refuse(data, "a value becomes too large for a double; use a smaller factor")
        good = (rounded == exact) | (np.isfinite(rounded) & (np.abs(rounded) >= _TINY32))
        if not good.all():
            return None
        out[block.entries] = rounded
    return out


def _rebuilt(
    data: Dataset,
    n_features: int,
    compute: Callable[[Block], tuple[Array, Array, FloatArray]],
    dtype: np.dtype[Any],
) -> Dataset:
    """Sparse rows with other entries: their lengths, columns and values, block by block."""
    lengths, columns, values = [np.zeros(0, dtype=np.int64)], [], []
    narrow = np.dtype(np.uint16 if n_features <= 1 << 16 else np.int32)
    for block in blocks(data):
        of_rows, of_columns, of_values = compute(block)
        lengths.append(of_rows)
        columns.append(of_columns.astype(narrow))
        values.append(of_values.astype(dtype))
    return replace(
        data,
        n_features=n_features,
        indptr=row_starts(np.concatenate(lengths)),
        indices=np.concatenate([np.zeros(0, dtype=narrow), *columns]),
        values=np.concatenate([np.zeros(0, dtype=dtype), *values]),
    )


# --- columns -----------------------------------------------------------------------


def _chosen_columns(
    transform: Transform, data: Dataset, columns: tuple[int, ...] | None
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which columns are meant, shape (d,)."""
    d = data.n_features
    if columns is None:
        return np.ones(d, dtype=np.bool_)
    if columns[-1] > d:
        transform.refuse(data, f"there is no column {columns[-1]}, there are {d}; correct it")
    chosen = np.zeros(d, dtype=np.bool_)
    chosen[np.array(columns) - 1] = True
    return chosen


def _filled_up(data: Dataset, mean: FloatArray, deviation: FloatArray) -> Dataset:
    """Sparse rows, all columns standardised, as dense ones."""
    values = np.empty((data.n_samples, data.n_features))
    values[:] = (0.0 - mean) / deviation
    for block in blocks(data):
        new = (block.values - block.per_column(mean)) / block.per_column(deviation)
        values[block.rows.start + block.of_row(), block.columns] = new
    return replace(data, indptr=None, indices=None, values=values)


def _standardised_entries(
    block: Block, chosen: Array, mean: FloatArray, deviation: FloatArray
) -> tuple[Array, Array, FloatArray]:
    """Entries of sparse rows whose chosen columns are full afterwards."""
    assert block.columns is not None
    numbers = np.flatnonzero(chosen)
    full = np.empty((len(block.lengths), len(numbers)))
    full[:] = ((0.0 - mean) / deviation)[numbers]
    of_row, mine = block.of_row(), chosen[block.columns]
    columns = block.columns[mine]
    place = np.searchsorted(numbers, columns)
    full[of_row[mine], place] = (block.values[mine] - mean[columns]) / deviation[columns]
    rows = np.concatenate([of_row[~mine], np.repeat(np.arange(len(full)), len(numbers))])
    columns = np.concatenate([block.columns[~mine].astype(np.int64), np.tile(numbers, len(full))])
    values = np.concatenate([block.values[~mine], full.ravel()])
    order = np.lexsort((columns, rows))
    return np.bincount(rows, minlength=len(full)), columns[order], values[order]


def _without(data: Dataset, kept: Array) -> Dataset:
    """Rows without the columns that are not kept."""
    if data.indices is None:
        assert data.values is not None
        return replace(
            data, n_features=int(np.count_nonzero(kept)), values=data.values[:, kept].copy()
        )
    number = np.cumsum(kept) - 1

    def remaining(block: Block) -> tuple[Array, Array, FloatArray]:
        assert block.columns is not None
        left = kept[block.columns]
        lengths = np.bincount(block.of_row()[left], minlength=len(block.lengths))
        return lengths, number[block.columns[left]], block.values[left]

    dtype = np.dtype(np.float32) if _is_single(data) else np.dtype(np.float64)
    return _rebuilt(data, int(np.count_nonzero(kept)), remaining, dtype)
