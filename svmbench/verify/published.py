"""The manifest of a published folder: what it says, and what the folder holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from svmbench.errors import DataError
from svmbench.harness.environment import fingerprint_of
from svmbench.records.columns import MACHINE
from svmbench.records.read import read_results

MANIFEST = "manifest.json"

#: Files of a results folder.
FILES = (
    *("runs.csv", "traces.csv", "regret.csv"),
    *("config.yaml", "environment.json", "report.html"),
)

#: Why a run holds that has kept weights, although none are there.
LEFT_OUT = "its weights were left out when this was published"

_VERSION = 2


def manifest_of(folder: Path, version: str, weights: bool) -> dict[str, Any]:
    """The manifest of a folder as it is.

    Raises DataError if it has no results that can be read.
    """
    results = read_results(folder)
    lacking = [key for key in MACHINE if key not in results.environment]
    if lacking:
        raise DataError(f"{folder}/environment.json: lacks {', '.join(lacking)}")
    return {
        "schema_version": _VERSION,
        "svmbench": version,
        "name": results.name,
        "machine": fingerprint_of({key: results.environment[key] for key in MACHINE}),
        "weights": weights,
        "files": hashes(folder),
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a published folder.

    Raises DataError if it has none that can be read.
    """
    path = folder / MANIFEST
    try:
        manifest = dict(json.loads(path.read_text(encoding="utf-8")))
        if manifest["schema_version"] == _VERSION and isinstance(manifest["files"], dict):
            return manifest
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        pass
    raise DataError(f"{path}: not readable; name a folder that 'svmbench publish' has written")


def faults(folder: Path, manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The files of a published folder that are not those of its manifest, with the reason."""
    known, found = manifest["files"], hashes(folder)
    for name in sorted(known | found):
        if name not in found:
            yield name, "is missing; publish the results again"
        elif name not in known:
            yield name, "is no file that was published; remove it"
        elif known[name] != found[name]:
            yield name, "is not the file that was published; publish the results again"
    if found.get("index.html") != found.get("report.html"):
        yield "index.html", "is not report.html; publish the results again"
    try:
        facts = manifest_of(folder, str(manifest.get("svmbench")), bool(manifest.get("weights")))
    except DataError:  # the tables are read again, and then it is said
        return
    if any(manifest.get(key) != facts[key] for key in ("name", "machine")):
        yield MANIFEST, "names another sweep or machine; publish the results again"


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder but the manifest, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / MANIFEST:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = digest
    return found
