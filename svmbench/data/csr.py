"""The rows of a data set as a scipy matrix, for solvers that compute with NumPy and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmbench.data.dataset import Dataset


def csr(data: Dataset, dtype: Any = None) -> Any:
    """The rows as a ``scipy.sparse.csr_matrix`` of shape (m, d).

    The matrix shares what scipy can use as it is stored: the values if they have the wanted type,
    and column numbers of 32 bits. Shared arrays are read-only. Column numbers of 16 bits are
    converted, values that are all one are written out, and for dense rows column numbers are made.
    """
    shape = data.n_samples, data.n_features
    narrow = np.int32 if data.nnz < 1 << 31 else np.int64
    if data.indices is None or data.indptr is None:
        assert data.values is not None
        values = data.values.reshape(-1)
        indices = np.tile(np.arange(shape[1], dtype=narrow), shape[0])
        indptr = np.arange(shape[0] + 1, dtype=narrow) * shape[1]
    else:
        values = np.ones(data.nnz, dtype or np.float32) if data.values is None else data.values
        indices = data.indices.astype(narrow, copy=False)
        indptr = data.indptr.astype(narrow, copy=False)
    if dtype is not None:
        values = values.astype(dtype, copy=False)
    # Loading it takes longer than many runs, and few of them need it.
    import scipy.sparse  # type: ignore[import-untyped]

    rows = scipy.sparse.csr_matrix((values, indices, indptr), shape, copy=False)
    # The columns ascend in each row; scipy would otherwise find out by a pass over the rows.
    rows.has_sorted_indices = rows.has_canonical_format = True
    return rows
