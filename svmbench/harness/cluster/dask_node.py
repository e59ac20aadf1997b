"""A node of a Dask cluster as the planner sees it."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from distributed import Client

from svmbench.data.cache import content_hash, packed
from svmbench.durable import replacing
from svmbench.errors import ConfigError
from svmbench.harness.assignment import Assignment
from svmbench.harness.cluster import node
from svmbench.harness.place import Node, NodeLostError
from svmbench.harness.plan import Instance
from svmbench.harness.trace import Trace, read_trace
from svmbench.harness.weights import growing_weights

#: Seconds between two looks at whether a node is still there.
LOOK = 0.5

#: Seconds that the scheduler may take to answer, and a run beyond its end.
SILENCE = 30.0


def workers_of(client: Client) -> dict[str, Any]:
    """What the scheduler knows about its workers, by their addresses.

    `Client.scheduler_info` may answer that there are none: a thread of Dask overwrites its answer.
    """
    try:
        if client.status == "running":
            found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=SILENCE)
            return dict(found["workers"])
    except TimeoutError:
        raise OSError(f"its scheduler does not answer within {SILENCE:g} s") from None
    raise OSError("the connection to its scheduler is lost")


def text_of(error: object) -> str:
    """The first line of an error's message, or the error's kind."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class DaskNode(Node):
    """One node. If it is lost, it takes no further part; another one may have its address.

    - ``lost``: why it takes no further part; empty while it does.
    - ``has_gone``: whether that was no fault of its own: it has ended or could not be reached.
    """

    def __init__(self, client: Client, address: str, name: str, greeting: node.Greeting) -> None:
        self._client, self._address = client, address
        self._rows: set[str] = set()
        self.name, self.greeting = name, greeting
        self.lost, self.has_gone = "", False

    def prepare(self, instance: Instance, stop: threading.Event, end: float) -> None:
        """Have the rows of an instance in the node's cache: its own, generated or sent."""
        for path in (instance.train_path, instance.test_path):
            if path is None or path.name in self._rows or stop.is_set():
                continue
            key, content = path.name, content_hash(path.name)
            if content is None:
                raise ConfigError(f"{key}: the cached rows were removed or damaged; run again")
            has = self._ask(stop, end, node.has_rows, instance.origin, key, content)
            if has is False:
                has = self._ask(stop, end, node.put_rows, packed(key), key, content)
            if has:
                self._rows.add(key)

    def carry_out(
        self, assignment: Assignment, path: Path, stop: threading.Event, end: float
    ) -> Trace | None:
        left = min(end - monotonic(), threading.TIMEOUT_MAX)
        given = self.greeting.token, self.name, asdict(assignment), left
        made = self._ask(stop, end, node.make, *given)
        if made is None:
            return None
        try:
            content, weights = made
            return accept(content, weights, assignment, path)
        except NodeLostError as error:
            raise self._losing(error) from None

    def _ask(self, stop: threading.Event, end: float, function: Any, *given: Any) -> Any:
        """The answer of this node alone; None, and cancelled, if nobody waits for it any more."""
        task = self._client.submit(
            function,
            *given,
            workers=[self._address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        try:
            while not (stop.is_set() or monotonic() > end + SILENCE):
                with suppress(TimeoutError):
                    return task.result(timeout=LOOK)
                if self._address not in workers_of(self._client):
                    self.has_gone = True
                    raise NodeLostError("it has ended or cannot be reached")
            return None
        except Exception as error:  # whatever the node or Dask raises: the node is of no use
            raise self._losing(error) from None
        finally:
            task.cancel()

    def _losing(self, error: BaseException) -> NodeLostError:
        """The error to raise when the node is lost."""
        self.lost = f"node {self.name}: {text_of(error)}"
        return NodeLostError(self.lost)


def accept(content: bytes, weights: bytes, assignment: Assignment, path: Path) -> Trace:
    """Write the files of a run that a node has carried out, unless they were changed on the way."""
    name = assignment.header["id"]
    with replacing(path, "wb") as file:
        file.write(content)
    trace = read_trace(path)
    digest = hashlib.sha256(weights).hexdigest() if weights else None
    if trace is None or not trace.end or trace.header.get("id") != name:
        path.unlink()
        raise NodeLostError(f"its trace of {name} is damaged, or is of another run")
    if trace.weights.get("sha256") != digest:
        path.unlink()
        raise NodeLostError(f"its weights of {name} are not those that the trace names")
    if weights:
        with replacing(growing_weights(path), "wb") as file:
            file.write(weights)
    return trace
