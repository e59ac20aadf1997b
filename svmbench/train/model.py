"""A trained model: weights per class, and prediction from rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.liblinear_model import LiblinearModel


class Model(LiblinearModel):
    """A model that predicts."""

    @property
    def n_features(self) -> int:
        """Number of features, d, without the constant one."""
        return int(self.weights.shape[1])

    def decision_values(self, rows: Dataset) -> FloatArray:
        """Decision values of rows, shape (m, k); features beyond d count nothing.

        Entries are added in the order of their columns and the bias last, as LIBLINEAR does, so
        that its predictions from the same numbers are the same.
        """
        matrix = as_matrix(rows)[:, : self.n_features]
        known = self.weights[:, : matrix.shape[1]]
        return np.asarray(matrix @ known.T) + self.biases

    def classes_of(self, values: FloatArray) -> Array:
        """The labels that belong to decision values, shape (m,).

        Of two classes the first if its value is positive, of more that of the largest value.
        """
        if len(self.labels) == 2:  # LIBLINEAR's -s 4 has two columns, and uses the first
            chosen = np.where(values[:, 0] > 0.0, 0, 1)
        else:
            chosen = np.argmax(values, axis=1)
        found: Array = np.array(self.labels)[chosen]
        return found


def as_matrix(rows: Dataset) -> scipy.sparse.csr_matrix:
    """Rows as SciPy's sparse matrix in double precision."""
    shape = (rows.n_samples, rows.n_features)
    if rows.indices is None:
        assert rows.values is not None
        return scipy.sparse.csr_matrix(rows.values.astype(np.float64))
    values = np.ones(rows.nnz) if rows.values is None else rows.values.astype(np.float64)
    return scipy.sparse.csr_matrix((values, rows.indices.astype(np.int32), rows.indptr), shape)
