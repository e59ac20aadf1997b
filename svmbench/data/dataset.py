"""A data set in memory: immutable compact rows, labels and their provenance."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from svmbench.kernels.rows import CompactRows

# As NumPy's NDArray is defined, whose module is slow to load.
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Provenance:
    """The origin of a data set's rows.

    Parameters
    ----------
    source : str
        File name or generator.
    sha256 : str
        Of the uncompressed text (or, for generated rows, of the generator's settings).
    transforms : tuple of str
        Transforms of the rows since, in order.
    stand_in : bool
        Whether the rows are synthetic and only imitate the shape of the named set.
    read_as : str
        Hash of what the set's description says of labels and columns; empty if nothing.
    """

    source: str
    sha256: str
    transforms: tuple[str, ...] = ()
    stand_in: bool = False
    read_as: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Immutable rows in their smallest form, and their labels.

    Parameters
    ----------
    name : str
        Catalogue name, with ``.t`` appended for a test set.
    n_features : int
        d; as the catalogue states, if it does: the last features may be absent from a file.
    indptr : ndarray of int64, shape (m + 1,), or None
        Row starts; None for dense rows.
    indices : ndarray of uint16 or int32, shape (nnz,), or None
        Columns from 0, ascending in each row; None for dense rows.
    values : ndarray of float32 or float64, or None
        Shape (nnz,), or (m, d) for dense rows; None where every stored value is one.
    labels : ndarray of int8, shape (m,)
        -1 or +1.
    provenance : Provenance
    """

    name: str
    n_features: int
    indptr: Array | None
    indices: Array | None
    values: Array | None
    labels: Array
    provenance: Provenance = field(default_factory=lambda: Provenance("memory", ""))

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.values, self.labels):
            if array is not None:
                array.setflags(write=False)

    @property
    def n_samples(self) -> int:
        """Number of rows, m."""
        return len(self.labels)

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        if self.indices is not None:
            return len(self.indices)
        assert self.values is not None
        return int(self.values.size)

    @property
    def nbytes(self) -> int:
        """Bytes of all stored arrays."""
        arrays = (self.indptr, self.indices, self.values, self.labels)
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def mapped_bytes(self) -> int:
        """Bytes of the arrays that lie in files mapped into memory."""
        arrays = (self.indptr, self.indices, self.values, self.labels)
        return sum(a.nbytes for a in arrays if a is not None and mapping_of(a) is not None)

    @cached_property
    def rows(self) -> CompactRows:
        """The rows as the kernels read them."""
        return CompactRows(self.n_features, self.indptr, self.indices, self.values, self.labels)

    def relabelled(self, labels: Array) -> Dataset:
        """The same rows with other labels, int8 of shape (m,); kernels do not check them again."""
        other = replace(self, labels=labels)
        other.__dict__["rows"] = CompactRows(
            self.n_features, self.indptr, self.indices, self.values, labels, self.rows
        )
        return other

    def between(self, begin: int, end: int) -> Dataset:
        """Rows ``begin`` to ``end - 1``; no entry is copied, and kernels check none again."""
        rows = self.rows.between(begin, end)
        other = replace(
            self,
            indptr=rows.indptr,
            indices=rows.indices,
            values=rows.values,
            labels=rows.labels,
        )
        other.__dict__["rows"] = rows
        return other

    @property
    def storage(self) -> str:
        """Format of the stored entries, such as ``uint16+ones`` or ``dense float32``."""
        values = "ones" if self.values is None else self.values.dtype.name
        return f"dense {values}" if self.indices is None else f"{self.indices.dtype.name}+{values}"

    @property
    def summary(self) -> str:
        """The name, the numbers of rows, features and stored entries, and their format."""
        return (
            f"{self.name}: {self.n_samples:,} rows, {self.n_features:,} features, "
            f"{self.nnz:,} entries stored as {self.storage}"
        )

    @cached_property
    def identity(self) -> str:
        """Hash that identifies these stored rows."""
        origin = asdict(self.provenance)
        if not self.provenance.read_as:
            del origin["read_as"]
        facts = [origin, self.name, self.n_samples, self.n_features, self.storage]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def touch(self) -> None:
        """Read every stored array once, so that timing starts with warm memory."""
        for array in (self.indptr, self.indices, self.values, self.labels):
            if array is not None and array.size:
                np.add.reduce(array.reshape(-1).view(np.uint8)[::64], dtype=np.uint64)


def mapping_of(array: Any) -> mmap.mmap | None:
    """The file, mapped into memory, in which an array lies; None if it is in memory."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array


#: How the source of a stand-in begins; its settings follow.
STAND_IN = "stand-in "


def scale_in(source: str) -> float:
    """Scale of a stand-in by the source that its rows name; nan if it does not tell."""
    try:
        return float(json.loads(source.removeprefix(STAND_IN))["scale"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return math.nan


def scale_text(scale: float) -> str:
    """The scale of a stand-in as pages and plans print it; "unknown" if it is nan."""
    return "unknown" if math.isnan(scale) else f"{scale:.4g}"
