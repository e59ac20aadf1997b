"""What a node does when Dask calls it: state what it is, receive rows, carry out runs.

A node is a worker process of Dask. It carries out one run at a time, in another process as on any
machine, and stops it as soon as Dask no longer wants the result: the planner was interrupted,
has died or cannot be reached.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ParamSpec, TypeVar

import dask.config
from distributed import get_worker

from svmbench.data.cache import admit, content_hash
from svmbench.data.load import load
from svmbench.errors import SvmbenchError
from svmbench.harness.assignment import Assignment, own_solver_of
from svmbench.harness.environment import environment, fingerprint
from svmbench.harness.place import NodeLostError
from svmbench.harness.plan import Origin
from svmbench.harness.processes import Worker
from svmbench.harness.supervise import carry_out
from svmbench.harness.system import PROC, read
from svmbench.harness.weights import growing_weights
from svmbench.solvers.installed import build
from svmbench.solvers.registry import add_file

#: Tells this process from one that is started at the same address later.
TOKEN = secrets.token_hex(16)

#: Seconds after its last run at which a node ends the processes that served runs: the planner may
#: have more of them, has ended, or cannot be reached.
IDLE = 10.0

#: Seconds after which a node notices that the result of its run is not wanted any more.
NOTICED = 0.2

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_worker: Worker | None = None
_last_run = 0.0
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Greeting:
    token: str  # identifies its process
    boot: str  # the same for all nodes of a machine
    machine: str  # the machine's fingerprint
    build: str  # hash of all that is installed and could change a run
    environment: dict[str, Any]  # as it is recorded with the results of a sweep


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
    """Remove variables that Dask's nanny has set, which change times; the user's own stay."""
    given: dict[str, Any] = dask.config.get("distributed.nanny.pre-spawn-environ", {}) | (
        dask.config.get("distributed.nanny.environ", {})
    )
    for name, value in given.items():
        if os.environ.get(name) == str(value):
            del os.environ[name]
    os.environ.pop("DASK_INTERNAL_INHERIT_CONFIG", None)


@_in_words
def has_rows(origin: Origin | None, key: str, content: str) -> bool:
    """Whether the cache has rows, or can have them by the catalogue without the network.

    Raises NodeLostError if it has others under that key.
    """
    if content_hash(key) is None and origin is not None:
        with suppress(SvmbenchError):  # the planner sends them
            load(origin.source, offline=True, stand_in=origin.stand_in)
    found = content_hash(key)
    if found not in (None, content):
        raise NodeLostError(f"other rows in its cache under {key}; delete that entry there")
    return found is not None


@_in_words
def put_rows(files: dict[str, bytes], key: str, content: str) -> bool:
    """Put rows that the planner sends into the cache."""
    admit(files, key, content)
    return True


@_in_words
def make(token: str, name: str, sent: dict[str, Any], seconds: float) -> tuple[bytes, bytes] | None:
    """Carry out a run, and return its trace and its weights, if they are kept."""
    global _worker, _last_run
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
    folder = Path(get_worker().local_directory) / "svmbench"  # Dask removes it with the node
    path = folder / f"{given.header['id']}.part"
    with _stopped_when_unwanted(stop), _one_at_a_time:
        if stop.is_set():
            return None
        folder.mkdir(exist_ok=True)
        _know(given)
        if _worker is None:
            _worker = Worker()
            threading.Thread(target=_end_when_idle, daemon=True).start()
        _worker.expect(own_solver_of(given))
        kept = growing_weights(path)
        try:
            if carry_out(here, path, stop, end, _worker) is None:
                return None
            return path.read_bytes(), kept.read_bytes() if kept.exists() else b""
        finally:
            _last_run = monotonic()
            for left in (path, kept):
                left.unlink(missing_ok=True)


def _end_when_idle() -> None:
    """End the processes that serve runs once there have been none for a while."""
    global _worker
    while _worker is not None:
        sleep(IDLE / 2)
        with _one_at_a_time:
            if _worker is not None and monotonic() > _last_run + IDLE:
                with _worker:
                    _worker = None


def _know(given: Assignment) -> None:
    """Load the user's own file that defines the solver, if one does."""
    place = Path(given.work["solver_class"].rpartition(":")[0])
    if place.is_absolute():
        add_file(place)


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
