"""A node of a Dask cluster as the planner sees it, and whether there are signs of life of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import secrets
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future as Begun
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from distributed import Client, Future

from svmbench.data.cache import content_hash
from svmbench.data.moved import pieces
from svmbench.durable import replacing
from svmbench.errors import ConfigError
from svmbench.harness.assignment import Assignment
from svmbench.harness.cluster import node
from svmbench.harness.place import Node, NodeLostError
from svmbench.harness.plan import Instance
from svmbench.harness.trace import Trace, read_trace
from svmbench.harness.weights import SUFFIX

_log = logging.getLogger(__name__)

#: Seconds between two looks at whether the nodes are still there.
LOOK = 1.0

#: Seconds without a sign of life after which a node, or the scheduler, is lost. Dask itself waits
#: for five minutes if a node's connection stays open, as it does if its process is stopped.
SILENCE = 30.0

#: Seconds after which an interruption by the user is noticed.
POLL = 0.2

#: Seconds that a call of a node may take, other than a run, from when the node begins it.
ANSWER = 600.0

#: Seconds after which a node is asked whether it has begun a call.
BUSY = 5.0

#: Seconds that taking leave of a node may take; another planner's run may occupy it for hours.
COURTESY = 3.0


def workers_of(client: Client) -> dict[str, Any]:
    """What the scheduler knows about its workers, by their addresses.

    `Client.scheduler_info` may answer that there are none: another thread of Dask asks for a
    summary without workers every two seconds, and both keep their answers in the same place.

    Raises OSError if the scheduler has gone or stands still: Dask would wait for it for ever.
    """
    require_scheduler(client)
    try:
        found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=SILENCE)
    except TimeoutError:
        raise OSError(f"its scheduler does not answer within {SILENCE:g} s") from None
    return dict(found["workers"])


def require_scheduler(client: Client) -> None:
    """Notice that the connection is lost: Dask's client then answers as if there were nothing.

    Raises OSError if it is.
    """
    if client.status != "running":
        raise OSError("the connection to its scheduler is lost")


async def _result_of(task: Awaitable[Any]) -> Any:
    return await task


async def run_on(client: Client, address: str, function: Any, given: Sequence[Any]) -> Any:
    """What a node's main thread answers."""
    answers = await client.run(function, *given, workers=[address])
    return answers[address]


def text_of(error: object) -> str:
    """The first line of an error's message, with the rest of its sentence, or the error's kind."""
    lines = str(error).strip().splitlines()
    ends = next((k for k, line in enumerate(lines[1:], 1) if not line[:1].islower()), len(lines))
    return " ".join(lines[:ends]) or type(error).__name__


