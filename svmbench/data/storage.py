"""How rows are stored: the smallest form that holds what the text says."""

from __future__ import annotations

from typing import Literal

import numpy as np

from svmbench.data.dataset import Array, FloatArray

Precision = Literal["float64"]

FLOAT32_DIGITS = 6
"""Decimal digits that survive float32: its rounding lies below a text's of so many."""

_LARGEST_UINT16_WIDTH = 1 << 16
_BLOCK = 1 << 20


def compact(
    indptr: Array,
    indices: Array,
    values: FloatArray | None,
    n_features: int,
    significant_digits: int,
    *,
    dtype: Precision | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    """Rows in their smallest form.

    Columns are uint16 where d allows. Values are left out where all are one; they are
    float32 where that holds them exactly or where the text gives at most six significant
    digits, and float64 otherwise. Rows are dense, row-major, where that takes fewer bytes.

    Parameters
    ----------
    indptr : ndarray of int64, shape (m + 1,)
    indices : ndarray of integers, shape (nnz,)
        Columns from 0, ascending within a row.
    values : ndarray of float64, shape (nnz,), or None
        None where all are one.
    n_features : int
        d.
    significant_digits : int
        The most digits of any value that a float32 does not hold exactly.
    dtype : {'float64'}, optional
        Keep double although single precision would do. Ones are exact in both and stay
        implicit.

    Returns
    -------
    indptr, indices, values : ndarray or None
        As `Dataset` takes them.
    """
    if values is not None and bool(np.all(values == 1.0)):
        values = None
    narrow = np.uint16 if n_features <= _LARGEST_UINT16_WIDTH else np.int32
    single = dtype != "float64" and (values is None or _single_will_do(values, significant_digits))
    stored = np.dtype(np.float32 if single else np.float64)
    n_samples = len(indptr) - 1
    entry = np.dtype(narrow).itemsize + (0 if values is None else stored.itemsize)
    if n_samples * n_features * stored.itemsize < indptr.nbytes + len(indices) * entry:
        return None, None, _dense(indptr, indices, values, n_features, stored)
    return (
        np.asarray(indptr, dtype=np.int64),
        indices.astype(narrow, copy=False),
        None if values is None else values.astype(stored, copy=False),
    )


def _single_will_do(values: FloatArray, significant_digits: int) -> bool:
    tiny = np.finfo(np.float32).tiny
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        with np.errstate(over="ignore", under="ignore"):
            rounded = block.astype(np.float32)
        good = rounded == block
        if significant_digits <= FLOAT32_DIGITS:
            good |= np.isfinite(rounded) & (np.abs(rounded) >= tiny)
        if not good.all():
            return False
    return True


def _dense(
    indptr: Array,
    indices: Array,
    values: Array | None,
    n_features: int,
    dtype: np.dtype[np.generic],
) -> Array:
    n_samples = len(indptr) - 1
    out = np.zeros((n_samples, n_features), dtype=dtype)
    rows = np.repeat(np.arange(n_samples), np.diff(indptr))
    out[rows, indices] = 1.0 if values is None else values
    return out
