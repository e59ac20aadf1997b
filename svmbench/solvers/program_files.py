"""Files of programs: the rows that they read, and the models that they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from svmbench.data.archive import DAMAGED, unpacked
from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.liblinear_model import plain, read_liblinear
from svmbench.errors import DataError, unopened

AffineFunction = tuple[FloatArray, float]
"""Weights for the class +1, shape (d,), and the bias."""

#: Entries that are turned into text at a time.
_AT_A_TIME = 1 << 18

#: Bytes that a model may have for each weight, and for everything else.
_PER_WEIGHT, _BESIDE = 64, 1 << 16


def write_rows(path: Path, data: Dataset, form: str) -> None:
    """Write rows as ``+1 3:0.5``, or ``1 | 3:0.5``; features count from 1, and zeros are left out.

    In the first form, the first row ends with a zero of feature d if no row has that feature.
    """
    signs = {1: "1 |", -1: "-1 |"} if form == "vw" else {1: "+1", -1: "-1"}
    step = max(1, _AT_A_TIME * data.n_samples // max(1, data.nnz))
    with path.open("w", encoding="ascii") as file:
        for first in range(0, data.n_samples, step):
            rows = [
                " ".join([signs[int(data.labels[i])], *_entries(data, i)])
                for i in range(first, min(first + step, data.n_samples))
            ]
            if first == 0 and form == "libsvm" and not _has_last(data):
                rows[0] += f" {data.n_features}:0"
            file.write("\n".join(rows) + "\n")


def _entries(data: Dataset, i: int) -> list[str]:
    """The entries of row i as ``feature:value``."""
    if data.indptr is None or data.indices is None:
        assert data.values is not None
        columns = np.flatnonzero(data.values[i])
        values = data.values[i][columns].tolist()
    else:
        begin, end = int(data.indptr[i]), int(data.indptr[i + 1])
        columns = data.indices[begin:end]
        if data.values is None:
            return [f"{column + 1}:1" for column in columns.tolist()]
        values = data.values[begin:end].tolist()
    pairs = zip(columns.tolist(), values, strict=True)
    return [f"{column + 1}:{value!r}" for column, value in pairs if value]


def _has_last(data: Dataset) -> bool:
    last = data.n_features - 1
    if data.indices is None:
        assert data.values is not None
        return bool(data.values[:, last].any())
    at = data.indices == last
    return bool(at.any() if data.values is None else data.values[at].any())


def read_weights(path: Path, form: str, n_features: int) -> AffineFunction:
    """Read a model in one of the formats of `_READERS`.

    Raises DataError if there is no such file, or it is no such model of d features.
    """
    if not path.is_file():
        raise DataError("the program wrote no model; does its command contain {model}?")
    size = path.stat().st_size
    if size > _room(n_features):
        raise DataError(f"the model has {size} bytes, too many for {n_features} features")
    try:
        return _READERS[form](path, n_features)
    except DataError as error:
        said = str(error).replace(f"{path}:", "").strip()
        raise DataError(f"the model is not one of {n_features} features: {said}") from None
    except DAMAGED as error:
        if unopened(error, path):  # the system is at fault, and not the program
            raise
        said = " ".join(str(error).split())[:200]
        raise DataError(f"the model cannot be read as {form}: {said}") from None


def _room(n_features: int) -> int:
    """Bytes that a model may have, also when it is unpacked."""
    return _BESIDE + _PER_WEIGHT * (n_features + 1)


def _of_liblinear(path: Path, n_features: int) -> AffineFunction:
    model = read_liblinear(path)
    if len(model.weights) != 1 or set(model.labels) != {1, -1}:
        raise DataError(f"it separates the classes {', '.join(map(str, model.labels))}")
    sign = float(model.labels[0])
    return _padded(sign * model.weights[0], n_features), sign * float(model.biases[0])


def _of_text(path: Path, n_features: int) -> AffineFunction:
    numbers = [float(plain(line)) for line in path.read_text(encoding="ascii").splitlines()]
    if len(numbers) not in (n_features, n_features + 1):
        raise DataError(f"it has {len(numbers)} lines")
    bias = numbers[n_features] if len(numbers) > n_features else 0.0
    return np.array(numbers[:n_features]), bias


def _of_vw(path: Path, n_features: int) -> AffineFunction:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if ":0" not in lines:
        raise DataError("it is not written by --predict_only_model --readable_model")
    header = dict(line.split(":", 1) for line in lines[: lines.index(":0")] if ":" in line)
    bits = int(header.get("bits", "0"))
    if bits < n_features.bit_length():
        raise DataError(f"it hashes features to {bits} bits; more are needed (--bit_precision)")
    w = np.zeros(n_features)
    for line in filter(str.strip, lines[lines.index(":0") + 1 :]):
        feature, value = line.split()[0].split(":")[:2]
        at = int(feature) - 1
        if not 0 <= at < n_features:
            raise DataError(f"it has a weight of feature {at + 1}; train with --noconstant")
        w[at] = float(plain(value))
    return w, 0.0


def _of_npz(path: Path, n_features: int) -> AffineFunction:
    arrays = unpacked(path, _room(n_features), of_others=True)
    w, bias = _real("w", arrays["w"]), _real("b", arrays.get("b", np.zeros(1)))
    if w.size != n_features:
        raise DataError(f"its w has {w.size} numbers")
    if bias.size != 1:
        raise DataError(f"its b has {bias.size} numbers")
    return w, float(bias[0])


def _real(name: str, array: Array) -> FloatArray:
    """The numbers of an array one after another; inf stands for what is too large for a double."""
    if array.dtype.kind not in "biuf":
        raise DataError(f"its {name} has numbers of type {array.dtype}")
    with np.errstate(over="ignore"):
        return array.reshape(-1).astype(np.float64)


def _padded(w: FloatArray, n_features: int) -> FloatArray:
    if w.size > n_features:
        raise DataError(f"it has {w.size} weights")
    return np.concatenate([w, np.zeros(n_features - w.size)])


_READERS: dict[str, Callable[[Path, int], AffineFunction]] = {
    "liblinear": _of_liblinear,
    "vw": _of_vw,
    "text": _of_text,
    "npz": _of_npz,
}
