"""The trace of a run: JSON lines, appended while it runs.

The first line is the run's header, each checkpoint adds a line, and the last line holds the
end state and a hash of the lines before it. A kill loses at most the line that was being
written, and a damaged file is detected.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from svmbench.durable import is_own_file, sync_folder, writing
from svmbench.errors import UnwritableError
from svmbench.records.columns import REGRETS, RUNS, TRACES, numbers
from svmbench.records.states import ENDS
from svmbench.records.values import is_too_deep, moment_in

SCHEMA_VERSION = 1

#: Characters that are kept of a reason or of a solver's remark.
LONGEST_TEXT = 2000


class TraceWriter:
    """Appends lines to a run's trace.

    - ``path``: overwritten if it exists.
    - ``header``: the run's identity and everything needed to read the points.

    Raises UnwritableError: from any method, when the disk is full or not writable.
    """

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        with writing(path):
            path.unlink(missing_ok=True)
            self._file = path.open("x", encoding="utf-8")  # never into the target of a link
        self.append({"kind": "run", "schema_version": SCHEMA_VERSION, **header})

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with writing(self._path):
            self._file.close()

    def append(self, record: dict[str, Any]) -> None:
        """Write one line and pass it to the operating system."""
        line = line_of(record)
        self._digest.update(line.encode())
        with writing(self._path):
            self._file.write(line)
            self._file.flush()

    def end(self, state: str, **facts: Any) -> None:
        """Write the last line, and flush the file to disk."""
        shown = {key: _shown(value) for key, value in facts.items()}
        record = {"kind": "end", "state": state, **shown}
        whole = self._digest.copy()
        whole.update(line_of(record).encode())
        self.append({**record, "sha256": whole.hexdigest()})
        with writing(self._path):
            os.fsync(self._file.fileno())


@dataclass(frozen=True)
class Trace:
    header: dict[str, Any]
    points: list[dict[str, Any]] = field(default_factory=list)  # in the order of the run
    # empty while the run has not ended, or if it was killed
    end: dict[str, Any] = field(default_factory=dict)
    # the regret after ascending numbers of steps, if it was requested
    regrets: list[dict[str, Any]] = field(default_factory=list)
    # file name and hash of the final weights, if they were kept
    weights: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """One of `svmbench.records.states.ENDS`; 'interrupted' if the trace has no end."""
        return str(self.end.get("state", "interrupted"))

    @property
    def reached(self) -> list[dict[str, Any]]:
        """The points that count as results: none if the run was refused."""
        return [] if self.end.get("refused") else self.points


#: The trace of a run that was skipped: nothing is known but that.
SKIPPED = Trace({}, [], {"state": "skipped"})


def read_trace(path: Path) -> Trace | None:
    """The trace in that file; None if there is none or it is damaged.

    An incomplete last line, which a kill can leave, is not damage; the run has not ended then.
    """
    if not is_own_file(path):
        return None
    found = path.stat()
    return _read_trace(path, (found.st_ino, found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=16)
def _read_trace(path: Path, _state: tuple[int, ...]) -> Trace | None:
    """A trace that is read several times as its run ends is parsed once."""
    lines = path.read_bytes().splitlines(keepends=True)
    digest = hashlib.sha256()
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if records and records[-1].get("kind") == "end":
            return None  # nothing comes after the end
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines) and records:
                break
            return None
        deep = line.count(b"{") + line.count(b"[") > 1 and is_too_deep(record)
        if not isinstance(record, dict) or deep:
            return None
        if record.get("kind") == "end" and not _is_sound_end(record, line, digest):
            return None
        digest.update(line)
        records.append(record)
    if not records or records[0].get("schema_version") != SCHEMA_VERSION:
        return None
    end = records.pop() if records[-1].get("kind") == "end" else {}
    of_kind: dict[str, list[dict[str, Any]]] = {"regret": [], "weights": [], "point": []}
    for record in records[1:]:
        of_kind.get(str(record.get("kind")), of_kind["point"]).append(record)
    weights = of_kind["weights"][-1] if of_kind["weights"] else {}
    return Trace(records[0], of_kind["point"], end, of_kind["regret"], weights)


def _is_sound_end(record: dict[str, Any], line: bytes, before: hashlib._Hash) -> bool:
    """Whether a last line's hash matches the lines before it and the line itself.

    The line must be written as this module writes it: another reader could understand a line with
    duplicate keys differently.
    """
    whole = before.copy()
    try:
        rest = line_of({key: value for key, value in record.items() if key != "sha256"})
        if line != line_of(record).encode():
            return False
    except ValueError:  # a number of more digits than are ever written
        return False
    whole.update(rest.encode())
    return record.get("state") in ENDS and record.get("sha256") == whole.hexdigest()


#: What a point has counted so far; it is never unknown.
COUNTS = ("presentations", "updates", "nonzeros", "wall", "cpu")

_OF_POINT, _OF_REGRET = numbers(TRACES, "own"), numbers(REGRETS, "own")
_OF_SOME_POINTS = (*numbers(RUNS, "first point", "last point", "all points"), "visits")
_OF_HEADER, _OF_END = numbers(RUNS, "header"), numbers(RUNS, "end")


def is_complete(trace: Trace) -> bool:
    """Whether every record has the fields of the tables: no hash protects a run without an end."""
    return (
        all(_are_numbers([point.get(name) for point in trace.points]) for name in COUNTS)
        and _have(trace.points, _OF_POINT)
        and _are_numbers_or_unknown(trace.points, (*_OF_POINT, *_OF_SOME_POINTS))
        and _have(trace.regrets, _OF_REGRET)
        and _are_numbers_or_unknown(trace.regrets, _OF_REGRET)
        and _are_numbers_or_unknown([trace.header], _OF_HEADER)
        and _are_numbers_or_unknown([trace.end], _OF_END)
        and _is_moment_or_unknown(trace.header.get("started"))
        and isinstance(trace.header.get("node"), str | None)
    )


def read_whole(path: Path) -> Trace | None:
    """The trace in that file, with every field of the tables; None if it is missing or damaged."""
    trace = read_trace(path)
    return trace if trace is not None and is_complete(trace) else None


def _have(records: Sequence[dict[str, Any]], names: Collection[str]) -> bool:
    return all(record.keys() >= set(names) for record in records)


def _are_numbers_or_unknown(records: Sequence[dict[str, Any]], names: Sequence[str]) -> bool:
    for name in names:
        values = [record.get(name) for record in records]
        if not _are_numbers([value for value in values if value is not None]):
            return False
    return True


def _is_moment_or_unknown(value: Any) -> bool:
    if value is None:
        return True
    try:
        moment_in(value)
    except (ValueError, TypeError):
        return False
    return True


def _are_numbers(values: list[Any]) -> bool:
    """Whether they are finite, each of type int or float; whole lists are tested at once."""
    try:
        return {*map(type, values)} <= {float, int} and all(map(math.isfinite, values))
    except OverflowError:  # an int beyond any float
        return False


def close_trace(
    path: Path,
    header: dict[str, Any],
    state: str,
    reason: str,
    cpu: float | None = None,
    **facts: Any,
) -> Trace:
    """Close the trace of a worker that died, keep what it wrote, and return it."""
    written = read_trace(path)
    temporary = path.with_suffix(".tmp")
    with TraceWriter(temporary, header) as writer:
        for record in [*written.points, *written.regrets] if written is not None else []:
            writer.append(record)
        known = {} if cpu is None else {"process_cpu_seconds": cpu}
        writer.end(state, reason=reason, **known, **facts)
    rename(temporary, path)
    return _read_back(path)


def add_to_end(path: Path, trace: Trace, **facts: Any) -> Trace:
    """Add facts to the last line of a trace that has ended, and return it with them.

    If this is interrupted, the trace is one without an end.
    """
    with writing(path), path.open("r+b") as file:
        *before, last = file.read().splitlines(keepends=True)
        record = {"kind": "end", **trace.end, **facts}
        del record["sha256"]
        digest = hashlib.sha256(b"".join(before) + line_of(record).encode())
        file.seek(-len(last), os.SEEK_END)
        file.truncate()
        record["sha256"] = digest.hexdigest()
        file.write(line_of(record).encode())
        file.flush()
        os.fsync(file.fileno())
    return replace(trace, end=record)


def _read_back(path: Path) -> Trace:
    """A trace that was written a moment ago."""
    written = read_trace(path)
    if written is None:
        raise UnwritableError(f"{path}: cannot be read back; give the same command again")
    return written


def rename(path: Path, target: Path) -> None:
    """Give a finished trace its final name, replacing any older file."""
    with writing(target):
        path.replace(target)
        sync_folder(target.parent)


def _shown(value: Any) -> Any:
    """A text on one line that can be printed, of at most `LONGEST_TEXT` characters.

    Tables and pages repeat it. A solver's words may have line ends, which would divide a row of a
    table in some readers, and characters that no file in UTF-8 can hold.
    """
    if not isinstance(value, str):
        return value
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}"
        for c in value[:LONGEST_TEXT]
    )


def line_of(record: dict[str, Any]) -> str:
    try:
        return _encoded(record) + "\n"
    except ValueError:  # inf or nan
        return json.dumps({key: _finite(value) for key, value in record.items()}) + "\n"


_encoded = json.JSONEncoder(allow_nan=False).encode


def _finite(value: Any) -> Any:
    """The value, or None for inf and nan, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
