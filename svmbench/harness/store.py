"""The results folder: trace files, the tables runs.csv and traces.csv, the environment.

``results/NAME/`` contains the resolved config.yaml, environment.json, runs/*.jsonl, runs.csv,
traces.csv and, if asked for, regret.csv; the report adds tables/, plots/ and report.html.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import math
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from svmbench.durable import (
    is_own_file,
    remove_abandoned,
    replacing,
    require_free,
    require_own,
    write_text,
    writing,
)
from svmbench.errors import ConfigError
from svmbench.harness.plan import Run
from svmbench.harness.rows import regret_rows, run_row, trace_rows
from svmbench.harness.trace import SKIPPED, Trace, read_whole, rename
from svmbench.harness.weights import SUFFIX, growing_weights, weights_are_kept
from svmbench.records.columns import REGRETS, TRACES, Column
from svmbench.records.states import FAULTS, RERUN
from svmbench.reference.optimum import Reference

#: A gap improves another if it is less by this share; a smaller difference may be rounding.
BOUNDS_MARGIN = 1e-9

#: Suffix of a trace while its run is in progress.
GROWING = ".part"

#: Files of a results folder, which has a folder "runs" as well.
_REPLACED = ("runs.csv", "traces.csv", "report.html", "config.yaml", "environment.json", "tables")


#: Columns of runs.csv that tell which runs there are, and their types.
_READ: dict[str, Any] = dict.fromkeys(("id", "dataset", "data_source", "state"), str) | {
    "stand_in": bool,
    "repeat": int,
}


class Store:
    """The results of one sweep on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self._rows: dict[str, _Rows] = {}
        if not ((folder / ".lock").exists() or any(self.runs.glob("*.jsonl"))):
            here = self.runs.is_dir() and not self.runs.is_symlink() and any(self.runs.iterdir())
            kept = ("runs",) if here else ()
            require_free(folder, (*_REPLACED, *kept), ())
        with writing(self.runs):
            try:
                self.runs.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError, FileNotFoundError) as error:
                # A link to nothing, or a file where a folder should be.
                raise ConfigError(
                    f"{self.runs}: cannot be created ({error.strerror}: {error.filename}); choose"
                    " another folder with --out"
                ) from None
        require_own(self.runs)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here; the lock ends with the process that holds it."""
        place = self.folder / ".lock"
        try:
            # Do not follow a link, wait for a pipe, or truncate the file: it has the holder's id.
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with writing(place):
                descriptor = os.open(place, flags, 0o666)
        except OSError as error:
            raise ConfigError(f"{place}: cannot be opened ({error.strerror}); remove it") from None
        with os.fdopen(descriptor, "r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                raise ConfigError(
                    f"{self.folder}: another run is writing here, process "
                    f"{file.read().strip() or 'unknown'}; wait for it or choose another folder "
                    "with --out"
                ) from None
            except OSError as error:  # a network disk without locks
                raise ConfigError(
                    f"{self.folder}: cannot be locked ({error.strerror}); choose a folder on"
                    " another disk with --out"
                ) from None
            with writing(place):
                file.truncate(0)
                file.write(f"{os.getpid()}\n")
                file.flush()
                self._remove_leftovers()
            try:
                yield
            finally:
                self._remove_if_empty(place)

    def _remove_if_empty(self, lock: Path) -> None:
        """Leave no folder of a sweep that came to nothing, such as one whose data are missing."""
        with suppress(OSError):
            if {*self.folder.iterdir()} == {lock, self.runs} and not any(self.runs.iterdir()):
                self.runs.rmdir()
                lock.unlink()
                self.folder.rmdir()

    def _remove_leftovers(self) -> None:
        for pattern in (f"*{GROWING}", "*.tmp"):
            for path in self.runs.glob(pattern):
                with writing(path):
                    path.unlink()
        for folder in (self.folder, self.folder / "tables", self.folder / "plots"):
            remove_abandoned(folder, ".*.tmp")  # a report is written without the lock

    def path(self, run: Run) -> Path:
        """The trace file of a run that has ended."""
        return self.runs / f"{run.id}.jsonl"

    def growing(self, run: Run) -> Path:
        """The trace file of a run in progress; the trace of an earlier run stays in place."""
        return self.runs / f"{run.id}{GROWING}"

    def settle(self, run: Run, trace: Trace) -> None:
        """Move a finished trace and its weights into place; remove those of an earlier run."""
        if trace.weights:
            rename(growing_weights(self.growing(run)), self.path(run).with_suffix(SUFFIX))
        rename(self.growing(run), self.path(run))
        self._rows[run.id] = _rows(run, trace)
        if not trace.weights:
            self.path(run).with_suffix(SUFFIX).unlink(missing_ok=True)

    def finished(
        self, run: Run, retry_faults: bool = False, with_weights: bool = False
    ) -> Trace | None:
        """The trace of a run that need not be repeated: its file is intact and it has ended."""
        trace = self.read(run)
        if trace is None or trace.state in RERUN or trace.header.get("id") != run.id:
            return None
        if trace.header.get("started") is None:
            return None  # whoever has written it, svmbench has not
        if with_weights and not self._keeps_weights(run, trace):
            return None
        if retry_faults and trace.state in FAULTS:
            return None
        self._rows[run.id] = _rows(run, trace)  # traces are read once, and not kept
        return trace

    def is_outdated(self, run: Run, trace: Trace) -> bool:
        """Whether a finished run was held against wider bounds than asked, and there are better."""
        reference, held = run.instance.reference, trace.header.get("reference_gap")
        gap = math.inf if held is None else float(held)
        return gap > run.reference_gap and reference.gap < gap * (1.0 - BOUNDS_MARGIN)

    def _keeps_weights(self, run: Run, trace: Trace) -> bool:
        # A run that died has no weights even if it should keep them, and would die again.
        if not trace.weights:
            return bool(trace.header.get("keep_weights"))
        return weights_are_kept(self.path(run), trace.weights)

    def loss(self, run: Run) -> Literal["damaged", "missing"] | None:
        """Whether the trace of an ended run is damaged or missing; None if neither."""
        path = self.path(run)
        trace = self.read(run)
        if trace is None and path.exists():
            return "damaged"
        if self._listed.get(run.id, "skipped") in ("skipped", *RERUN):
            return None
        if trace is None:
            return "missing"
        return None if trace.end else "damaged"

    def read(self, run: Run) -> Trace | None:
        return read_whole(self.path(run))

    @cached_property
    def _listed(self) -> dict[str, str]:
        """The states that runs.csv had when it was first read, by the ids of the runs."""
        table = listed_in(self.folder)
        return {} if table is None else dict(zip(table["id"], table["state"], strict=True))

    @property
    def skipped_before(self) -> frozenset[str]:
        """Ids of the runs that runs.csv listed as skipped when it was first read."""
        return frozenset(name for name, state in self._listed.items() if state == "skipped")

    @cached_property
    def environment(self) -> dict[str, Any]:
        """What environment.json said when it was first read; empty if there was none."""
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads((self.folder / "environment.json").read_text())
            return found if isinstance(found, dict) else {}
        return {}

    @cached_property
    def order(self) -> int:
        """The seed of the order of runs: as the folder has it, else one drawn at random."""
        found = self.environment.get("order")
        return found if type(found) is int else random.SystemRandom().randrange(1 << 32)

    def write_environment(self, environment: dict[str, Any]) -> None:
        whole = environment | {"order": self.order}
        write_text(self.folder / "environment.json", json.dumps(whole, indent=2) + "\n")

    def export(self, runs: Iterable[Run], skipped: frozenset[str]) -> None:
        """Write the tables of the runs that have a trace; one that would be empty is removed."""
        rows: list[dict[str, Any]] = []
        points, regrets = list[str](), list[str]()
        for run in runs:
            if run.id in skipped:
                rows.append(run_row(run, SKIPPED))
                continue
            found = self._rows_of(run)
            if found is not None:
                rows.append(found.row)
                points.append(found.points)
                regrets.append(found.regrets)
        # If no run was started there is nothing to report; regrets are not always requested.
        # runs.csv is written last: if it lists a run, the other tables have that run too.
        self._write("regret.csv", [_header(REGRETS), *regrets], any(regrets))
        self._write("traces.csv", [_header(TRACES), *points], bool(rows))
        self._write("runs.csv", [pd.DataFrame(rows).to_csv(index=False)], bool(rows))

    def _write(self, name: str, text: list[str], there_is: bool) -> None:
        if not there_is:
            (self.folder / name).unlink(missing_ok=True)
            return
        with replacing(self.folder / name) as file:
            file.writelines(text)

    def _rows_of(self, run: Run) -> _Rows | None:
        """A run's rows of the tables; cached, because tables are written often."""
        known = self._rows.get(run.id)
        if known is None or known.reference is not run.instance.reference:
            trace = self.read(run)
            if trace is None:
                return None
            known = self._rows[run.id] = _rows(run, trace)
        return known


