"""Models in LIBLINEAR's text format: its ``predict`` reads ours, and ours reads its own.

`svmbench.data.liblinear_model` describes the format and reads it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.data.liblinear_model import read_liblinear
from svmbench.durable import replacing
from svmbench.train.model import Model

#: Weights that are turned into text at a time.
_AT_A_TIME = 1 << 16


def write_model(path: Path, model: Model) -> str:
    """Write a model; the file is the old one or the whole new one.

    Returns
    -------
    str
        The SHA-256 of what was written.

    Raises
    ------
    UnwritableError
        When the file cannot be written.
    """
    rows = model.weights.T
    if model.constant >= 0.0:
        # The weight of a feature that is always 0 is 0.
        weights = model.biases / model.constant if model.constant else np.zeros_like(model.biases)
        rows = np.vstack([rows, weights])
    header = [
        f"solver_type {model.solver_type}",
        f"nr_class {len(model.labels)}",
        "label " + " ".join(str(label) for label in model.labels),
        f"nr_feature {model.n_features}",
        f"bias {model.constant:.17g}",
        "w",
    ]
    written, step = hashlib.sha256(), max(1, _AT_A_TIME // rows.shape[1])
    with replacing(path, "wb") as file:
        for first in range(-step, len(rows), step):
            part = header if first < 0 else [_line(row) for row in rows[first : first + step]]
            text = ("\n".join(part) + "\n").encode("ascii")
            written.update(text)
            file.write(text)
    return written.hexdigest()


def _line(row: FloatArray) -> str:
    """Weights as text; LIBLINEAR ends each line with a blank."""
    return "".join(f"{weight!r} " for weight in row.tolist())


def read_model(path: Path) -> Model:
    """Read a model.

    Raises
    ------
    DataError
        When the file cannot be read, is no such model, or is cut short.
    """
    return Model(**vars(read_liblinear(path)))
