"""Rows to train on, with the labels that their text gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from svmbench.data import libsvm
from svmbench.data.dataset import Array, Dataset
from svmbench.data.storage import Precision
from svmbench.errors import DataError

#: Largest label: LIBLINEAR's are C's ints.
LARGEST_LABEL = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows and their labels.

    Parameters
    ----------
    rows : Dataset
        Its own labels mean nothing; `against_rest` sets them.
    labels : ndarray of int64, shape (m,)
    """

    rows: Dataset
    labels: Array

    @property
    def classes(self) -> tuple[int, ...]:
        """The distinct labels, the largest first."""
        return tuple(int(label) for label in np.unique(self.labels)[::-1])

    def against_rest(self, label: int) -> Dataset:
        """The rows with one class as +1 and all others as -1."""
        return replace(self.rows, labels=np.where(self.labels == label, 1, -1).astype(np.int8))


def read_examples(
    path: Path, *, n_features: int | None = None, dtype: Precision | None = None
) -> Examples:
    """Read a file of LIBSVM text.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    n_features : int, optional
        Least number of features.
    dtype : {'float64'}, optional
        Keep double precision even if single would do.

    Raises
    ------
    DataError
        When the file cannot be read, is not LIBSVM text, or its labels are no whole numbers
        or too large.
    """
    text = libsvm.parse_libsvm(path, dtype=dtype)
    labels = np.asarray(text.labels, dtype=np.float64)
    broken = labels[labels != np.rint(labels)]
    if len(broken):
        raise DataError(
            f"{path}: label {broken[0]:g}: classes are whole numbers; is this a regression set?"
        )
    large = labels[np.abs(labels) > LARGEST_LABEL]
    if len(large):
        raise DataError(
            f"{path}: label {large[0]:g}: classes are whole numbers up to {LARGEST_LABEL}"
        )
    rows = libsvm.to_dataset(
        text,
        name=libsvm.plain_name(path),
        n_features=max(text.max_index, n_features or 0),
        positive=(),
        dtype=dtype,
    )
    return Examples(rows, labels.astype(np.int64))