class Attendance:
    """Which nodes the scheduler hears of, asked for all of them together."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._looked = -math.inf
        self._heard: dict[str, float] = {}  # by the scheduler's clock
        self._silent: dict[str, float] = {}

    def require(self, address: str) -> None:
        """Notice a node that has gone or is silent: Dask would wait until it comes back."""
        with self._lock:
            if monotonic() - self._looked >= LOOK:
                self._look()
            if address not in self._silent:
                raise AbsentError("it has ended or cannot be reached")
            if self._silent[address] > SILENCE:
                raise AbsentError(f"no sign of life for {SILENCE:g} s")

    def _look(self) -> None:
        try:
            workers = workers_of(self._client)
        except OSError:
            self._silent, self._looked = {}, monotonic()  # nobody else is to wait for it now
            raise
        # If this process was stopped itself, that is no silence of theirs.
        passed = min(monotonic() - self._looked, 2.0 * LOOK)
        heard = {at: each["last_seen"] for at, each in workers.items()}
        self._silent = {
            at: self._silent.get(at, 0.0) + passed if self._heard.get(at) == moment else 0.0
            for at, moment in heard.items()
        }
        self._heard, self._looked = heard, monotonic()


class Queue:
    """Whether a task waits on its node, asked now and then until it has begun.

    - ``ask``: begins to ask.
    """

    def __init__(self, ask: Callable[[], Begun[Any]]) -> None:
        self._ask, self._asked = ask, monotonic()
        self._asking: Begun[Any] | None = None
        self._over = False

    def holds(self) -> bool:
        """Whether it has waited since the last question; a node that does not answer is silent."""
        if self._asking is None:
            if not self._over and monotonic() > self._asked + BUSY:
                self._asking = self._ask()
            return False
        if not self._asking.done():
            return False
        answer, self._asking, self._asked = self._asking, None, monotonic()
        waits = answer.exception() is None and bool(answer.result())
        self._over = not waits
        return waits


class AbsentError(NodeLostError):
    """A node has ended or cannot be reached. If it answers again, it is as good as any other."""


class DaskNode(Node):
    """One node. If it is lost, it takes no further part; another one may have its address.

    - ``address``: of its worker.
    - ``mark``: distinguishes this planner from all others.
    - ``lost``: why it takes no further part; empty while it does.
    - ``was_absent``: whether that was no fault of its own: it has ended or could not be reached.
    """

    def __init__(
        self,
        client: Client,
        address: str,
        name: str,
        mark: str,
        greeting: node.Greeting,
        attendance: Attendance,
    ) -> None:
        self._client = client
        self._address = address
        self._mark = mark
        self._attendance = attendance
        self._rows: set[str] = set()
        self._sweeps: set[str] = set()
        self.name = name
        self.greeting = greeting
        self.lost = ""
        self.was_absent = False
        self._said_busy = False

    def prepare(self, instance: Instance, stop: threading.Event, end: float) -> None:
        """Have the rows of an instance in the node's cache: its own, generated or sent."""
        for path in (instance.train_path, instance.test_path):
            if path is not None and path.name not in self._rows:
                stopped = _over(stop, end)
                self._have_rows(path.name, instance, stopped)
                if stopped():
                    return
                self._rows.add(path.name)

    def _have_rows(self, key: str, instance: Instance, stopped: Callable[[], bool]) -> None:
        content = content_hash(key)
        if content is None:
            raise ConfigError(f"{key}: the cached rows were removed or damaged; run again")
        if self._ask(node.has_rows, key, content, stopped=stopped):
            return
        if instance.origin and self._ask(
            node.make_rows, instance.origin, key, content, stopped=stopped
        ):
            return
        mark = secrets.token_hex(8)
        for piece in pieces(key):
            if stopped():
                self._tell(node.forget_rows, mark)
                return
            self._tell(node.take_piece, mark, piece)
        self._ask(node.admit_rows, mark, key, content, stopped=stopped)

    def carry_out(
        self, assignment: Assignment, path: Path, stop: threading.Event, end: float
    ) -> Trace | None:
        """Carry out a run on the node, and write its trace and weights here."""
        sweep = f"{self._mark}-{hashlib.sha256(bytes(path.parent.resolve())).hexdigest()[:16]}"
        self._sweeps.add(sweep)
        left = min(end - monotonic(), threading.TIMEOUT_MAX)
        token = self.greeting.token
        given = token, self.name, sweep, asdict(assignment), left
        made = self._ask(node.make, *given, stopped=_over(stop, end), patience=math.inf)
        if made is None:
            return None
        try:
            return accept(made, assignment, path)
        except NodeLostError as error:
            raise self._losing(error) from None

    def rest(self) -> None:
        """End the process that runs have left open on the node for the next."""
        self._say_goodbye(node.rest, self.greeting.token)

    def take_leave(self) -> None:
        """End all processes that runs have needed, and remove their folders."""
        if self._sweeps:
            self._say_goodbye(node.leave, self.greeting.token, sorted(self._sweeps))

    def _say_goodbye(self, function: Any, *given: Any) -> None:
        """Have the node clear up. If another planner occupies it, that one clears up later."""
        until = monotonic() + COURTESY
        with suppress(NodeLostError):
            if not self.lost:
                self._ask(function, *given, stopped=lambda: monotonic() > until)

    def _ask(
        self,
        function: Any,
        *given: Any,
        stopped: Callable[[], bool] = bool,
        patience: float = ANSWER,
    ) -> Any:
        """The answer of the node's working thread, which can take long; None if it was stopped.

        The task is cancelled on the way out, whatever happens; the node then stops its run.
        """
        task = self._submit(function, *given)
        try:
            return self._awaited(self._coming(_result_of(task)), stopped, patience, task.key)
        finally:
            task.cancel()

    def _submit(self, function: Any, *given: Any) -> Future:
        """Give Dask a task for this node alone, which is never repeated."""
        return self._client.submit(
            function,
            *given,
            key=f"svmbench-{function.__name__}-{secrets.token_hex(8)}",
            workers=[self._address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )

    def _tell(self, function: Any, *given: Any) -> Any:
        """Have the node's main thread do something quick."""
        return self._awaited(
            self._coming(run_on(self._client, self._address, function, given)), patience=ANSWER
        )

    def _coming(self, coming: Coroutine[Any, Any, Any]) -> Begun[Any]:
        """Have Dask's thread wait for something."""
        return asyncio.run_coroutine_threadsafe(coming, self._client.loop.asyncio_loop)

    def _awaited(
        self,
        answer: Begun[Any],
        stopped: Callable[[], bool] = bool,
        patience: float = ANSWER,
        key: str = "",
    ) -> Any:
        """What the node answers, while it is there; None if it was stopped.

        With the key of a task, patience is counted from when the node begins the task.
        """
        begun, queue = monotonic(), Queue(partial(self._waits, key)) if key else None
        try:
            while not wait([answer], POLL).done:
                if stopped():
                    return None
                if queue is not None and queue.holds():
                    begun = monotonic()
                    self._say_that_it_is_busy()
                if monotonic() > begun + patience:
                    raise TimeoutError(f"no answer within {patience:g} s")
                self._attendance.require(self._address)
            return answer.result()
        except Exception as error:  # whatever the node or Dask raises: the node is of no use
            raise self._losing(error) from None

    def _waits(self, key: str) -> Begun[Any]:
        return self._coming(run_on(self._client, self._address, node.is_waiting, [key]))

    def _say_that_it_is_busy(self) -> None:
        if not self._said_busy:
            self._said_busy = True
            _log.warning("node %s: another planner occupies it; waiting for its turn", self.name)

    def _losing(self, error: BaseException) -> NodeLostError:
        """The error to raise when the node is lost."""
        if not self.lost:
            self.lost = f"node {self.name}: {text_of(error)}"
            self.was_absent = isinstance(error, AbsentError)
        return NodeLostError(self.lost)


def _over(stop: threading.Event, end: float) -> Callable[[], bool]:
    """Whether nobody waits for a run any more: a node may be occupied beyond its end."""
    return lambda: stop.is_set() or monotonic() > end + SILENCE


def accept(made: node.Made, assignment: Assignment, path: Path) -> Trace:
    """Write the files of a run that a node has carried out.

    Raises NodeLostError if they were changed on the way, or are not those of the assignment.
    """
    name = assignment.header["id"]
    sent = {made.trace_sha256: made.trace, made.weights_sha256: made.weights}
    if any(hashlib.sha256(content).hexdigest() != digest for digest, content in sent.items()):
        raise NodeLostError(f"the files of {name} were changed on the way")
    with replacing(path, "wb") as file:
        file.write(made.trace)
    trace = read_trace(path)
    if trace is None or not trace.end or _unlike(trace.header, assignment.header):
        path.unlink()
        raise NodeLostError(f"its trace of {name} is damaged, or is of another run")
    if (trace.weights.get("sha256") if trace.weights else None) != (
        made.weights_sha256 if made.weights else None
    ):
        path.unlink()
        raise NodeLostError(f"its weights of {name} are not those that the trace names")
    if made.weights:
        with replacing(path.with_suffix(SUFFIX), "wb") as file:
            file.write(made.weights)
    return trace


def _unlike(header: dict[str, Any], sent: dict[str, Any]) -> bool:
    """Whether a trace's first line is not the one that was sent."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in sent.items()
    }
    wanted = json.loads(json.dumps(finite))
    return any(
        header.get(key) != value for key, value in wanted.items() if key not in node.STATED_BY_NODE
    )
