"""The trace of a run: JSON lines, appended while it runs.

The first line is the run's header, each checkpoint adds a line, and the last line holds the
end state and a hash of the lines before it. A kill loses at most the line that was being
written, and a damaged file is detected.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
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
    """Appends lines to a run's trace, a new file whose first line is the header."""

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
        """Write the last line."""
        shown = {key: _shown(value) for key, value in facts.items()}
        record = {"kind": "end", "state": state, **shown}
        whole = self._digest.copy()
        whole.update(line_of(record).encode())
        self.append({**record, "sha256": whole.hexdigest()})


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
    whole = _parsed(lines)
    records = whole or _parsed(lines[:-1])
    if not records or records[0].get("schema_version") != SCHEMA_VERSION:
        return None
    ends = [record for record in records if record.get("kind") == "end"]
    if ends and not (ends == whole[-1:] and _is_sound_end(ends[0], lines)):
        return None  # nothing comes after the end
    end = records.pop() if ends else {}
    of_kind: dict[str, list[dict[str, Any]]] = {"regret": [], "weights": [], "point": []}
    for record in records[1:]:
        of_kind.get(str(record.get("kind")), of_kind["point"]).append(record)
    weights = of_kind["weights"][-1] if of_kind["weights"] else {}
    return Trace(records[0], of_kind["point"], end, of_kind["regret"], weights)


def _parsed(lines: Sequence[bytes]) -> list[dict[str, Any]]:
    """A record for each line, all parsed at once; none if any of them is not a record of ours."""
    try:
        records: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return []
    nested = [line.count(b"{") + line.count(b"[") > 1 for line in lines]
    whole = all(line[:1] == b"{" and line.rstrip()[-1:] == b"}" for line in lines)
    sound = whole and len(records) == len(lines) and all(type(each) is dict for each in records)
    deep = sound and any(map(is_too_deep, itertools.compress(records, nested)))
    return records if sound and not deep else []


def _is_sound_end(end: dict[str, Any], lines: Sequence[bytes]) -> bool:
    """Whether the last line is written as this module writes it, with the hash of all lines."""
    try:
        rest = line_of({key: value for key, value in end.items() if key != "sha256"})
        if lines[-1] != line_of(end).encode():
            return False
    except ValueError:  # a number of more digits than are ever written
        return False
    digest = hashlib.sha256(b"".join(lines[:-1]) + rest.encode())
    return end.get("state") in ENDS and end.get("sha256") == digest.hexdigest()


#: What a point has counted so far; it is never unknown.
COUNTS = ("presentations", "updates", "nonzeros", "wall", "cpu")

_OF_POINT, _OF_REGRET = numbers(TRACES, "own"), numbers(REGRETS, "own")
_OF_SOME_POINTS = numbers(RUNS, "first point", "last point")
_OF_HEADER, _OF_END = numbers(RUNS, "header"), numbers(RUNS, "end")


def is_complete(trace: Trace) -> bool:
    """Whether every record has the fields of the tables: no hash protects a run without an end."""
    return (
        _are_numbers([point.get(name) for point in trace.points for name in (*COUNTS, "visits")])
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
    values = [value for record in records for value in map(record.get, names)]
    return _are_numbers([value for value in values if value is not None])


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
    written = read_trace(path)
    temporary = path.with_suffix(".tmp")
    with TraceWriter(temporary, header) as writer:
        for record in [*written.points, *written.regrets] if written is not None else []:
            writer.append(record)
        known = {} if cpu is None else {"process_cpu_seconds": cpu}
        writer.end(state, reason=reason, **known, **facts)
    rename(temporary, path)
    closed = read_trace(path)
    if closed is None:
        raise UnwritableError(f"{path}: cannot be read back; give the same command again")
    return closed


def rename(path: Path, target: Path) -> None:
    """Give a finished trace its final name, on disk, replacing any older file."""
    with writing(target):
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(target)
        sync_folder(target.parent)


def _shown(value: Any) -> Any:
    """A text on one line that can be printed: tables and pages repeat a solver's words."""
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
