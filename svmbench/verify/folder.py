"""Check the numbers in a results folder against its traces, stored weights, references and rows."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from svmbench.data.cache import by_identity, open_cached
from svmbench.data.cache import verify as verify_entry
from svmbench.data.dataset import Dataset
from svmbench.errors import DataError
from svmbench.harness.environment import fingerprint_of
from svmbench.harness.rows import regret_rows, run_row, trace_rows
from svmbench.harness.store import BOUNDS_MARGIN
from svmbench.harness.trace import Trace, read_whole
from svmbench.harness.weights import kept_weights
from svmbench.records.columns import MACHINE
from svmbench.records.read import read_results
from svmbench.records.spelling import short
from svmbench.reference.optimum import reference_path, stored_pair
from svmbench.verify.extended import Bounded, Facts, count_errors, dual, evaluate
from svmbench.verify.recorded import (
    ContradictionError,
    MissingError,
    Recorded,
    Verification,
    check_identity,
    check_points,
    recorded_run,
)

MANIFEST = "manifest.json"

#: Files of a results folder.
FILES = (
    *("runs.csv", "traces.csv", "regret.csv"),
    *("config.yaml", "environment.json", "report.html"),
)

#: Why a run holds that has kept weights, although none are there.
LEFT_OUT = "its weights were left out when this was published"

_VERSION = 2

#: Files of which every results folder has one.
MARKS = ("runs.csv", "traces.csv", "report.html")

#: Rows of a table, every field as text, by the run that they belong to.
Rows = dict[str, list[dict[str, str]]]


def folders(root: Path) -> list[Path]:
    """The results folders at and below ``root``, even those that have lost a part."""

    def unreadable(error: OSError) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(
                f"{error.filename}: no such folder; name one that 'svmbench run' has written"
            )
        if isinstance(error, NotADirectoryError):
            raise DataError(f"{error.filename}: a file; name a folder of results")
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}); allow it")

    found = []
    for place, below, files in os.walk(root, onerror=unreadable):
        folder = Path(place)
        links = [folder / name for name in below if (folder / name).is_symlink()]
        found += [link for link in links if any((link / name).exists() for name in MARKS)]
        if any(name in files for name in MARKS) or any((folder / "runs").glob("*.jsonl")):
            found.append(folder)
    found.sort()
    if not found and not root.is_dir():
        raise DataError(f"{root}: no such folder; name one that 'svmbench run' has written")
    if not found:
        raise DataError(
            f"{root}: no results in it (runs.csv next to runs/); name a folder that "
            "'svmbench run' has written"
        )
    return found


def is_bare(folder: Path) -> bool:
    """Whether a folder has tables that were published without their runs and configuration."""
    return not ((folder / "runs").exists() or (folder / "config.yaml").exists())


def foreign_entries(folder: Path) -> list[str]:
    """Links, pipes, devices and folders in place of a results folder's files: some never end."""
    below = (path for name in ("runs", "tables", "plots") for path in (folder / name).rglob("*"))
    return sorted(
        path.relative_to(folder).as_posix()
        for path in (*folder.glob("*"), *below)
        if path.is_symlink()
        or not (path.is_file() or (path.is_dir() and path.parent == folder))
        or (path.is_dir() and path.name in FILES)
    )


