"""Find the raw file of a data set: bundled, in the mirror, or downloaded."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from svmbench.bundled import bundled
from svmbench.data.cache import cache_dir
from svmbench.data.catalogue import Conversion, DataFile, known_names, url_name
from svmbench.data.download import UnreachableError, download_to
from svmbench.data.stamp import Stamp, stamp
from svmbench.data.text_files import chunks, text_sha256
from svmbench.durable import ABANDONED_SECONDS, write_text
from svmbench.errors import DataError, UnwritableError

_PARTIAL = ".partial-"

#: Seconds after a failed connection in which no other is tried.
OFFLINE_SECONDS = 60.0

#: Until when none is tried, and why.
_offline = 0.0, ""


class FirstSeen(BaseModel):
    """The record of a file from when it was first read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str  # of the uncompressed content
    stamp: Stamp  # the raw file's, compressed or not

    def is_untouched(self, path: Path) -> bool:
        """Whether the file at that path looks like the one that was hashed."""
        return stamp(path) == self.stamp


def record_path(wanted: DataFile) -> Path:
    return cache_dir() / "first-seen" / f"{wanted.file}.json"


def first_seen(wanted: DataFile) -> FirstSeen | None:
    """Record of a file without a stated hash; a user's own file may change, and has none."""
    if wanted.sha256 is not None or wanted.path is not None:
        return None
    try:
        return FirstSeen.model_validate_json(record_path(wanted).read_bytes())
    except (OSError, ValidationError):
        return None


def remember(wanted: DataFile, read: Stamp, sha256: str) -> None:
    """Record the hash of a file that was read and found valid, if its hash is not stated."""
    if wanted.sha256 is not None or wanted.path is not None:
        return
    record = FirstSeen(sha256=sha256, stamp=read)
    target = record_path(wanted)
    try:
        write_text(target, record.model_dump_json(indent=2) + "\n")
    except (OSError, UnwritableError) as error:
        raise DataError(f"{error}; set SVMBENCH_CACHE") from None


def expected_sha256(wanted: DataFile) -> str | None:
    """Hash that a file's content must have: the stated one, else the first seen."""
    if wanted.sha256 is not None:
        return wanted.sha256
    record = first_seen(wanted)
    return record.sha256 if record else None


class StorageError(DataError):
    """Downloads cannot be stored, whatever their address."""


class MissingFileError(DataError):
    """A raw file is not on this machine and could not be downloaded."""

    def __init__(self, name: str, remedy: str) -> None:
        super().__init__(
            f"{name}: {remedy}, or run 'svmbench run configs/smoke.yaml', which needs only data"
            " that comes with svmbench"
        )
        self.remedy = remedy


def offline_asked() -> bool:
    """Whether SVMBENCH_OFFLINE forbids the network."""
    return os.environ.get("SVMBENCH_OFFLINE", "0").lower() not in ("", "0", "false", "no")


def found_offline() -> str:
    """Why no server could be reached just now; empty if none was tried, or one was reached."""
    until, why = _offline
    return why if time.monotonic() < until else ""


def mirror() -> Path | None:
    """Folder of raw files named by SVMBENCH_MIRROR."""
    folder = os.environ.get("SVMBENCH_MIRROR")
    return Path(folder) if folder else None


def downloads() -> Path:
    return cache_dir() / "files"


def locate(name: str, wanted: DataFile, *, offline: bool = False) -> Path:
    """Find a raw file: bundled, in the mirror, among former downloads; or download and check it."""
    here = find(wanted)
    if here is not None:
        return here
    if wanted.converted is not None:
        return _convert(wanted, locate(name, wanted.converted.source, offline=offline))
    if not wanted.urls:
        reason = "no address serves it" if wanted.obtain else "it has no address"
    elif offline or offline_asked():
        reason = "the network is switched off"
    elif found_offline():
        reason = "no network"
    else:
        failures: list[DataError] = []
        for url in wanted.urls:
            try:
                return download(url, wanted)
            except StorageError:
                raise
            except DataError as error:
                failures.append(error)
        reason = ", ".join(map(str, failures))
        if all(isinstance(each, UnreachableError) for each in failures):
            global _offline
            _offline = time.monotonic() + OFFLINE_SECONDS, reason
    raise MissingFileError(name, _remedy(wanted, reason))


def served_by(file: DataFile) -> DataFile:
    """The file that a server has: itself, or the one that it is made of."""
    return file.converted.source if file.converted else file


