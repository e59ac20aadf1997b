"""Load a data set by name: find, read, compact, transform, cache and memory-map its rows."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data import csvtext, idx, libsvm
from svmbench.data.cache import entry_path, open_cached, store
from svmbench.data.catalogue import Chosen, DataFile, Entry, OwnFiles, Role, resolve
from svmbench.data.dataset import Dataset
from svmbench.data.fetch import (
    MissingFileError,
    check_sha256,
    expected_sha256,
    find,
    first_seen,
    locate,
    remember,
)
from svmbench.data.libsvm import ParsedText
from svmbench.data.stamp import require_unchanged, stamp, stamp_before_reading
from svmbench.data.synthetic import GENERATOR_VERSION, RECIPES_VERSION, draw
from svmbench.data.synthetic import stand_in as make_stand_in
from svmbench.data.text_files import text_sha256
from svmbench.data.transforms import (
    TRANSFORMS_VERSION,
    Derived,
    apply_transforms,
    makes_test_rows,
)
from svmbench.data.transforms.step import TrainAndTest
from svmbench.errors import DataError

FileFacts = list[str | int]

_log = logging.getLogger(__name__)

_OPENINGS = 3
_LONGEST_NAME = 80


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set opened from the cache."""

    train: Dataset
    # None when the set has no test file, or when it is missing and the set can do without
    test: Dataset | None
    # train_path, test_path: cache entries, which other processes open with
    # `svmbench.data.cache.open_cached`
    train_path: Path
    test_path: Path | None


def load(
    spec: str | Chosen | OwnFiles | Entry | Derived,
    *,
    offline: bool = False,
    stand_in: float | None = None,
) -> Loaded:
    """Open a data set; read or generate its rows if the cache does not have them yet.

    A set of the catalogue whose test file is missing is opened without test rows, with a warning.

    - ``spec``: as `svmbench.data.catalogue.resolve` takes it; or transforms of such a set.
    - ``stand_in``: use synthetic rows of the set's shape even if the set itself is available; the
      number of rows is the set's times this factor.
    """
    if isinstance(spec, Derived):
        return _load_derived(spec, offline, stand_in)
    wanted = resolve(spec)
    if stand_in is not None:
        return _load_stand_in(wanted, stand_in)
    if wanted.recipe is not None:
        return _load_drawn(wanted)
    wanted = _with_its_test_file(wanted, offline)
    roles: Collection[Role] = wanted.files
    return _opened(
        wanted.name, roles, lambda: cached_paths(wanted), lambda: _read_and_store(wanted, offline)
    )


def is_cached(wanted: Entry) -> bool:
    paths = cached_paths(wanted)
    return bool(paths) and all(open_cached(path) is not None for path in paths.values())


def _with_its_test_file(wanted: Entry, offline: bool) -> Entry:
    """The data set, without its test file if that is missing and not needed."""
    alone = wanted.without_test
    if alone is None or wanted.test is None or is_cached(wanted):
        return wanted
    if not is_cached(alone):
        for part in alone.train.parts:
            _located(alone, part, offline)
    try:
        for part in wanted.test.parts:
            locate(wanted.name, part, offline=offline)
    except MissingFileError as error:
        _say_without_test(wanted.name, error.remedy)
        return alone
    return wanted


@cache
def _say_without_test(name: str, remedy: str) -> None:
    """Warn once in a process, however many sweeps use the set."""
    _log.warning("%s: no test rows, so no test error: %s", name, remedy)


def _opened(
    name: str,
    roles: Collection[Role],
    paths: Callable[[], dict[Role, Path]],
    make: Callable[[], None],
) -> Loaded:
    # The first attempt stores missing entries; at the second, another process may be replacing
    # an entry that it found damaged.
    for _ in range(_OPENINGS):
        places = paths()
        opened = {role: open_cached(path) for role, path in places.items()}
        train, test = opened.get("train"), opened.get("test")
        if train is not None and (test is not None or "test" not in roles):
            return Loaded(train, test, places["train"], places.get("test"))
        make()
    raise DataError(f"{name}: the cache entry was removed repeatedly; run again")


