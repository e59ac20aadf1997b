"""Models in LIBLINEAR's text format: its ``predict`` reads ours, and ours reads its own.

The format is that of LIBLINEAR's ``save_model``: a header of ``key value`` lines that ends with
``w``, then a line of weights per feature, with one weight per class (one in all for two classes).
With a constant feature, its weights are the last line.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from codecs import BOM_UTF8
from contextlib import suppress
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.durable import replacing
from svmbench.errors import DataError, is_endless
from svmbench.kernels.normal import decision_values

#: Its kinds of classification, whose prediction is the sign or the largest decision value.
CLASSIFIERS = (
    "L2R_LR", "L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL", "MCSVM_CS",
    "L1R_L2LOSS_SVC", "L1R_LR", "L2R_LR_DUAL",
)  # fmt: skip

#: Largest label: LIBLINEAR's are C's ints.
LARGEST_LABEL = 2**31 - 1

#: Header lines and their number of values; None for one per class.
_KEYS = {"solver_type": 1, "nr_class": 1, "label": None, "nr_feature": 1, "bias": 1}

#: These lines, in any order, and that of ``w``.
_HEADER_LINES = len(_KEYS) + 1

#: Weights that are turned into text at a time.
_AT_A_TIME = 1 << 16


@dataclass(frozen=True, eq=False)
class LiblinearModel:
    """The content of a model file: one class against the other, or each against the rest."""

    solver_type: str  # LIBLINEAR's name of the problem that was solved
    # the classes. Of two, the first is the one with positive decision values.
    labels: tuple[int, ...]
    weights: FloatArray  # (shape (k, d)) k is 1 for two classes, else their number
    biases: FloatArray  # (shape (k,)) b, added to the decision values
    # value of the constant feature whose weight is the bias; -1 if there is none
    constant: float = -1.0

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[1])

    def decision_values(self, rows: Dataset) -> FloatArray:
        """Decision values of rows, shape (m, k); features beyond d count nothing.

        Entries are added in the order of their columns and the bias last, as LIBLINEAR does, so
        that its predictions from the same numbers are the same. A sum that leaves double precision
        is inf or nan.
        """
        weights = np.ascontiguousarray(self.weights.T)
        with np.errstate(over="ignore", invalid="ignore"):
            found: FloatArray = decision_values(rows.rows, weights) + self.biases
        return found

    def of_columns_times(self, sizes: FloatArray) -> LiblinearModel:
        """The same model for rows whose columns are as many times larger, shape (d,)."""
        with np.errstate(over="ignore"):
            weights = self.weights / sizes
        beyond = np.flatnonzero(~np.isfinite(weights).all(axis=0))
        if len(beyond):
            raise DataError(
                f"column {beyond[0] + 1}: its weight leaves double precision; its values are tiny: "
                "multiply them"
            )
        return replace(self, weights=weights)

    def classes_of(self, values: FloatArray) -> Array:
        """The labels of decision values: of two the first if positive, else that of the largest."""
        return classes_of(self.labels, values)


def classes_of(labels: tuple[int, ...], values: FloatArray) -> Array:
    """`LiblinearModel.classes_of`, for a model of these classes."""
    # LIBLINEAR's -s 4 has two columns for two classes, and uses the first.
    chosen = np.where(values[:, 0] > 0.0, 0, 1) if len(labels) == 2 else np.argmax(values, axis=1)
    found: Array = np.array(labels)[chosen]
    return found


def write_liblinear(path: Path, model: LiblinearModel) -> str:
    """Write a model; the file is the old one or the whole new one."""
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
            if first < 0:
                text = ("\n".join(header) + "\n").encode("ascii")
            else:
                lines = (" ".join(map(repr, row)) for row in rows[first : first + step].tolist())
                text = "".join(f"{line} \n" for line in lines).encode("ascii")
            written.update(text)
            file.write(text)
    return written.hexdigest()


def read_liblinear(path: Path) -> LiblinearModel:
    """Read a model."""
    if is_endless(path):
        raise DataError(f"{path}: a pipe or a device; copy its content into a file")
    try:
        content = path.read_bytes()
        if content.startswith(BOM_UTF8):
            raise DataError(f"{path}: a byte order mark before the model; save it without")
        text = content.decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"{path}: no such model; check the path") from None
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise DataError(f"{path}: cannot be read as a model: {reason}") from None
    *lines, body = [*text.split("\n", _HEADER_LINES), ""][: _HEADER_LINES + 1]
    if not (lines[-1] or body):  # behind the last line end
        lines.pop()
    header = _header(path, lines)
    labels = tuple(_whole(path, 3, label) for label in header["label"])
    if not -LARGEST_LABEL - 1 <= min(labels) <= max(labels) <= LARGEST_LABEL:
        raise DataError(f"{path}:3: a label beyond {LARGEST_LABEL}; the file is damaged")
    if len(set(labels)) < len(labels):
        raise DataError(f"{path}:3: two classes have the same label; the file is damaged")
    kind, constant = header["solver_type"][0], _number(path, 5, header["bias"][0])
    d = _whole(path, 4, header["nr_feature"][0])
    if d < 0:
        raise DataError(f"{path}: nr_feature {d} is negative; the file is damaged")
    k = 1 if len(labels) == 2 and kind != "MCSVM_CS" else len(labels)
    wanted = d + (constant >= 0.0)
    if not text.endswith("\n"):  # the digits of the last weight may be cut
        raise DataError(f"{path}: the last line has no line end; the file is cut short")
    weights = _weights(path, body, k)
    if len(weights) != wanted:
        raise DataError(
            f"{path}: {len(weights)} lines of weights, not {wanted}; the file is damaged"
        )
    with np.errstate(over="ignore"):
        biases = constant * weights[d] if constant >= 0.0 else np.zeros(k)
    if not np.isfinite(biases).all():
        raise DataError(f"{path}: bias {constant:g} times its weight leaves double precision")
    return LiblinearModel(kind, labels, np.ascontiguousarray(weights[:d].T), biases, constant)


def _header(path: Path, lines: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        key, *values = line.split() or [""]
        if key == "w":
            missing = [each for each in _KEYS if each not in found]
            if missing:
                raise DataError(f"{path}: no {missing[0]} before the weights; is this a model?")
            classes = _whole(path, 2, found["nr_class"][0])
            if classes == 1:
                raise DataError(f"{path}: a model of one class; two are needed to predict")
            if classes != len(found["label"]) or classes < 2:
                raise DataError(f"{path}: {len(found['label'])} labels of {classes} classes")
            return found
        if key not in _KEYS or (_KEYS[key] is not None and len(values) != _KEYS[key]):
            raise DataError(
                f"{path}:{number}: {line[:60]!r} is no line of a LIBLINEAR model; name the model"
                " first, then the data"
            )
        if key in found:
            raise DataError(f"{path}:{number}: a second line of {key}; the file is damaged")
        if key == "solver_type" and values[0] not in CLASSIFIERS:  # others have no line of labels
            raise DataError(
                f"{path}: solver_type {values[0][:60]} is no classifier of LIBLINEAR's; train with"
                " -s 0 to 7"
            )
        found[key] = values
    raise DataError(f"{path}: no weights; is this a model?")


def _whole(path: Path, line: int, text: str) -> int:
    try:
        return int(plain(text))
    except ValueError:
        raise DataError(f"{path}:{line}: {text[:60]!r} is no whole number") from None


def _weights(path: Path, text: str, k: int) -> FloatArray:
    """Lines of k weights as an array."""
    with warnings.catch_warnings(action="ignore", category=UserWarning), suppress(ValueError):
        found = np.loadtxt(StringIO(text), ndmin=2, comments=None)  # warns where there is no line
        found = found if found.size else found.reshape(0, k)
        if found.shape[1] == k and np.isfinite(found).all():
            return np.asarray(found)
    for number, line in enumerate(
        text.split("\n"), _HEADER_LINES + 1
    ):  # one by one, to say what is wrong
        words = line.split()
        if words and len(words) != k:
            raise DataError(f"{path}:{number}: {len(words)} weights, not {k}; the file is damaged")
        for word in words:
            _number(path, number, word)
    raise DataError(f"{path}: its weights are damaged")


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(plain(text))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{path}:{line}: {text[:60]!r} is no finite number")
    return value


def plain(text: str) -> str:
    """A number as it stands in a model; Python reads underscores between digits, too."""
    if "_" in text:
        raise ValueError(f"{text[:60]!r} is no number")
    return text
