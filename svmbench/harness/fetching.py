"""What is downloaded before the runs: the missing files of their data sets, the smallest first."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from svmbench.config.dataset_spec import DatasetSpec
from svmbench.data.catalogue import DataFile, Entry, resolve
from svmbench.data.fetch import find, found_offline, locate, offline_asked, served_by
from svmbench.data.transforms import Derived
from svmbench.data.transforms.rows import Swap
from svmbench.errors import DataError
from svmbench.harness.sources import is_whole

_log = logging.getLogger(__name__)

#: Bytes that are downloaded together, at most, unless everything is asked for.
MOST_BYTES = 300e6

#: Bytes of text per entry, and the share of a text that compression leaves, both at most.
_ENTRY_BYTES, _COMPRESSED = 17, 0.5


@dataclass(frozen=True)
class Missing:
    """Files that are of use only together, and about how many bytes a server sends."""

    name: str
    files: tuple[DataFile, ...]
    size: float

    def __str__(self) -> str:
        return f"{self.files[0].file} (about {self.size / 1e6:,.0f} MB)"


@dataclass(frozen=True)
class Fetching:
    """What is downloaded, and what would be too much."""

    wanted: tuple[Missing, ...]
    left: tuple[Missing, ...]

    @property
    def words(self) -> list[str]:
        """A line for either, if there is any."""
        if offline_asked():
            return []
        total = sum(each.size for each in self.wanted)
        lines = []
        if self.wanted:
            names = ", ".join(map(str, self.wanted))
            lines.append(f"to be downloaded, about {total / 1e6:,.0f} MB in all: {names}")
        if self.left:
            lines.append(f"downloaded with --fetch-all only: {', '.join(map(str, self.left))}")
        return lines

    def fetch(self) -> None:
        """Download; say once that there is no network, and otherwise what is not served."""
        if offline_asked() or found_offline():
            return
        for each in self.wanted:
            try:
                for file in each.files:
                    locate(each.name, file)
            except DataError as error:
                if found_offline():
                    _log.warning("no network, so nothing is downloaded: %s", found_offline())
                    return
                _log.warning("%s", error)


def fetching(datasets: Iterable[DatasetSpec], *, everything: bool = False) -> Fetching:
    """Choose what to download for data sets."""
    groups = {str(group): group for dataset in datasets for group in _missing(dataset)}
    wanted: list[Missing] = []
    left: list[Missing] = []
    total = 0.0
    for group in sorted(groups.values(), key=lambda group: group.size):
        total += group.size
        (wanted if everything or total <= MOST_BYTES else left).append(group)
    return Fetching(tuple(wanted), tuple(left))


def _missing(dataset: DatasetSpec) -> Iterator[Missing]:
    try:
        origin = dataset.source
        entry = resolve(origin.source if isinstance(origin, Derived) else origin)
    except DataError:
        return
    if is_whole(entry):
        return
    roles = [
        tuple(part for part in file.parts if find(part) is None) for file in entry.files.values()
    ]
    if any(isinstance(step, Swap) for step in dataset.chain):  # needs both
        roles = [tuple(part for role in roles for part in role)]
    for files in filter(None, roles):
        if not all(served_by(file).urls for file in files):
            continue
        yield Missing(entry.name, files, sum(_size(entry, file) for file in files))


def _size(entry: Entry, file: DataFile) -> float:
    served = served_by(file)
    size = float(served.bytes or 0)
    if not size:
        shape = entry.stand_in
        a_row = shape.fraction * shape.d if shape else float(entry.n_features or 0)
        size = _ENTRY_BYTES * (file.nnz or (file.rows or 0) * a_row)
    compressed = served.urls and not served.urls[0].endswith(served.file)
    return size * _COMPRESSED if compressed else size
