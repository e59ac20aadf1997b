"""Cache entries that are moved to another machine."""

from __future__ import annotations

import secrets
from pathlib import Path

from svmbench.data.cache import admit_entry, cache_dir, content_hash, entry_path, unfinished_entry
from svmbench.errors import DataError


def packed(key: str) -> dict[str, bytes]:
    """The files of an entry, by name."""
    return {path.name: path.read_bytes() for path in entry_path(key).iterdir()}


def admit(files: dict[str, bytes], key: str, expected: str) -> None:
    """Check all bytes of an entry that was sent, and put it into the cache.

    Raises DataError if it is not what was to be moved, or the cache cannot be written.
    """
    folder = unfinished_entry(secrets.token_hex(8))
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / Path(name).name).write_bytes(content)
    except OSError as error:
        raise DataError(f"{cache_dir()}: cannot write the cache ({error.strerror})") from None
    admit_entry(folder, key)
    if content_hash(key) != expected:
        raise DataError(f"{entry_path(key)}: not the rows that were to be moved here")