def _load_stand_in(wanted: Entry, scale: float) -> Loaded:
    shape = wanted.stand_in
    if shape is None:
        raise DataError(
            f"{wanted.name}: no stand-in is described; run without --stand-in, or describe one"
            " (datasets/README.md)"
        )
    seed = shape.seed
    if wanted.positive_chosen:
        # Another class against the rest is another problem, though of the same shape.
        seed += zlib.crc32(repr(wanted.positive).encode())
    facts = shape.model_dump(mode="json", exclude_defaults=True)
    identity = [GENERATOR_VERSION, facts, scale, seed]

    def make() -> TrainAndTest:
        return make_stand_in(shape, wanted.name, scale=scale, seed=seed)

    return _generated(f"{wanted.name}-stand-in", identity, shape.m_test > 0, make)


def _load_drawn(wanted: Entry) -> Loaded:
    recipe = wanted.recipe
    assert recipe is not None
    if wanted.positive_chosen:
        raise DataError(
            f"{wanted.name}: its rows are drawn with labels of their own; leave 'positive' out"
        )
    identity = [RECIPES_VERSION, recipe.model_dump(mode="json")]
    return _generated(wanted.name, identity, True, lambda: draw(recipe, wanted.name))


def _load_derived(spec: Derived, offline: bool, stand_in: float | None) -> Loaded:
    source = resolve(spec.source)
    if not spec.transforms:
        renamed = source.model_copy(update={"name": spec.name})
        return load(renamed, offline=offline, stand_in=stand_in)
    base = load(source, offline=offline, stand_in=stand_in)
    steps = spec.transforms
    rows = [path.name for path in (base.train_path, base.test_path) if path]
    identity = [TRANSFORMS_VERSION, rows, [str(step) for step in steps]]
    has_test = base.test is not None or makes_test_rows(steps)

    def make() -> TrainAndTest:
        return apply_transforms(base.train, base.test, steps, name=spec.name)

    return _generated(spec.name, identity, has_test, make)


def _generated(
    name: str, identity: list[Any], has_test: bool, make: Callable[[], TrainAndTest]
) -> Loaded:
    """Open rows that ``make`` generates and ``identity`` determines."""
    roles: list[Role] = ["train", "test"] if has_test else ["train"]
    paths = {role: entry_path(_entry_name(name, role, [name, role, *identity])) for role in roles}

    def make_and_store() -> None:
        for role, data in zip(paths, make(), strict=False):
            assert data is not None  # has_test promises test rows
            store(data, paths[role].name)

    return _opened(name, paths, lambda: paths, make_and_store)


def cached_paths(wanted: Entry) -> dict[Role, Path]:
    """Cache entries of a data set's rows; none if the content of a file is not known."""
    facts = {}
    for role, file in wanted.files.items():
        known = [_file_facts(part) for part in file.parts]
        if None in known:
            return {}
        facts[role] = [fact for part in known if part for fact in part]
    return {role: entry_path(_key(wanted, role, facts)) for role in facts}


def _read_and_store(wanted: Entry, offline: bool) -> None:
    texts, datasets = _read_all(wanted, offline)
    for role, text in texts.items():
        file = wanted.files[role]
        remember(file, text.stamps[0], text.sha256)
        if file.label_file and text.label_sha256:
            remember(file.label_file, text.stamps[1], text.label_sha256)
    paths = cached_paths(wanted)
    for text in texts.values():
        # Still as when it was read: else the key is that of another text.
        for before in text.stamps:
            require_unchanged(Path(before[0]), before)
    for role, dataset in datasets.items():
        store(dataset, paths[role].name)


def _read_all(wanted: Entry, offline: bool) -> tuple[dict[Role, ParsedText], dict[Role, Dataset]]:
    """The texts of a data set's files, and their rows."""
    # Both files together: they decide d or the labels if the description leaves them open.
    texts = {role: _read(wanted, file, offline) for role, file in wanted.files.items()}
    positive = wanted.positive
    if positive is None:
        positive = libsvm.positive_labels(texts["train"])
        if "test" in texts:
            _require_known_labels(texts["test"], texts["train"])
    else:
        libsvm.require_positive(texts["train"], positive)
    n_features = wanted.n_features or max(text.max_index for text in texts.values())
    transforms: tuple[str, ...] = ()
    if wanted.positive_chosen:
        # They are part of the rows' identity, by which finished runs are found.
        transforms = (f"positive {' '.join(map(libsvm.label_text, positive))}",)
    datasets = {}
    for role, text in texts.items():
        _check_counts(text, wanted.files[role], positive)
        rows = libsvm.to_dataset(
            text,
            name=wanted.name if role == "train" else f"{wanted.name}.t",
            n_features=n_features,
            positive=positive,
            transforms=transforms,
        )
        datasets[role] = replace(
            rows, provenance=replace(rows.provenance, read_as=_read_as(wanted))
        )
    return texts, datasets


