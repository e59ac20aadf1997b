"""Memory-mapped cache of data sets: parsed once, opened at once, shared by all workers.

An entry is a folder of .npy files with a header.json that describes them. It is written under
a temporary name, synced and renamed, so that an entry is whole or absent. Opening checks the header
and its key, the sizes of the files, and that no index is out of bounds; `verify` checks all bytes,
and `require_sound` does so once. Two processes may write the same entry at once: both succeed, and
either result is as good.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import logging
import math
import os
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, Provenance
from svmbench.data.stamp import Stamp, stamps_in
from svmbench.durable import remove_abandoned, sync_folder
from svmbench.errors import DataError, unopened

SCHEMA_VERSION = 1
HEADER = "header.json"

_ARRAYS = ("indptr", "indices", "values", "labels")
_TEMPORARY = ".writing-"
_ATTEMPTS = 5

# What json and NumPy raise when a file is damaged; NumPy reads an array's header as Python
# source. A MemoryError is no damage, but `unopened` has to see it.
_DAMAGE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError, TokenError, EOFError),
    *(RecursionError, OverflowError, MemoryError),
)

#: Most characters of an array's header; Python's parser raises MemoryError for some long ones.
LONGEST_ARRAY_HEADER = 1000

#: Stamps of the files of entries that this process has found sound.
_sound: dict[Path, tuple[Stamp, ...]] = {}

_log = logging.getLogger(__name__)


def cache_dir() -> Path:
    """Folder of everything that can be rebuilt: SVMBENCH_CACHE, or the system's cache folder."""
    chosen = os.environ.get("SVMBENCH_CACHE")
    if chosen:
        return Path(chosen)
    return _of_system(os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))


@lru_cache(maxsize=1)
def _of_system(*_: str | None) -> Path:
    import platformdirs  # slow to load, and training needs no cache

    return Path(platformdirs.user_cache_path("svmbench"))


def entry_path(key: str) -> Path:
    return cache_dir() / "datasets" / key


def store(dataset: Dataset, key: str) -> Path:
    """Write a data set to the cache; the same key must always mean the same rows."""
    final = entry_path(key)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(final.parent, f"{_TEMPORARY}*")
        with _temporary_folder(final.parent) as folder:
            _write_entry(dataset, key, folder)
            _publish(folder, final)
    except OSError as error:
        raise DataError(
            f"{final}: cannot write the cache ({error.strerror});"
            " make room, or set SVMBENCH_CACHE to a folder that can be written"
        ) from error
    return final


def open_cached(path: Path) -> Dataset | None:
    """Open an entry, its arrays mapped and not read yet; None if it is absent or damaged."""
    if not path.is_dir():
        return None
    try:
        return _open_entry(path)
    except _DAMAGE as error:
        if refusal := unopened(error, path):
            raise refusal from error
        _log.warning(
            "%s: damaged cache entry (%s); it is rebuilt when needed", path, _reason(error)
        )
        return None


def verify(path: Path, key: str | None = None) -> None:
    """Check every file of an entry against the hash in its header."""
    remedy = "delete this folder; it is rebuilt when needed"
    try:
        header = _read_header(path)
        for name, facts in header["arrays"].items():
            found = _file_sha256(path / f"{name}.npy")
            if found != facts["sha256"]:
                raise DataError(
                    f"{path}: {name}.npy has sha256 {found}, not {facts['sha256']}; {remedy}"
                )
        _open_entry(path, key)
    except _DAMAGE as error:
        if refusal := unopened(error, path):
            raise refusal from error
        raise DataError(f"{path}: damaged cache entry ({_reason(error)}); {remedy}") from None


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def require_sound(path: Path) -> tuple[Stamp, ...]:
    """Check an entry as `verify` does, unless this process has and no file has changed."""
    found = stamps_in(path)
    if _sound.get(path) != found:
        verify(path)
        _sound[path] = found
    return found


def is_unchanged(path: Path, before: tuple[Stamp, ...]) -> bool:
    """Whether no file of an entry has been changed, replaced or removed since."""
    try:
        return stamps_in(path) == before
    except OSError:
        return False


def by_identity(most_features: int | None = None) -> dict[str, Path]:
    """The cache's entries by the identity of their rows; the newer of two equal ones."""
    paths = [path for path in (cache_dir() / "datasets").glob("[!.]*") if path.is_dir()]
    paths.sort(key=lambda path: path.stat().st_mtime)
    if most_features is not None:
        paths = [path for path in paths if _features(path) <= most_features]
    opened = ((path, open_cached(path)) for path in paths)
    return {data.identity: path for path, data in opened if data is not None}


def _features(path: Path) -> float:
    try:
        return float(_read_header(path)["n_features"])
    except _DAMAGE:
        return math.inf


def content_hash(key: str) -> str | None:
    """Hash of an entry's header, which states the hashes of all its arrays; None without one."""
    path = entry_path(key)
    if open_cached(path) is None:
        return None
    return _header_sha256(_read_header(path))


def packed(key: str) -> dict[str, bytes]:
    """The files of an entry, by name."""
    return {path.name: path.read_bytes() for path in entry_path(key).iterdir()}


