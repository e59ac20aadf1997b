"""Models that `svmbench train` has written, for Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp  # type: ignore[import-untyped]

from svmbench.data.in_memory import as_dataset
from svmbench.data.liblinear_model import LiblinearModel, classes_of, read_liblinear
from svmbench.data.tables import Encoding, encoded
from svmbench.durable import resolved
from svmbench.errors import DataError
from svmbench.train.files import certificate_of, encoding_in


@dataclass(frozen=True)
class LoadedModel:
    """A model of ``svmbench train``, or of LIBLINEAR.

    Attributes
    ----------
    classes : list
        Whole numbers, or the texts of a table's column, in the order of the decision values.
    certificate : dict
        What the model's JSON says of its training; empty without one.
    """

    classes: list[object]
    certificate: dict[str, Any] = field(repr=False)
    _model: LiblinearModel = field(repr=False)
    _encoding: Encoding | None = field(repr=False)

    def decision_function(self, X: Any) -> Any:
        """The decision values of rows.

        Parameters
        ----------
        X : frame, array or sparse matrix, shape (m, d)
            A pandas or polars frame with the columns of the table that the model was trained on, in
            any order; else numbers, a column for each feature.

        Returns
        -------
        ndarray, shape (m,) for two classes, (m, k) for k
            Of two classes, the first is the one with positive values.

        Raises
        ------
        DataError
            When columns are missing or not as the model knows them, or values are not finite.
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """The classes of rows, shape (m,); ``X`` and errors as in `decision_function`."""
        labels = self._model.labels
        places = classes_of(tuple(range(len(labels))), self._values(X))
        return np.array(self.classes)[places]

    def _values(self, X: Any) -> Any:
        if hasattr(X, "to_pandas"):
            X = X.to_pandas()
        if self._encoding is not None and hasattr(X, "columns"):
            X = encoded(X, self._encoding)
        if sp.issparse(X):
            rows = X.tocsr().astype(np.float64)
        else:
            rows = np.ascontiguousarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._model.n_features:
            wanted = self._model.n_features
            raise DataError(f"X has the shape {rows.shape}; the model has {wanted} features")
        values = self._model.decision_values(as_dataset(rows))
        if not np.isfinite(values).all():
            raise DataError("X has values that are not finite, or too large for the model")
        return values


def load_model(path: str | Path) -> LoadedModel:
    """A model file, with the JSON beside it if there is one.

    Raises
    ------
    DataError
        When the file is missing, is no model, or the JSON is that of another model.
    """
    path = Path(path)
    model = read_liblinear(path)
    # svmbench train follows a link: its certificate is beside what the link leads to.
    beside = [certificate_of(each) for each in dict.fromkeys((path, resolved(path)))]
    facts, another = next((each for each in beside if each[0]), beside[0])
    if another:
        raise DataError(f"{path}: its JSON is the certificate of another model; train it again")
    encoding = encoding_in(facts) if facts else None
    names = {} if encoding is None else encoding.names
    return LoadedModel([names.get(each, each) for each in model.labels], facts, model, encoding)
