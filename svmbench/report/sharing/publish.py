"""Publish a results folder: its page, tables, environment and traces, with a hash of each file."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import svmbench
from svmbench.durable import is_own_file, require_own, resolved, writing
from svmbench.errors import ConfigError, DataError
from svmbench.harness.environment import fingerprint_of
from svmbench.harness.trace import read_whole
from svmbench.records.machine import MACHINE
from svmbench.records.read import Results, read_results
from svmbench.records.values import is_too_deep
from svmbench.report.check import stale_files
from svmbench.verify.folder import Verifier
from svmbench.verify.own import FILES

#: What a published folder contains, apart from its manifest and index.html, the page again.
_CONTENTS = (*FILES, "tables/*", "plots/*", "runs/*.jsonl")

MANIFEST = "manifest.json"

_VERSION = 1


@dataclass(frozen=True)
class PublishedFolder:
    """A published folder that was checked.

    Parameters
    ----------
    folder : Path
    results : Results
    machine : str
        Fingerprint of the machine of its runs.
    unverified : int
        Runs and references that could not be recomputed, since their rows are not on this machine.
    name : str, optional
        Heading of its columns.
    """

    folder: Path
    results: Results
    machine: str
    unverified: int
    name: str = ""

    @property
    def processor(self) -> str:
        """The processor of its machine."""
        return str(self.results.environment.get("cpu") or "unknown processor")


def publish(folder: Path, target: Path) -> Path:
    """Copy what others need of a results folder.

    Parameters
    ----------
    folder : Path
        As ``svmbench run`` has written it.
    target : Path
        New, or published before.

    Returns
    -------
    Path
        The target's page.

    Raises
    ------
    ConfigError
        If the target holds something else.
    DataError
        If the results contradict themselves, or their page and tables are not those of the runs.
    """
    if target.exists() and not (target / MANIFEST).is_file():
        raise ConfigError(f"{target}: exists and is no published folder; give -o another name")
    if resolved(folder).is_relative_to(resolved(target)):
        raise ConfigError(f"{target}: has the results themselves; give -o another name")
    results = read_results(folder)
    machine = _machine(results, folder)
    _refuse_wrong(results)
    for name, reason in stale_files(folder, False):
        raise DataError(f"{folder}: {name} {reason}")
    if not (folder / "report.html").is_file():
        raise DataError(f"{folder}: has no page; run 'svmbench report {folder}' first")
    target.parent.mkdir(parents=True, exist_ok=True)
    with writing(target):
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            for path in _contents(folder):
                place = made / path.relative_to(folder)
                place.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, place)
            shutil.copyfile(folder / "report.html", made / "index.html")
            manifest = {
                "schema_version": _VERSION,
                "svmbench": svmbench.__version__,
                "name": results.name,
                "machine": machine,
                "files": _hashes(made),
            }
            text = json.dumps(manifest, indent=2) + "\n"
            (made / MANIFEST).write_text(text, encoding="utf-8")
            made.chmod(0o755)
            _put(made, target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return target / "index.html"


def _put(made: Path, target: Path) -> None:
    """Give a whole copy its name. One that was there before is removed once the new one is."""
    if not target.exists():
        made.rename(target)
        return
    require_own(target)
    before = made.with_name(f"{made.name}.before")
    target.rename(before)
    try:
        made.rename(target)
    except BaseException:
        before.rename(target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def open_published(folder: Path) -> PublishedFolder:
    """Read a published folder, and check it.

    Its files must have the hashes of the manifest, and its tables must say what its traces say.
    What rests on rows that are not on this machine is counted, not recomputed.

    Raises
    ------
    DataError
        If it is not as it was published.
    """
    path = folder / MANIFEST
    try:
        if not is_own_file(path):
            raise ValueError("a link, a pipe or a device")
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if is_too_deep(manifest):
            raise ValueError("nested too deeply")
        version, files, machine = (manifest[k] for k in ("schema_version", "files", "machine"))
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: not readable; name a folder that 'svmbench publish' has written"
        ) from error
    if version != _VERSION:
        raise DataError(f"{path}: schema_version is {version!r:.80}, and has to be {_VERSION}")
    if not isinstance(files, dict):
        raise DataError(f"{path}: files is not a mapping; publish the results again")
    found = _hashes(folder)
    for name in sorted(files.keys() | found.keys()):
        if files.get(name) != found.get(name):
            fault = "is missing" if name not in found else "is not the file that was published"
            raise DataError(f"{folder}: {name} {fault}; publish the results again")
    results = read_results(folder)
    if _machine(results, folder) != machine:
        raise DataError(f"{folder}: environment.json is of another machine than {MANIFEST} says")
    return PublishedFolder(folder, results, machine, _refuse_wrong(results))


def _refuse_wrong(results: Results) -> int:
    """Refuse figures that do not hold, or have no trace; return how many could not be verified."""
    folder, unverified = results.folder, 0
    for name in results.runs["id"][results.runs["state"] != "skipped"]:
        if read_whole(folder / "runs" / f"{name}.jsonl") is None:
            raise DataError(
                f"{folder}: the trace of run {name:.240} is missing or damaged; "
                "run the sweep and publish it again"
            )
    for result in Verifier().folder(folder):
        if result.verdict == "does not hold":
            raise DataError(
                f"{folder}: {result.kind} {result.name} does not hold: {result.reason}; "
                f"see 'svmbench verify {folder}'"
            )
        unverified += result.verdict == "not verified"
    return unverified


def _machine(results: Results, folder: Path) -> str:
    facts: dict[str, Any] = results.environment
    lacking = [key for key in MACHINE if key not in facts]
    if lacking:
        raise DataError(f"{folder}/environment.json: lacks {', '.join(lacking)}")
    return fingerprint_of({key: facts[key] for key in MACHINE})


def _contents(folder: Path) -> Iterator[Path]:
    for pattern in _CONTENTS:
        yield from (path for path in sorted(folder.glob(pattern)) if path.is_file())


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of each file below a folder but the manifest, by path. No link is followed."""
    return {
        path.relative_to(folder).as_posix(): _sha256(path)
        for path in sorted(folder.rglob("*"))
        if is_own_file(path) and path != folder / MANIFEST
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