@dataclass
class Verifier:
    """Verifies folders, and caches the rows and the references it has read."""

    _data: dict[str, Dataset] = field(default_factory=dict)
    _bounds: dict[Path, tuple[Bounded, Bounded]] = field(default_factory=dict)
    _reported: set[tuple[Path, float, float]] = field(default_factory=set)

    def folder(self, folder: Path) -> Iterator[Verification]:
        """Verify the tables, each run and each reference that a run was measured against."""
        if foreign := foreign_entries(folder):
            reason = "is not a file of its own, and nothing in this folder is read; replace it"
            for name in foreign:
                yield Verification("file", name, "does not hold", reason)
            return
        if not (folder / "runs.csv").exists():
            reason = "is missing; 'svmbench run' writes it again"
            yield Verification("file", "runs.csv", "not verified", reason)
            return
        left_out = False
        if (folder / MANIFEST).exists():
            manifest = read_manifest(folder)
            left_out = manifest.get("weights") is False
            for name, reason in faults(folder, manifest):
                yield Verification("file", name, "does not hold", reason)
        tables = {name: _read(folder / name) for name in ("runs.csv", "traces.csv", "regret.csv")}
        made = []
        for name, rows in tables["runs.csv"].items():
            if rows[0].get("state") == "skipped":  # it has no trace that it could follow from
                elsewhere = any(tables[file].get(name) for file in ("traces.csv", "regret.csv"))
                if elsewhere or len(rows) > 1 or _was_measured(rows[0]):
                    reason = "is listed as skipped, but was measured"
                    yield Verification("run", name[:240], "does not hold", reason)
                continue
            path = folder / "runs" / f"{Path(name).name[:240]}.jsonl"
            trace = read_whole(path)
            if trace is None:
                fault = "damaged" if path.exists() else "missing"
                yield Verification("run", name[:240], "not verified", f"{path}: {fault}")
                continue
            run, outcome = self._run(
                path, {file: tables[file].get(name, []) for file in tables}, trace, left_out
            )
            yield outcome
            if run is not None:
                made.append(run)
                if trace.points:
                    yield from self._reference(run.header)
        for file in ("traces.csv", "regret.csv"):
            if foreign_runs := tables[file].keys() - tables["runs.csv"].keys():
                reason = (
                    f"rows of runs that runs.csv does not list: {', '.join(sorted(foreign_runs))}"
                )
                yield Verification("file", file, "does not hold", reason)
        yield from _machine(folder, {run.header["machine"] for run in made})
        yield from _wider(made)

    def recorded(self, header: dict[str, Any]) -> Recorded:
        """The run that the first line of a trace describes, with its rows."""
        return recorded_run(header, self._rows)

    def _run(
        self, path: Path, rows: Rows, trace: Trace, left_out: bool
    ) -> tuple[Recorded | None, Verification]:
        """A run, unless it cannot be told, and the outcome."""
        name, kept, run = path.stem, bool(trace.weights), None
        deviation = allowed = None
        reason = ""
        try:
            run = self.recorded(trace.header)
            check_identity(run, name)
            check_points(run, trace)
            _check_rows("runs.csv", rows["runs.csv"], [run_row(run, trace)])
            _check_rows("traces.csv", rows["traces.csv"], trace_rows(run, trace))
            _check_rows("regret.csv", rows["regret.csv"], regret_rows(run, trace))
            if kept and left_out:
                kept, reason = False, LEFT_OUT
            elif kept:
                primal = self._recompute(path, trace)
                deviation = primal.deviation(trace.points[-1]["primal"])
                allowed = primal.share
        except MissingError as error:
            return run, Verification("run", name, "not verified", str(error), with_weights=kept)
        except ContradictionError as error:
            return run, Verification("run", name, "does not hold", str(error), with_weights=kept)
        return run, Verification("run", name, "holds", reason, deviation, allowed, kept)

    def _recompute(self, path: Path, trace: Trace) -> Bounded:
        """P of the stored weights, after checking all figures recorded for them."""
        header, last = trace.header, trace.points[-1]
        try:
            w, bias = kept_weights(path, trace.weights)
        except ValueError as error:
            raise MissingError(str(error)) from error
        data = self._rows(header["problem"]["data"])
        if len(w) != data.n_features:
            raise MissingError(f"{len(w)} weights for rows of {data.n_features} features")
        found = evaluate(data, Facts.of(header["problem"]), w, bias)
        if not found.primal.agrees(last["primal"]):
            raise ContradictionError(
                f"P is {found.primal.value!r}, recorded as {last['primal']!r}, and rounding "
                f"explains only {found.primal.rounding:.1e}"
            )
        _check_errors("train", last["train_error"], data, found.least_errors, found.most_errors)
        if header["test"] is not None:
            test = self._rows(header["test"])
            _check_errors("test", last["test_error"], test, *count_errors(test, w, bias))
        return found.primal

    def _reference(self, header: dict[str, Any]) -> Iterator[Verification]:
        """Verify the bounds that a run was measured against, once for each pair of bounds."""
        facts, lower, upper = (
            header["problem"],
            header["reference_dual"],
            header["reference_primal"],
        )
        path = reference_path(facts)
        if (path, lower, upper) in self._reported:
            return
        self._reported.add((path, lower, upper))
        name = f"{header['dataset']} λ={short(facts['lambda'])}"
        try:
            least, most = self._bounds_of(path, facts)
            _check_bounds(least, most, lower, upper)
        except MissingError as error:
            yield Verification("reference", name, "not verified", str(error))
        except ContradictionError as error:
            yield Verification("reference", name, "does not hold", str(error))
        else:
            deviation = least.deviation(lower)
            yield Verification("reference", name, "holds", "", deviation, least.share, True)

    def _bounds_of(self, path: Path, facts: dict[str, Any]) -> tuple[Bounded, Bounded]:
        """D of the stored reference's alpha and P of its w."""
        if path not in self._bounds:
            data = self._rows(facts["data"])
            pair = stored_pair(path, data.n_features, data.n_samples) if path.exists() else None
            if pair is None:
                raise MissingError("its reference is not in the cache, or damaged; run it again")
            w, bias, alpha = pair
            problem = Facts.of(facts)
            least, most = dual(data, problem, alpha), evaluate(data, problem, w, bias).primal
            self._bounds[path] = least, most
        return self._bounds[path]

    def _rows(self, identity: str) -> Dataset:
        if identity not in self._data:
            path = self._entries.get(identity)
            if path is None:
                raise MissingError("its rows are not in the cache; run it again")
            try:
                verify_entry(path)
            except DataError as error:
                raise MissingError(str(error)) from error
            data = open_cached(path)
            if data is None:
                raise MissingError(f"{path}: its rows were removed; run it again")
            self._data[identity] = data
        return self._data[identity]

    @cached_property
    def _entries(self) -> dict[str, Path]:
        return by_identity()


