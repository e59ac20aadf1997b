"""Hashes of files for which no hash is published: the first one read counts from then on.

Each is a small file in the cache folder. It also records the raw file's stamp, so that the raw file
is hashed again only when that has changed.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from svmbench.data.cache import cache_dir
from svmbench.data.catalogue import DataFile
from svmbench.data.stamp import Stamp, stamp
from svmbench.durable import write_text
from svmbench.errors import DataError, UnwritableError


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
