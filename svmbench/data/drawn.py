"""Distinct columns drawn for many sparse rows at once, and rows divided by their norms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmbench.data.dataset import Array, FloatArray


def smallest(rng: np.random.Generator, lengths: Array, weights: FloatArray) -> Array:
    """Columns drawn without replacement, all rows at once.

    The columns of the n smallest of exponential variables divided by the weights are the
    first n of successive draws (Efraimidis and Spirakis, Information Processing Letters
    97, 2006).
    """
    d = weights.shape[-1]
    order = np.argsort(rng.standard_exponential((len(lengths), d)) / weights, axis=1)
    taken = np.zeros(order.shape, dtype=np.bool_)
    np.put_along_axis(taken, order, np.arange(d) < lengths[:, np.newaxis], axis=1)
    return np.nonzero(taken)[1]


def drawn(lengths: Array, d: int, draw: Callable[[Array], Array]) -> Array:
    """As `smallest`, by redrawing columns that a row has already; for very sparse rows.

    ``draw`` draws a column for each of the rows it is given. No more columns are drawn at once
    than are missing, so every new column is kept: a row's columns have the same law as if they
    were drawn one by one.
    """
    missing = lengths.copy()
    open_keys = np.zeros(0, dtype=np.int64)  # row * d + column, of rows not full yet
    full_keys = []
    while missing.any():
        rows = np.repeat(np.arange(len(lengths)), missing)
        keys = np.sort(rows * d + draw(rows))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        at = np.searchsorted(open_keys, keys)
        if len(open_keys):
            new = open_keys[np.minimum(at, len(open_keys) - 1)] != keys
            keys, at = keys[new], at[new]
        missing -= np.bincount(keys // d, minlength=len(lengths))
        open_keys = np.insert(open_keys, at, keys)
        still_open = missing[open_keys // d] > 0
        full_keys.append(open_keys[~still_open])
        open_keys = open_keys[still_open]
    return np.sort(np.concatenate(full_keys)) % d


def unit_rows(values: FloatArray, starts: Array | None) -> FloatArray:
    """Rows divided by their norms: dense ones, or sparse ones that begin at ``starts``."""
    if starts is None:
        norms: FloatArray = np.sqrt(np.square(values).sum(axis=1, keepdims=True))
    else:
        norms = np.sqrt(np.add.reduceat(np.square(values), starts[:-1]))
        norms = np.repeat(norms, np.diff(starts))
    divided: FloatArray = values / norms
    return divided
