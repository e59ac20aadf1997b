"""Rows and texts to measure on: texts on the disk, rows of a given size."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from svmbench.bench.profile import Growth
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.cache import cache_dir, entry_path, open_cached, store
from svmbench.data.catalogue import Entry, resolve
from svmbench.data.dataset import Array, Dataset, Provenance
from svmbench.data.fetch import find
from svmbench.data.load import Loaded
from svmbench.data.storage import column_type
from svmbench.data.text_files import feed_text
from svmbench.data.transforms import Derived
from svmbench.durable import remove_abandoned, replacing
from svmbench.harness.environment import machine

#: Rows that are written to a text, or generated, at a time.
_BLOCK = 1 << 14

#: Bytes of caches if the system does not report them.
_CACHES = {"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def caches() -> dict[str, int]:
    """Bytes of the caches that hold data, by level."""
    found: dict[str, int] = {}
    for name, size in machine()["caches"].items():
        level, _, kind = name.partition(" ")
        if kind in ("data", "unified") and size[-1] in _UNITS:
            found[level] = int(float(size[:-1]) * _UNITS[size[-1]])
    return dict(sorted(found.items())) or _CACHES


def last_cache() -> int:
    """Bytes of the largest cache."""
    return max(caches().values())


# ---------------------------------------------------------------- texts


def plain_text(dataset: DatasetSpec, rows: Loaded, real: bool) -> tuple[Path, Entry]:
    """An uncompressed text of a data set, and its facts from the catalogue.

    The set's own file if there is one; else its stored rows, written with six digits.
    """
    origin = dataset.source
    entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    own = real and entry.format == "libsvm" and not dataset.chain
    found = find(entry.train) if own else None
    if found is not None and found.name == entry.train.file:
        return found, entry
    folder = cache_dir() / "bench" / rows.train_path.name
    path = folder / entry.train.file
    if not path.exists():
        remove_abandoned(folder, ".*.tmp")
        with replacing(path, "wb") as file:
            if found is not None:
                feed_text(found, file.write)
            else:
                for start in range(0, rows.train.n_samples, _BLOCK):
                    file.write(_lines(rows.train, start, start + _BLOCK))
    return path, entry


def _lines(data: Dataset, start: int, stop: int) -> bytes:
    """Rows as LIBSVM text."""
    labels = data.labels[start:stop]
    lines = []
    for k, label in enumerate(labels, start):
        if data.indices is None or data.indptr is None:
            assert data.values is not None
            row = enumerate(data.values[k].tolist(), 1)
        else:
            part = slice(data.indptr[k], data.indptr[k + 1])
            columns = (data.indices[part].astype(np.int64) + 1).tolist()
            if data.values is None:
                lines.append(f"{label:+d} " + " ".join(f"{j}:1" for j in columns))
                continue
            row = zip(columns, data.values[part].tolist(), strict=True)  # type: ignore[assignment]
        lines.append(f"{label:+d} " + " ".join(f"{j}:{x:.6g}" for j, x in row))
    return ("\n".join(lines) + "\n").encode()


# ---------------------------------------------------------------- rows of a size


def sizes(growth: Growth) -> list[tuple[int, int]]:
    """Rows and columns of each point: growing m at the first d, then growing d at the first m."""
    last, first = last_cache(), growth.d[0]
    rows = [max(64, round(share * last / _row_bytes(growth, first))) for share in growth.caches]
    return [*((m, first) for m in rows), *((rows[0], d) for d in growth.d[1:])]


def _row_bytes(growth: Growth, d: int) -> int:
    """Bytes of a stored row: float32 values and its label; if sparse, columns and its start."""
    width = growth.width(d)
    return 4 * width + 1 if growth.dense else (4 + column_type(d).itemsize) * width + 9


def rows_path(growth: Growth, m: int, d: int) -> Path:
    """The place of rows of that size in the cache."""
    return entry_path(f"bench-{growth.name}-{m}x{d}")


def made_rows(growth: Growth, m: int, d: int) -> Path:
    """The place of rows of that size in the cache; they are generated unless they are there."""
    path = rows_path(growth, m, d)
    if open_cached(path) is None:
        store(_made(growth, m, d), path.name)
    return path


def drop_rows(growth: Growth, m: int, d: int) -> None:
    """Remove them from the cache."""
    shutil.rmtree(rows_path(growth, m, d), ignore_errors=True)


def _made(growth: Growth, m: int, d: int) -> Dataset:
    """Generate rows: normal values, columns in ascending order, labels by a plane with noise."""
    rng = np.random.default_rng(m + d)
    dense, width = growth.dense, growth.width(d)
    values = np.empty((m, width), dtype=np.float32)
    columns: Array | None = None if dense else np.empty((m, width), dtype=column_type(d))
    labels = np.empty(m, dtype=np.int8)
    plane = rng.standard_normal(d)
    for start in range(0, m, _BLOCK):
        part = slice(start, min(m, start + _BLOCK))
        count = part.stop - part.start
        values[part] = rng.standard_normal((count, width), dtype=np.float32)
        weights = plane
        if columns is not None:
            # Ascending by construction: gaps of at most d/width never leave the columns.
            gaps = rng.integers(1, max(2, d // width + 1), (count, width))
            columns[part] = np.cumsum(gaps, axis=1) - 1
            weights = plane[columns[part]]
        scores = np.einsum("ij,ij->i", values[part], np.broadcast_to(weights, (count, width)))
        noise = rng.standard_normal(count) * np.sqrt(width) / 2
        labels[part] = np.where(scores + noise > 0.0, 1, -1)
    source = f"bench {growth.name}"
    return Dataset(
        name=f"{growth.name}-{m}x{d}",
        n_features=d,
        indptr=None if dense else np.arange(m + 1, dtype=np.int64) * width,
        indices=None if columns is None else columns.reshape(-1),
        values=values if dense else values.reshape(-1),
        labels=labels,
        provenance=Provenance(source, f"{m}x{d}", stand_in=True),
    )