@dataclass(frozen=True)
class _Rows:
    """A run's row of runs.csv, and its lines of the other tables."""

    reference: Reference
    row: dict[str, Any]
    points: str
    regrets: str


def _rows(run: Run, trace: Trace) -> _Rows:
    return _Rows(
        run.instance.reference,
        run_row(run, trace),
        _lines(trace_rows(run, trace)),
        _lines(regret_rows(run, trace)),
    )


def _header(columns: Sequence[Column]) -> str:
    return ",".join(column.name for column in columns) + "\n"


def _lines(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV; pandas would take longer than most runs."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(row.values() for row in rows)
    return text.getvalue()


def listed_in(folder: Path) -> pd.DataFrame | None:
    """What runs.csv says of the runs that there are; None if it cannot be read."""
    listed = folder / "runs.csv"
    if not is_own_file(listed):
        return None
    try:
        return pd.read_csv(listed, usecols=list(_READ), dtype=_READ, na_filter=False)
    except (OSError, ValueError, TypeError, OverflowError):
        return None


def config_in(folder: Path) -> str | None:
    """The text of config.yaml; None if there is none."""
    path = folder / "config.yaml"
    try:
        return path.read_text(encoding="utf-8") if is_own_file(path) else None
    except (OSError, UnicodeDecodeError):
        return None
