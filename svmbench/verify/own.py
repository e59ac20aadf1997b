"""Finds what in a results folder is no file or folder of its own: then `verify` reads nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from svmbench.durable import is_own_file

#: Files and folders of a results folder.
FILES = (
    *("runs.csv", "traces.csv", "regret.csv"),
    *("config.yaml", "environment.json", "report.html"),
)
#: What `svmbench publish` adds.
INDEX, MANIFEST = "index.html", "manifest.json"
FOLDERS = ("runs", "tables", "plots")


def entries(folder: Path) -> Iterator[Path]:
    """Where a results folder has its files, and what is there in its own folders."""
    yield from (folder / name for name in (*FILES, INDEX, MANIFEST))
    for name in FOLDERS:
        if (folder / name).is_dir():
            yield from (folder / name).iterdir()


def foreign_entries(folder: Path) -> Iterator[str]:
    """Links, pipes, devices and folders in place of a results folder's files.

    A link may lead to any file of the reader's, and a pipe or a device may never end.
    """
    for name in (*FILES, INDEX, MANIFEST):
        path = folder / name
        if os.path.lexists(path) and not is_own_file(path):
            yield name
    for name in FOLDERS:
        below = folder / name
        if below.is_symlink() or (below.exists() and not below.is_dir()):
            yield name
        elif below.exists():
            found = sorted(below.iterdir())
            yield from (f"{name}/{path.name}" for path in found if not is_own_file(path))