def admit(files: dict[str, bytes], key: str, expected: str) -> None:
    """Check all bytes of an entry that another machine sent, and put it into the cache.

    Raises DataError if it is not what was to be moved, or the cache cannot be written.
    """
    final = entry_path(key)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_folder(final.parent) as folder:
            for name, content in files.items():
                with (folder / Path(name).name).open("wb") as stream:
                    stream.write(content)
                    _sync(stream)
            verify(folder, key)
            _publish(folder, final)
    except OSError as error:
        raise DataError(f"{final}: cannot write the cache ({error.strerror})") from error
    if content_hash(key) != expected:
        raise DataError(f"{final}: not the rows that were to be moved here")


def _write_entry(dataset: Dataset, key: str, folder: Path) -> None:
    stored = {name: getattr(dataset, name) for name in _ARRAYS}
    with ThreadPoolExecutor() as pool:
        written = {
            name: pool.submit(_write_array, array, folder / f"{name}.npy")
            for name, array in stored.items()
            if array is not None
        }
        arrays = {name: facts.result() for name, facts in written.items()}
    header = {
        "schema_version": SCHEMA_VERSION,
        "key": key,
        "name": dataset.name,
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "provenance": asdict(dataset.provenance),
        "arrays": arrays,
    }
    header["sha256"] = _header_sha256(header)
    with (folder / HEADER).open("w", encoding="utf-8") as stream:
        json.dump(header, stream, indent=2)
        _sync(stream)


def _write_array(array: Array, path: Path) -> dict[str, Any]:
    array = np.ascontiguousarray(array)
    start = io.BytesIO()
    np.lib.format.write_array_header_1_0(start, np.lib.format.header_data_from_array_1_0(array))
    parts = (start.getbuffer(), array.reshape(-1).view(np.uint8).data)
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for part in parts:
            digest.update(part)
            stream.write(part)
        _sync(stream)
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "bytes": path.stat().st_size,
        "sha256": digest.hexdigest(),
    }


def _open_entry(path: Path, key: str | None = None) -> Dataset:
    header = _read_header(path)
    # Entries of earlier versions do not name their key.
    if header.get("key", key or path.name) != (key or path.name):
        raise ValueError(f"it is the entry of {header['key']}")
    arrays: dict[str, Array | None] = dict.fromkeys(_ARRAYS)
    for name, facts in header["arrays"].items():
        arrays[name] = _map_array(path / f"{name}.npy", facts)
    labels = arrays.pop("labels")
    if labels is None:
        raise ValueError("it has no labels")
    provenance = header["provenance"]
    opened = Dataset(
        name=header["name"],
        n_features=header["n_features"],
        labels=labels,
        provenance=Provenance(**{**provenance, "transforms": tuple(provenance["transforms"])}),
        **arrays,
    )
    opened.rows  # noqa: B018 (checks every index that kernels will use)
    return opened


def _read_header(path: Path) -> dict[str, Any]:
    _require_file(path / HEADER)
    header = json.loads((path / HEADER).read_text(encoding="utf-8"))
    if not isinstance(header, dict) or header.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"its {HEADER} is not of version {SCHEMA_VERSION}")
    if header.pop("sha256", None) != _header_sha256(header):
        raise ValueError(f"its {HEADER} has been changed")
    return header


def _header_sha256(header: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode()).hexdigest()


def _map_array(path: Path, facts: dict[str, Any]) -> Array:
    size = path.stat().st_size
    if size != facts["bytes"]:
        raise ValueError(f"{path.name} has {size} bytes, not {facts['bytes']}")
    array = np.load(path, mmap_mode="r", allow_pickle=False, max_header_size=LONGEST_ARRAY_HEADER)
    if array.dtype.name != facts["dtype"] or list(array.shape) != facts["shape"]:
        raise ValueError(f"{path.name} is not {facts['dtype']} of shape {facts['shape']}")
    return np.asarray(array)


def _publish(folder: Path, final: Path) -> None:
    sync_folder(folder)
    # A rename onto a folder that is not empty fails. A sound entry there was written by another
    # process and is as good as ours; a damaged one is moved away before the next attempt.
    for _ in range(_ATTEMPTS):
        try:
            folder.rename(final)
        except OSError as error:
            # Another process may have moved the entry away since.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) and not final.is_dir():
                raise
        else:
            sync_folder(final.parent)
            return
        if open_cached(final) is not None:
            return
        with _temporary_folder(final.parent) as trash, contextlib.suppress(FileNotFoundError):
            final.rename(trash / "damaged")
    raise DataError(f"{final}: other processes keep writing it; run again")


@contextlib.contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    # Not tempfile's: its folders are private to their owner, and it fails if one is renamed.
    folder = parent / f"{_TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _require_file(path: Path) -> None:
    """Refuse what is no file: reading a pipe may never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError(f"{path.name} is not a file")


def _file_sha256(path: Path) -> str:
    _require_file(path)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(stream: IO[Any]) -> None:
    stream.flush()
    os.fsync(stream.fileno())
