"""Transforms of a data set before training: pure functions of its compact rows.

A configuration names transforms, and `apply_transforms` applies them in order. The rows'
provenance records them completely, as part of the rows' identity. Nothing is changed in
place: every transform returns new data sets.

    step      the base class of transforms, and the types of their parameters
    rows      selection and order of rows
    values    values multiplied and divided
    columns   columns filled, removed and added
    entries   storage of new entries
    stored    an explicit choice of storage
    chain     all transforms by name; chains of them

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

from svmbench.data.derived import take_rows
from svmbench.data.transforms.chain import (
    TRANSFORMS,
    Derived,
    apply_transforms,
    makes_test_rows,
    rows_after,
    scales_between,
    suffix,
)
from svmbench.data.transforms.columns import Bias, CompactColumns, Drop, Sparse, Standardise
from svmbench.data.transforms.rows import (
    Balance,
    Rows,
    Shuffled,
    Split,
    Subsample,
    Swap,
)
from svmbench.data.transforms.step import (
    ColumnNumber,
    Columns,
    PositiveNumber,
    RowNumber,
    SampleSize,
    Seed,
    TrainAndTest,
    Transform,
    is_size,
)
from svmbench.data.transforms.values import Factor, MaxAbs, UnitNorm

__all__ = [
    "TRANSFORMS",
    "TRANSFORMS_VERSION",
    "Balance",
    "Bias",
    "ColumnNumber",
    "Columns",
    "CompactColumns",
    "Derived",
    "Drop",
    "Factor",
    "MaxAbs",
    "PositiveNumber",
    "RowNumber",
    "Rows",
    "SampleSize",
    "Seed",
    "Shuffled",
    "Sparse",
    "Split",
    "Standardise",
    "Subsample",
    "Swap",
    "TrainAndTest",
    "Transform",
    "UnitNorm",
    "apply_transforms",
    "is_size",
    "makes_test_rows",
    "rows_after",
    "scales_between",
    "suffix",
    "take_rows",
]

TRANSFORMS_VERSION = 1
"""Incremented whenever the same transform gives other rows, so that caches are rebuilt."""