def find(wanted: DataFile) -> Path | None:
    """Find a raw file on this machine; None if it is absent."""
    if wanted.path is not None:
        return bundled("datasets") / wanted.path
    for folder in (mirror(), downloads()):
        for candidate in known_names(wanted.file) if folder else ():
            if folder and (folder / candidate).is_file():
                return folder / candidate
    return None


def _convert(wanted: DataFile, source: Path) -> Path:
    assert wanted.converted is not None
    conversion = wanted.converted

    def make(partial: Path) -> None:
        convert(source, conversion, partial)
        check_sha256(source, wanted, text_sha256(partial))

    return _keep(downloads() / wanted.file, make)


def convert(source: Path, conversion: Conversion, target: Path) -> None:
    """Write each row's label and its whole numbers other than 0.

    A column with a range holds (number - least)/(largest - least), to so many digits that the
    number is found by rounding.
    """
    import pandas as pd  # slow to load, and few sets need it

    try:
        table = pd.read_csv(source)
        label = table.pop(conversion.label)
        for column, (least, largest) in conversion.ranges.items():
            table[column] = table[column] * (largest - least) + least
        values = np.rint(table.to_numpy(dtype=float)).astype(int)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{source}: not the expected table ({error}); replace or delete it"
        ) from None
    with target.open("w", encoding="ascii", newline="\n") as stream:
        for row, positive in zip(values, label == conversion.positive, strict=True):
            entries = "".join(f" {at + 1}:{row[at]}" for at in np.flatnonzero(row))
            stream.write(f"{'+1' if positive else '-1'}{entries}\n")


def download(url: str, wanted: DataFile) -> Path:
    """Download a file into `downloads`, whole and checked or not at all."""
    hashed = expected_sha256(wanted) is not None

    def make(partial: Path) -> None:
        try:
            download_to(url, partial, longest=_longest(wanted), pages=hashed)
            _check(url, wanted, partial)
        except DataError as error:
            raise type(error)(str(error).replace(str(partial), url)) from None

    return _keep(downloads() / url_name(url), make)


def _keep(target: Path, make: Callable[[Path], None]) -> Path:
    """Make a file under a passing name, and give it its own if all goes well."""
    # It ends in the file's own suffix, which tells how the content is compressed.
    partial = target.with_name(f"{_PARTIAL}{os.urandom(8).hex()}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        make(partial)
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        # Another process may have put the same file there meanwhile, and may be reading it already.
        if not target.is_file():
            partial.replace(target)
    except OSError as error:
        raise StorageError(
            f"{target.parent}: {error.strerror}; make room for {target.name} there, or set"
            " SVMBENCH_CACHE to another folder"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return target


def _longest(wanted: DataFile) -> int | None:
    # Compressing incompressible content makes it slightly longer.
    return None if wanted.bytes is None else wanted.bytes + wanted.bytes // 64 + (1 << 16)


def _check(url: str, wanted: DataFile, path: Path) -> None:
    if expected_sha256(wanted) is not None:
        check_sha256(url, wanted, text_sha256(path), remedy="its content has changed")
        return
    size = sum(map(len, chunks(path)))
    if size != (wanted.bytes or size):
        raise DataError(f"{url}: its text has {size} bytes, not {wanted.bytes}")


def _sweep(folder: Path) -> None:
    """Remove the partial files of downloads that were killed."""
    for path in folder.glob(f"{_PARTIAL}*"):
        with contextlib.suppress(OSError):  # another process may be first, or owns the file
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()


def check_sha256(
    where: Path | str, wanted: DataFile, found: str, remedy: str = "replace or delete it"
) -> None:
    """Refuse a file whose content has not the stated or first seen hash."""
    expected = expected_sha256(wanted)
    if expected is None or found == expected:
        return
    if wanted.sha256 is not None:
        raise DataError(
            f"{where}: not the expected {wanted.file}: its text has sha256 {found},"
            f" not {expected}; {remedy}"
        )
    raise DataError(
        f"{where}: {wanted.file} has changed: its text has sha256 {found}, not {expected} as"
        f" when it was first read here; put that one back, or delete {record_path(wanted)} to"
        " accept this one"
    )


def _remedy(wanted: DataFile, reason: str) -> str:
    folder = mirror()
    shown = f"{folder} (SVMBENCH_MIRROR)" if folder else "a folder that SVMBENCH_MIRROR names"
    source = f" from {wanted.urls[0]}" if wanted.urls else ""
    if wanted.obtain:
        source = f" ({wanted.obtain})"
    return (
        f"{wanted.file} is missing ({reason}); put {wanted.file}{source}, plain or .xz,"
        f" .bz2, .gz, into {shown} or into {downloads()}"
    )
