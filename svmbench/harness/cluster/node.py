"""What a node does when Dask calls it: state what it is, receive rows, carry out runs.

A node is a worker process of Dask. It carries out one run at a time, in another process as on any
machine, and stops it as soon as Dask no longer wants the result: the planner was interrupted,
has died or cannot be reached.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import Any, ParamSpec, TypeVar

import dask.config
from distributed import get_worker

from svmbench.data.cache import content_hash
from svmbench.data.load import load
from svmbench.data.moved import Piece, admit, forget, receive
from svmbench.errors import SvmbenchError
from svmbench.harness.assignment import Assignment, own_solver_of
from svmbench.harness.environment import environment, fingerprint
from svmbench.harness.place import NodeLostError
from svmbench.harness.plan import Origin
from svmbench.harness.processes import Worker
from svmbench.harness.supervise import carry_out
from svmbench.harness.system import PROC, read
from svmbench.harness.weights import SUFFIX
from svmbench.solvers.installed import build
from svmbench.solvers.registry import add_file

#: Tells this process from one that is started at the same address later.
TOKEN = secrets.token_hex(16)

#: Entries of a trace's first line that the node states itself.
STATED_BY_NODE = ("started", "load_average", "node")

#: Seconds after which a node notices that the result of its run is not wanted any more.
NOTICED = 0.2

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_worker: Worker | None = None
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Greeting:
    """What a node is."""

    token: str  # identifies its process
    boot: str  # the same for all nodes of a machine
    machine: str  # the machine's fingerprint
    build: str  # hash of all that is installed and could change a run
    environment: dict[str, Any]  # as it is recorded with the results of a sweep


@dataclass(frozen=True)
class Made:
    """A run that was carried out."""

    # trace, weights: the contents of its files; no weights unless they were to be kept
    trace: bytes
    trace_sha256: str  # trace_sha256, weights_sha256: their hashes
    weights: bytes
    weights_sha256: str


def _in_words(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Turn any error into one that can travel: others may not be picklable, and never arrive."""

    @wraps(function)
    def answer(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            known = isinstance(error, SvmbenchError | OSError)
            said = str(error) if known else repr(error)
        # Raised here, it has no context: Dask would try to send that, too.
        raise NodeLostError(said)

    return answer


def greet() -> Greeting:
    """State what this node is; give the processes of its runs the environment of local ones."""
    remove_settings_of_dask()
    boot = read(PROC / "sys" / "kernel" / "random" / "boot_id") or os.uname().nodename
    return Greeting(TOKEN, boot.strip(), fingerprint(), build(), environment())


def remove_settings_of_dask() -> None:
    """Remove the environment variables with which Dask's nanny has started this process.

    Those for malloc change times; those for the threads of numerical libraries are set for each
    run anyway. A variable that has another value than Dask's is the user's, and stays.
    """
    given: dict[str, Any] = dask.config.get("distributed.nanny.pre-spawn-environ", {}) | (
        dask.config.get("distributed.nanny.environ", {})
    )
    for name, value in given.items():
        if os.environ.get(name) == str(value):
            del os.environ[name]
    os.environ.pop("DASK_INTERNAL_INHERIT_CONFIG", None)


def is_waiting(key: str, dask_worker: Any) -> bool:
    """Whether a task waits for this node's working thread, which executes another one.

    Dask itself gives its worker to what its main thread executes, by the parameter's name.
    """
    task = dask_worker.state.tasks.get(key)
    return task is not None and task.state == "ready"


@_in_words
def has_rows(key: str, content: str) -> bool:
    """Whether the cache has rows.

    Raises NodeLostError if it has others under that key.
    """
    found = content_hash(key)
    if found not in (None, content):
        raise NodeLostError(f"other rows in its cache under {key}; delete that entry there")
    return found is not None


@_in_words
def make_rows(origin: Origin, key: str, content: str) -> bool:
    """Read or generate rows by the catalogue, without the network; whether that has worked."""
    try:
        load(origin.source, offline=True, stand_in=origin.stand_in)
    except SvmbenchError:
        return False  # the planner sends them
    return has_rows(key, content)


@_in_words
def take_piece(mark: str, piece: Piece) -> None:
    """Keep a piece of rows that the planner sends."""
    receive(mark, piece)


@_in_words
def forget_rows(mark: str) -> None:
    """Remove the pieces that have come of rows that the planner does not need any more."""
    forget(mark)


@_in_words
def admit_rows(mark: str, key: str, content: str) -> None:
    """Put rows whose pieces have come into the cache."""
    admit(mark, key, content)


@_in_words
def make(token: str, name: str, sweep: str, sent: dict[str, Any], seconds: float) -> Made | None:
    """Carry out a run.

    Raises NodeLostError when the planner knew another process by this name.
    """
    global _worker
    if token != TOKEN:
        raise NodeLostError("its process was replaced")
    end, stop = monotonic() + seconds, threading.Event()
    given = Assignment(**sent)
    stated = {
        "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "load_average": os.getloadavg()[0],
        "node": name,
    }
    here = replace(given, header=given.header | stated)
    folder = _folder() / sweep
    path = folder / f"{given.header['id']}.part"
    with _stopped_when_unwanted(stop), _alone(stop):
        if stop.is_set():
            return None
        folder.mkdir(parents=True, exist_ok=True)
        _know(given)
        if _worker is None:
            _worker = Worker()
        _worker.expect(own_solver_of(given))
        try:
            trace = carry_out(here, path, stop, end, _worker)
            return None if trace is None else _made(path)
        finally:
            for left in (path, path.with_suffix(SUFFIX)):
                left.unlink(missing_ok=True)


@_in_words
def rest(token: str) -> None:
    """End the process that a run has left open for the next."""
    with _one_at_a_time:
        if token == TOKEN and _worker is not None:
            _worker.end()


@_in_words
def leave(token: str, sweeps: Collection[str]) -> None:
    """Forget sweeps, and end the launcher that has started their processes."""
    global _worker
    with _one_at_a_time:
        if token == TOKEN and _worker is not None:
            worker, _worker = _worker, None
            with worker:
                pass
        for sweep in sweeps:
            shutil.rmtree(_folder() / sweep, ignore_errors=True)


def _folder() -> Path:
    """A folder that Dask removes with the worker."""
    return Path(get_worker().local_directory) / "svmbench"


def _know(given: Assignment) -> None:
    """Load the user's own file that defines the solver, if one does."""
    place = Path(given.work["solver_class"].rpartition(":")[0])
    if place.is_absolute():
        add_file(place)


def _made(path: Path) -> Made:
    trace, kept = path.read_bytes(), path.with_suffix(SUFFIX)
    weights = kept.read_bytes() if kept.exists() else b""
    return Made(
        trace, hashlib.sha256(trace).hexdigest(), weights, hashlib.sha256(weights).hexdigest()
    )


@contextmanager
def _stopped_when_unwanted(stop: threading.Event) -> Iterator[None]:
    """Set an event when Dask has cancelled the task that this thread executes, or ends."""
    worker, done = get_worker(), threading.Event()
    key = worker.get_current_task()

    def watch() -> None:
        while not done.wait(NOTICED):
            task = worker.state.tasks.get(key)
            if task is None or task.state != "executing" or worker.status.name in _ENDING:
                stop.set()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


#: Names of the states in which a worker of Dask ends.
_ENDING = ("closing", "closed", "failed")


@contextmanager
def _alone(stop: threading.Event) -> Iterator[None]:
    """Wait until no other planner's run is in progress on this node, or this one is stopped."""
    held = False
    while not held and not stop.is_set():
        held = _one_at_a_time.acquire(timeout=NOTICED)
    try:
        yield
    finally:
        if held:
            _one_at_a_time.release()