def _read(path: Path) -> Rows:
    found: Rows = {}
    if path.exists():
        try:
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file, strict=True):
                    found.setdefault(row.get("id") or "", []).append(row)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{path}: cannot be read ({error})") from error
    return found


def _check_rows(file: str, rows: list[dict[str, str]], known: list[dict[str, Any]]) -> None:
    """Check all rows of a table that belong to one run, in their order."""
    if len(rows) != len(known):
        raise ContradictionError(f"{file}: {len(rows)} rows, its trace has {len(known)}")
    for row, wanted in zip(rows, known, strict=True):
        if list(row) != list(wanted):
            odd = sorted(set(map(str, row)) ^ set(wanted)) or ["their order"]
            raise MissingError(
                f"{file}: its columns are of another version or were changed: {', '.join(odd)}"
            )
        for column, value in wanted.items():
            if not _says(row[column], value):
                raise ContradictionError(
                    f"{file}: {column} is {row[column] or 'empty'}, its trace says {value!r}"
                )


def _says(text: str | None, value: Any) -> bool:
    """Whether a field is what is written for a value."""
    if value is None or value != value:
        return text == ""
    if isinstance(value, bool | str) or text is None:
        return text == str(value)
    try:  # pandas writes a column of counts, some of them unknown, as 3.0
        return text == str(value) or float(text) == value
    except ValueError:
        return False


def _wider(made: list[Recorded]) -> Iterator[Verification]:
    """Find runs that were held against wider bounds than other runs of the same problem."""
    gaps: dict[str, list[float]] = {}
    of_problem = [json.dumps(run.header["problem"], sort_keys=True) for run in made]
    own = [math.inf if (gap := run.header["reference_gap"]) is None else gap for run in made]
    for problem, gap in zip(of_problem, own, strict=True):
        gaps.setdefault(problem, []).append(gap)
    for run, problem, gap in zip(made, of_problem, own, strict=True):
        if gap > run.reference_gap and min(gaps[problem]) < gap * (1.0 - BOUNDS_MARGIN):
            reason = "its bounds are wider than was asked, and than those of other runs; run it"
            yield Verification("run", run.header["id"], "not verified", f"{reason} again")


def _machine(folder: Path, machines: set[str]) -> Iterator[Verification]:
    """Check that environment.json describes the machine of the runs."""
    try:
        facts = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        machine = fingerprint_of({key: facts[key] for key in MACHINE})
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        reason = f"cannot be read ({type(error).__name__}: {error})"
        yield Verification("file", "environment.json", "not verified", reason)
        return
    if machines - {machine}:
        reason = "describes another machine than that of the runs"
        yield Verification("file", "environment.json", "does not hold", reason)


def _check_errors(which: str, recorded: float | None, data: Dataset, least: int, most: int) -> None:
    if recorded is None or not least <= round(recorded * data.n_samples) <= most:
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise ContradictionError(
            f"{which} errors are {counts} of {data.n_samples}, recorded as {recorded!r}"
        )


def _check_bounds(least: Bounded, most: Bounded, lower: float, upper: float | None) -> None:
    """Check that the stored pair proves the bounds on P* that a run was measured against."""
    for recorded, proved, other, side in (
        (lower, least, most, 1.0),
        (upper, most, least, -1.0),
    ):
        name = "D_ref" if side > 0.0 else "P_ref"
        if recorded is None or side * (recorded - proved.value) <= proved.rounding:
            continue
        if side * (recorded - other.value) > other.rounding:
            raise ContradictionError(
                f"{name} is recorded as {recorded!r}, but P* lies in "
                f"[{least.value!r}, {most.value!r}]"
            )
        raise MissingError(
            f"{name} {recorded!r} is tighter than the reference in the cache proves; run it again"
        )


def _was_measured(row: Mapping[str, str]) -> bool:
    """Whether a row of runs.csv has a value that only a run gives it."""
    of_runs = ("seconds_to_", "cpu_seconds_to_", "epochs_to_", "data_passes_to_", "train_")
    names = ("primal", "accuracy", "test_error")
    return any(text and (key.startswith(of_runs) or key in names) for key, text in row.items())


# --- the manifest of a published folder --------------------------------------------


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
