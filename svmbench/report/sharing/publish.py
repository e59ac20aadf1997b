"""Publish a results folder: its page, tables, environment and traces, with a hash of each file."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import svmbench
from svmbench.durable import require_own, resolved, writing
from svmbench.errors import ConfigError, DataError
from svmbench.harness.trace import read_whole
from svmbench.records.read import Results, read_results
from svmbench.report.check import stale_files
from svmbench.verify.folder import LEFT_OUT, Verifier
from svmbench.verify.own import INDEX, MANIFEST, foreign_entries
from svmbench.verify.published import CONTENTS, WEIGHTS, manifest_of, read_manifest, text_of


@dataclass(frozen=True)
class PublishedFolder:
    """A published folder that was checked."""

    folder: Path
    results: Results
    machine: str  # fingerprint of the machine of its runs
    # runs and references that could not be recomputed, since their rows are not on this machine
    unverified: int
    name: str = ""  # heading of its columns

    @property
    def processor(self) -> str:
        """The processor of its machine."""
        return str(self.results.environment.get("cpu") or "unknown processor")


def publish(folder: Path, target: Path, weights: bool = False) -> Path:
    """Copy what others need of a results folder.

    Raises ConfigError if the target holds something else. Raises DataError if the results
    contradict themselves, or their page and tables are not those of the runs.
    """
    if target.exists() and not (target / MANIFEST).is_file():
        raise ConfigError(f"{target}: exists and is no published folder; give -o another name")
    if resolved(folder).is_relative_to(resolved(target)):
        raise ConfigError(f"{target}: has the results themselves; give -o another name")
    results = read_results(folder)
    _refuse_wrong(results)
    for name, reason in stale_files(folder, False):
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
            (made / MANIFEST).write_text(text_of(manifest), encoding="utf-8")
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


def open_published(folder: Path) -> PublishedFolder:
    """Read a published folder, and check it.

    What rests on weights that were left out, or on rows that are not on this machine, is counted,
    not recomputed.

    Raises DataError if it is not as it was published.
    """
    machine = str(read_manifest(folder).get("machine"))
    for name in foreign_entries(folder):
        raise DataError(f"{folder}: {name} is not a file of its own; publish the results again")
    results = read_results(folder)
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
        unverified += result.verdict == "not verified" or result.reason == LEFT_OUT
    return unverified
