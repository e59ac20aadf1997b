"""Publish a results folder: its page, tables, environment and traces, with a hash of each file."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import svmbench
from svmbench.durable import require_own, resolved, writing
from svmbench.errors import ConfigError, DataError
from svmbench.harness.weights import SUFFIX
from svmbench.records.read import Results, read_results
from svmbench.report.check import stale_files
from svmbench.verify.folder import FILES, MANIFEST, Verifier, manifest_of

INDEX = "index.html"

#: What is copied from a results folder; the weights only if they are asked for.
CONTENTS = (*FILES, "tables/*", "plots/*", "runs/*.jsonl")
WEIGHTS = f"runs/*{SUFFIX}"


def publish(folder: Path, target: Path, weights: bool = False) -> Path:
    """Copy what others need of a results folder.

    Raises ConfigError if the target holds something else. Raises DataError if the results
    contradict themselves, or their page and tables are not those of the runs.
    """
    if target.exists() and not (target / MANIFEST).is_file():
        raise ConfigError(f"{target}: exists and is no published folder; give -o another name")
    if resolved(folder).is_relative_to(resolved(target)):
        raise ConfigError(f"{target}: has the results themselves; give -o another name")
    _refuse_wrong(read_results(folder))
    for name, reason in stale_files(folder):
        raise DataError(f"{folder}: {name} {reason}")
    if not (folder / "report.html").is_file():
        raise DataError(f"{folder}: has no page; run 'svmbench report {folder}' first")
    target.parent.mkdir(parents=True, exist_ok=True)
    with writing(target):
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            for pattern in (*CONTENTS, *([WEIGHTS] if weights else ())):
                for path in filter(Path.is_file, folder.glob(pattern)):
                    place = made / path.relative_to(folder)
                    place.parent.mkdir(exist_ok=True)
                    shutil.copyfile(path, place)
            shutil.copyfile(folder / "report.html", made / INDEX)
            manifest = manifest_of(made, svmbench.__version__, weights)
            (made / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
            made.chmod(0o755)
            _put(made, target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return target / INDEX


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


def _refuse_wrong(results: Results) -> None:
    """Refuse figures that do not hold."""
    folder = results.folder
    for result in Verifier().folder(folder):
        if result.verdict == "does not hold" or result.reason.startswith(str(folder)):  # its trace
            raise DataError(
                f"{folder}: {result.kind} {result.name} does not hold: {result.reason}; "
                f"see 'svmbench verify {folder}'"
            )
