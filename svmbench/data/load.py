"""From a data set's name to its rows, memory-mapped: find, read, compact, cache."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from svmbench.data import libsvm
from svmbench.data.cache import entry_path, open_cached, store
from svmbench.data.catalogue import DataFile, Entry, OwnFiles, resolve
from svmbench.data.dataset import Dataset
from svmbench.data.fetch import check_sha256, locate
from svmbench.data.libsvm import ParsedText
from svmbench.errors import DataError

Role = Literal["train", "test"]

_OPENINGS = 3


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set opened from the cache.

    Parameters
    ----------
    train : Dataset
    test : Dataset or None
        None when the set has no test file.
    train_path, test_path : Path
        Cache entries, which other processes open with `svmbench.data.cache.open_cached`.
    """

    train: Dataset
    test: Dataset | None
    train_path: Path
    test_path: Path | None


def load(spec: str | Mapping[str, Any] | OwnFiles | Entry, *, offline: bool = False) -> Loaded:
    """Open a data set, reading its text only when the cache does not have it yet.

    Parameters
    ----------
    spec : str, mapping, OwnFiles or Entry
        A catalogue name, a path or a user's own files: see `svmbench.data.catalogue.resolve`.
    offline : bool
        Leave the network alone.

    Raises
    ------
    DataError
        When a file is missing, unreadable or not the one that the catalogue describes.
    ConfigError
        When ``spec`` is not a description of a data set.
    """
    wanted = resolve(spec)
    files: dict[Role, DataFile] = {"train": wanted.train}
    if wanted.test is not None:
        files["test"] = wanted.test
    facts = {role: _file_facts(wanted.name, file, offline) for role, file in files.items()}
    paths = {role: entry_path(_key(wanted, role, facts)) for role in files}
    # A second look: between storing and opening, another process may be replacing what it
    # found damaged.
    for _ in range(_OPENINGS):
        opened = {role: open_cached(path) for role, path in paths.items()}
        train, test = opened["train"], opened.get("test")
        if train is not None and (test is not None or "test" not in files):
            return Loaded(train, test, paths["train"], paths.get("test"))
        _read_and_store(wanted, files, paths, offline)
    raise DataError(f"{paths['train']}: the cache entry does not last; delete it and run again")


def _read_and_store(
    wanted: Entry, files: dict[Role, DataFile], paths: dict[Role, Path], offline: bool
) -> None:
    # Both files together: where the description leaves d or the labels open, they decide
    # as one.
    texts = {role: _read(wanted, file, offline) for role, file in files.items()}
    positive = wanted.positive
    if positive is None:
        positive = libsvm.positive_labels(texts["train"])
        if "test" in texts:
            _require_known_labels(texts["test"], texts["train"])
    else:
        libsvm.require_positive(texts["train"], positive)
    n_features = wanted.n_features or max(text.max_index for text in texts.values())
    for role, text in texts.items():
        _check_counts(text, files[role], positive)
        name = wanted.name if role == "train" else f"{wanted.name}.t"
        dataset = libsvm.to_dataset(text, name=name, n_features=n_features, positive=positive)
        store(dataset, paths[role].name)


def _read(wanted: Entry, file: DataFile, offline: bool) -> ParsedText:
    path = locate(wanted.name, file, offline=offline)
    try:
        text = libsvm.parse_libsvm(path, n_features=wanted.n_features)
    except DataError:
        # Of a file that is not the right one, say that rather than what it stumbled over.
        if file.sha256 is not None:
            check_sha256(path, file, libsvm.text_sha256(path))
        raise
    check_sha256(path, file, text.sha256)
    return text


def _require_known_labels(test: ParsedText, train: ParsedText) -> None:
    strange = np.setdiff1d(test.labels, train.labels)
    if len(np.unique(train.labels)) > 1 and len(strange):
        raise DataError(
            f"{test.path}: labels {libsvm.show_labels(strange)} do not occur in {train.path};"
            " state 'positive'"
        )


def _check_counts(text: ParsedText, file: DataFile, positive: Collection[float]) -> None:
    labels = libsvm.binary_labels(text, positive)
    counts = {
        "rows": (len(labels), file.rows),
        "positives": (int(np.count_nonzero(labels == 1)), file.positives),
        "nnz": (len(text.indices), file.nnz),
    }
    for what, (found, stated) in counts.items():
        if stated is not None and found != stated:
            raise DataError(
                f"{text.path}: {what} {found}, not {stated} as its description states;"
                " correct the one or replace the other"
            )


def _file_facts(name: str, file: DataFile, offline: bool) -> list[str | int]:
    # What tells one content of the file from another, without reading it.
    if file.sha256 is not None:
        return [file.file, file.sha256]
    path = locate(name, file, offline=offline)
    status = path.stat()
    return [str(path.resolve()), status.st_size, status.st_mtime_ns]


def _key(wanted: Entry, role: Role, facts: dict[Role, list[str | int]]) -> str:
    # Stated counts are no part of it: they check the rows and do not change them.
    both = wanted.n_features is None or wanted.positive is None
    identity = [
        libsvm.READER_VERSION,
        wanted.name,
        role,
        wanted.n_features,
        wanted.positive,
        facts if both else facts[role],
    ]
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9.-]", "_", wanted.name)
    return f"{readable}-{role}-{digest[:16]}"
