"""What may be done to a data set before training: pure functions of its compact rows.

A configuration names transforms, `apply_transforms` carries them out in order, and what
was done is recorded in the rows' provenance, completely enough to be part of their
identity. Nothing is changed in place: every transform returns new data sets.

    step      what a transform is, and what its parameters hold
    rows      which rows there are, and in which order
    values    values multiplied and divided
    columns   columns filled, removed and added
    entries   how new entries are stored
    stored    a form of storage that is asked for
    chain     all transforms by name; several in a row

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

from svmbench.data.transforms.chain import (
    TRANSFORMS,
    Derived,
    apply_transforms,
    makes_test_rows,
    suffix,
)
from svmbench.data.transforms.columns import Bias, CompactColumns, Drop, Standardise
from svmbench.data.transforms.rows import (
    Balance,
    Rows,
    Shuffled,
    Split,
    Subsample,
    Swap,
    take_rows,
)
from svmbench.data.transforms.step import (
    Column,
    Columns,
    Pair,
    PositiveNumber,
    Row,
    Seed,
    Size,
    Transform,
    is_size,
)
from svmbench.data.transforms.stored import Sparse
from svmbench.data.transforms.values import Factor, MaxAbs, UnitNorm

__all__ = [
    "TRANSFORMS",
    "TRANSFORMS_VERSION",
    "Balance",
    "Bias",
    "Column",
    "Columns",
    "CompactColumns",
    "Derived",
    "Drop",
    "Factor",
    "MaxAbs",
    "Pair",
    "PositiveNumber",
    "Row",
    "Rows",
    "Seed",
    "Shuffled",
    "Size",
    "Sparse",
    "Split",
    "Standardise",
    "Subsample",
    "Swap",
    "Transform",
    "UnitNorm",
    "apply_transforms",
    "is_size",
    "makes_test_rows",
    "suffix",
    "take_rows",
]

TRANSFORMS_VERSION = 1
"""Raised whenever the same transform would give other rows, so that caches are rebuilt."""