def _read_as(wanted: Entry) -> str:
    """What a description says of labels and columns, which the hash of the text does not show."""
    chosen = None if wanted.positive_chosen else wanted.positive
    csv = None if wanted.csv is None else wanted.csv.model_dump(mode="json")
    said = [chosen, csv, wanted.scale]
    if all(each is None for each in said):
        return ""
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _read(wanted: Entry, file: DataFile, offline: bool) -> ParsedText:
    paths = [_located(wanted, part, offline) for part in file.parts]
    stamps = [stamp_before_reading(path) for path in paths]
    try:
        text = _parse(wanted, *paths)
    except DataError:
        # If it is the wrong file, say that instead of where parsing failed.
        for path, part in zip(paths, file.parts, strict=True):
            if expected_sha256(part) is not None:
                check_sha256(path, part, text_sha256(path))
        raise
    check_sha256(paths[0], file, text.sha256)
    if file.label_file and text.label_sha256:
        check_sha256(paths[1], file.label_file, text.label_sha256)
    for path, before in zip(paths, stamps, strict=True):
        require_unchanged(path, before)
    return replace(text, stamps=tuple(before for before in stamps if before))


def _located(wanted: Entry, file: DataFile, offline: bool) -> Path:
    try:
        return locate(wanted.name, file, offline=offline)
    except DataError as error:
        if wanted.stand_in is None:
            raise
        raise DataError(
            f"{error}; without --real 'svmbench run CONFIG' uses synthetic rows of its shape"
        ) from None


def _parse(wanted: Entry, path: Path, label_path: Path | None = None) -> ParsedText:
    if wanted.csv is not None:
        text = csvtext.parse_csv(path, wanted.csv, label_path)
    elif label_path is not None:
        text = idx.parse_idx(path, label_path, scale=wanted.scale)
    else:
        return libsvm.parse_libsvm(
            path,
            n_features=wanted.n_features,
            multilabel=wanted.format == "multilabel",
            zero_based=wanted.zero_based,
        )
    if wanted.n_features not in (None, text.max_index):
        raise DataError(
            f"{path}: {text.max_index} columns, not {wanted.n_features} as its description"
            " states; correct the description or replace the file"
        )
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
        "nnz": (text.nnz, file.nnz),
    }
    for what, (found, stated) in counts.items():
        if stated is not None and found != stated:
            raise DataError(
                f"{text.path}: {what} {found}, not {stated} as its description states;"
                " correct the description or replace the file"
            )


def _file_facts(file: DataFile) -> FileFacts | None:
    # What identifies the file's content, without reading it.
    if file.sha256 is not None:
        return [file.file, file.sha256]
    if file.path is not None:
        path = find(file)
        if path is None or not path.is_file():
            return None
        return [*stamp(path)]
    record = first_seen(file)
    if record is None:
        return None
    path = find(file)
    if path is not None and not record.is_untouched(path):
        before = stamp_before_reading(path)
        found = text_sha256(path)
        require_unchanged(path, before)
        check_sha256(path, file, found)
        if before is not None:
            remember(file, before, found)
    return [file.file, record.sha256]


def _key(wanted: Entry, role: Role, facts: dict[Role, FileFacts]) -> str:
    # Stated counts are not part of it: they check the rows and do not change them.
    both = wanted.n_features is None or wanted.positive is None
    identity: list[Any] = [
        libsvm.READER_VERSION,
        wanted.name,
        role,
        wanted.n_features,
        wanted.positive,
        facts if both else facts[role],
    ]
    if wanted.format != "libsvm":
        identity.append([wanted.format, wanted.scale])
    if wanted.csv is not None:
        identity.append(wanted.csv.model_dump())
    if wanted.positive_chosen:
        identity.append("positive chosen")
    if wanted.zero_based:
        identity.append("zero-based")
    return _entry_name(wanted.name, role, identity)


def _entry_name(name: str, role: Role, identity: list[Any]) -> str:
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9.-]", "_", name)[:_LONGEST_NAME]
    return f"{readable}-{role}-{digest[:16]}"
