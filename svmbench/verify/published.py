"""The manifest of a published folder: what it says, and what the folder holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from svmbench.durable import is_own_file
from svmbench.errors import DataError
from svmbench.harness.environment import fingerprint_of
from svmbench.harness.weights import SUFFIX
from svmbench.records.machine import MACHINE
from svmbench.records.read import read_results
from svmbench.records.values import is_too_deep
from svmbench.verify.own import FILES, INDEX, MANIFEST

#: What is copied from a results folder; the weights only if they are asked for.
CONTENTS = (*FILES, "tables/*", "plots/*", "runs/*.jsonl")
WEIGHTS = f"runs/*{SUFFIX}"

_VERSION = 2

#: Suffixes of what a browser executes or shows.
_SHOWN = (".html", ".htm", ".xhtml", ".js", ".svg")


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


def text_of(manifest: dict[str, Any]) -> str:
    """A manifest as it is written."""
    return json.dumps(manifest, indent=2) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a published folder.

    Raises DataError if it has none that can be read.
    """
    path = folder / MANIFEST
    try:
        if not is_own_file(path):
            raise ValueError("a link, a pipe or a device")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if is_too_deep(manifest):
            raise ValueError("nested too deeply")
        version, files = manifest["schema_version"], manifest["files"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: not readable; name a folder that 'svmbench publish' has written"
        ) from error
    if version != _VERSION:
        raise DataError(f"{path}: schema_version is {version!r:.80}, and has to be {_VERSION}")
    if not isinstance(files, dict):
        raise DataError(f"{path}: files is not a mapping; publish the results again")
    return dict(manifest)


def faults(folder: Path, manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What of a published folder `svmbench publish` does not write, with the reason.

    Raises DataError if it has no results that can be read.
    """
    weights = manifest.get("weights") is True
    known, found = manifest["files"], hashes(folder)
    patterns = (*CONTENTS, INDEX, MANIFEST, *([WEIGHTS] if weights else ()))
    own = {path.relative_to(folder).as_posix() for each in patterns for path in folder.glob(each)}
    for name in sorted(known | found | {INDEX: ""}):
        if name not in found:
            yield name, "is missing; publish the results again"
        elif name not in own or name not in known:
            yield name, "is no file that was published; remove it"
        elif known[name] != found[name]:
            yield name, "is not the file that was published; publish the results again"
        elif name == INDEX and found[name] != found.get("report.html"):
            yield name, "is not report.html once more; publish the results again"
    real = manifest_of(folder, str(manifest.get("svmbench")), weights)
    odd = [key for key in real | manifest if real.get(key) != manifest.get(key) and key != "files"]
    if odd or (folder / MANIFEST).read_text(encoding="utf-8") != text_of(manifest):
        said = f"says of {', '.join(odd)} what the folder does not" if odd else "has another form"
        yield MANIFEST, f"{said}; publish the results again"


def strangers(folder: Path) -> Iterator[str]:
    """What a browser would open in a results folder, and no command has written there."""
    for path in sorted([*folder.glob("*"), *folder.glob("runs/*")]):
        name = path.relative_to(folder).as_posix()
        if path.suffix.lower() in _SHOWN and name != "report.html":
            yield name


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder but the manifest, by path. No link is followed."""
    return {
        path.relative_to(folder).as_posix(): _sha256(path)
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or not path.is_dir()) and path != folder / MANIFEST
    }


def _sha256(path: Path) -> str:
    """Nothing of what is a link, a pipe or a device: it may be anybody's, or never end."""
    if not is_own_file(path):
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
