"""Transforms of a data set before training: pure functions of its compact rows.

A configuration names transforms, and `apply_transforms` applies them in order. The rows'
provenance records them completely, as part of the rows' identity. Nothing is changed in
place: every transform returns new data sets.

**Precision.** Every new value is computed in double. One rule decides how it is stored:

- Values that single precision holds exactly are stored in it, whatever their origin.
- Rows stored in single precision, or as implicit ones, come from a text of at most six
  significant digits, or hold whole numbers or the like exactly. Transforms that multiply
  or divide single values (`Factor`, `MaxAbs`, `UnitNorm`) keep them in single precision:
  the rounding, 6e-8 of a value, is below the 5e-7 that six digits leave open, for up to
  eight such transforms. If single precision cannot hold a result to 6e-8 (because it is
  too large or too small), the whole set is stored in double.
- A constant (`Bias`) is added to such rows as a number in a text would be: in single
  precision if it has at most six significant digits.
- All other results are stored in double: those of `Standardise`, whose differences cancel
  digits, and all transforms of rows stored in double.

**Randomness** comes from the kernels' generator (kernels/rng.pxd), so that a seed gives
the same rows on every machine and with every version of NumPy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from svmbench.data.dataset import Dataset
from svmbench.data.transforms.columns import Bias, CompactColumns, Sparse, Standardise
from svmbench.data.transforms.entries import listed, settled
from svmbench.data.transforms.rows import Balance, Rows, Shuffled, Split, Subsample, Swap
from svmbench.data.transforms.step import Portion, TrainAndTest, Transform
from svmbench.data.transforms.values import Factor, MaxAbs, UnitNorm

if TYPE_CHECKING:
    from svmbench.data.catalogue import Chosen, Entry, OwnFiles

#: Raised whenever the same transform gives other rows, so that caches are rebuilt.
TRANSFORMS_VERSION = 1

_LONGEST_SUFFIX = 80  # names of data sets are parts of file names

#: All transforms, by the name that configurations use.
TRANSFORMS: dict[str, type[Transform]] = {
    kind.name: kind
    for kind in (
        *(Shuffled, Rows, Subsample, Balance, Split, Swap),
        *(UnitNorm, MaxAbs, Factor, Standardise),
        *(CompactColumns, Bias),
        Sparse,
    )
}


@dataclass(frozen=True)
class Derived:
    """A data set derived from another by transforms."""

    # the other, as `svmbench.data.catalogue.resolve` takes it
    source: str | Chosen | OwnFiles | Entry
    transforms: tuple[Transform, ...]  # applied in order; may be empty
    name: str  # name of the result


def apply_transforms(
    train: Dataset, test: Dataset | None, transforms: Sequence[Transform], *, name: str
) -> TrainAndTest:
    """Apply transforms in order, and store the rows in their smallest form."""
    for transform in transforms:
        note = transform.record(train)
        train, test = transform.apply(train, test)
        train, test = _noted(train, note), None if test is None else _noted(test, note)
    asked = any(isinstance(transform, Sparse) for transform in transforms)

    def stored(data: Dataset, called: str) -> Dataset:
        data = settled(data)
        return replace(listed(data) if asked else data, name=called)

    return stored(train, name), None if test is None else stored(test, f"{name}.t")


def makes_test_rows(transforms: Sequence[Transform]) -> bool:
    """Whether there are test rows after these transforms, even if there were none before."""
    return any(isinstance(transform, Split) for transform in transforms)


def scales_between(transforms: Sequence[Transform], m: int, m_test: int = 0) -> tuple[float, float]:
    """The scales from which a stand-in has all rows that are named, and up to which it uses all.

    The first is 0 if no transform names a number of rows, and above 1 if one names more than the
    set has. Beyond the second, rows are left out; it is 1 if there are test rows, which have that
    scale.
    """
    portions = tuple(portion for _, portion in _portions(transforms, m, m_test))
    least = max(portion.least for portion in portions)
    return least, 1.0 if m_test else max(least, min(portion.most for portion in portions))


def rows_after(
    transforms: Sequence[Transform], m: int, m_test: int, scale: float
) -> tuple[float | None, bool]:
    """Training rows of a stand-in of that scale after these transforms."""
    (rows, portion), _ = _portions(transforms, m, m_test)
    if portion.fixed:
        return portion.left, True
    return portion.share * rows * scale - portion.less, False


def _portions(
    transforms: Sequence[Transform], m: int, m_test: int
) -> tuple[tuple[int, Portion], tuple[int, Portion]]:
    """For the training and the test rows: the number of rows before a chain, and what it leaves."""
    train, test = (m, Portion()), (m_test, Portion())
    for transform in transforms:
        if isinstance(transform, Swap):
            train, test = test, train
        elif train[0] > 0:
            train = train[0], transform.portion(train[1], train[0])
    return train, test


def suffix(transforms: Sequence[Transform]) -> str:
    """Suffix of a transformed set's name, such as ``+max-abs+rows-0-20000``."""
    text = "".join("+" + "-".join(_words(transform.plain())) for transform in transforms)
    if len(text) <= _LONGEST_SUFFIX:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[: _LONGEST_SUFFIX - 9]}-{digest[:8]}"


def _words(plain: Any) -> Iterator[str]:
    if isinstance(plain, dict):
        for key, value in plain.items():
            # Parameters are named by their values only; the outer key is the transform's name.
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
