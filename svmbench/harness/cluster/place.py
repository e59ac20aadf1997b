"""The nodes of a Dask cluster as a place for runs; this is the planner's side.

Dask is asked for little: one task at a time for each node, pinned to it, never repeated, its result
fetched at once. Which run goes where, and what becomes of a lost one, is decided here. Only this
side writes to the results folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from distributed import Client

from svmbench.data.cache import content_hash, packed
from svmbench.durable import replacing
from svmbench.errors import ConfigError
from svmbench.harness.assignment import Assignment
from svmbench.harness.cluster import node
from svmbench.harness.place import Node, NodeLostError, Place, Seat
from svmbench.harness.plan import Instance
from svmbench.harness.trace import Trace, read_trace
from svmbench.harness.weights import growing_weights
from svmbench.solvers.installed import build

_log = logging.getLogger(__name__)

#: Seconds to wait for the scheduler, and then for the first node.
PATIENCE = 10.0

#: Seconds that a node may take to say what it is: it imports svmbench first.
SLOW = 120.0

#: Seconds without another node after which the sweep begins.
SETTLING = 3.0

#: Seconds between two looks at whether a node is still there.
LOOK = 0.5

#: Seconds that the scheduler may take to answer, and a run beyond its end.
SILENCE = 30.0


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
        left = min(end - time.monotonic(), threading.TIMEOUT_MAX)
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
            while not (stop.is_set() or time.monotonic() > end + SILENCE):
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


class DaskPlace(Place):
    """The nodes of a cluster, of the same build as this process and of one fingerprint.

    - ``address``: of Dask's scheduler, or the name of its file scheduler.json.
    - ``wait_nodes``: nodes to wait for, however long it takes: those of queued jobs come late.
    """

    def __init__(self, address: str, wait_nodes: int = 0) -> None:
        self._address = address
        self._client = _connected(address)
        self._nodes: dict[str, DaskNode] = {}
        self._out: dict[str, str] = {}  # why nodes are left out, by their tokens
        self._contended = False
        self._machine = ""
        try:
            self._await_many(wait_nodes)
            self._await_nodes()
            self._look_around()
            self._require_nodes()
        except BaseException:
            self._client.close()
            raise

    def __enter__(self) -> DaskPlace:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def machine(self) -> str:
        return self._machine

    @property
    def contended(self) -> bool:
        return self._contended

    @property
    def nodes(self) -> Collection[str]:
        """Names of the nodes that are there now."""
        self._look_around()
        if not self._nodes:
            self._await_nodes()  # Dask's nanny may be starting a dead one again
            self._look_around()
        return {each.name for each in self._nodes.values()}

    def environment(self) -> dict[str, Any]:
        """What the first of the nodes states about itself."""
        self._require_nodes()
        return next(iter(self._nodes.values())).greeting.environment

    def seats(self) -> Sequence[Seat]:
        self._look_around()
        self._require_nodes()
        return [partial(_seat, each) for each in self._nodes.values()]

    def _await_many(self, nodes: int) -> None:
        """Wait for so many nodes, however long it takes."""
        said = -1
        while True:
            with self._scheduler_required():
                there = len(workers_of(self._client))
            if there >= nodes:
                return
            if there != said:
                _log.warning("waiting for %d nodes; %d are there", nodes, there)
            said = there
            time.sleep(1.0)

    def _await_nodes(self) -> None:
        """Wait for the first node, and then until no more come: workers start one by one."""
        with self._scheduler_required(), suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=PATIENCE)
            while True:
                there = len(workers_of(self._client))
                self._client.wait_for_workers(there + 1, timeout=SETTLING)

    @contextmanager
    def _scheduler_required(self) -> Iterator[None]:
        """Say in one line that the scheduler has gone or does not answer."""
        try:
            yield
        except OSError as error:
            raise ConfigError(
                f"cluster {self._address}: {text_of(error)}; is it running?"
            ) from None

    def _require_nodes(self) -> None:
        if not self._nodes:
            why = f" ({'; '.join(sorted(set(self._out.values())))})" if self._out else ""
            raise NodeLostError(
                f"cluster {self._address}: no node is left{why}; start workers (dask worker"
                " ADDRESS), then give the same command again"
            )

    def _look_around(self) -> None:
        """Take note of nodes that have come, and forget those that have gone."""
        lost = [each for each in self._nodes.values() if each.lost and not each.has_gone]
        self._out |= {each.greeting.token: each.lost for each in lost}
        with self._scheduler_required():
            there = workers_of(self._client)
            self._nodes = {
                at: each for at, each in self._nodes.items() if at in there and not each.lost
            }
            new = sorted(set(there).difference(self._nodes), key=lambda at: str(there[at]["name"]))
            names = {at: str(there[at]["name"]) for at in new}
            said = self._client.sync(_greetings, self._client, names) if new else {}
            workers_of(self._client)  # if the scheduler has ended, that is what they all say
        ours = build() if new else ""
        able = {at: self._greeting(str(there[at]["name"]), said.get(at), ours) for at in new}
        greetings = {at: greeting for at, greeting in able.items() if greeting is not None}
        self._require_one_machine({str(there[at]["name"]): g for at, g in greetings.items()})
        begun = bool(self._machine)
        for at, greeting in greetings.items():
            name = str(there[at]["name"])
            shared = greeting.boot in {each.greeting.boot for each in self._nodes.values()}
            if begun and greeting.machine != self._machine:
                self._leave_out(greeting.token, f"node {name}: another machine than the others")
            elif begun and shared and not self._contended:
                self._leave_out(greeting.token, f"node {name}: shares a machine with another node")
            else:
                self._machine, self._contended = greeting.machine, self._contended or shared
                self._nodes[at] = DaskNode(self._client, at, name, greeting)

    def _greeting(self, name: str, said: Any, ours: str) -> node.Greeting | None:
        """What a node has said, if it can take part."""
        if not isinstance(said, node.Greeting):
            silent = said is None or isinstance(said, OSError)  # it may have gone meanwhile
            what = "no answer" if silent else text_of(said)
            self._leave_out(name, f"node {name}: cannot run svmbench ({what})")
            return None
        if said.token in self._out:
            return None
        if said.build != ours:
            reason = f"node {name}: another build of svmbench, Python or a library; install ours"
            self._leave_out(said.token, reason)
            return None
        return said

    def _require_one_machine(self, greetings: dict[str, node.Greeting]) -> None:
        """Refuse to begin a sweep on machines whose times cannot be compared."""
        machines: dict[str, list[str]] = {}
        for name, greeting in greetings.items():
            machines.setdefault(greeting.machine, []).append(name)
        if not self._machine and len(machines) > 1:
            kinds = "; ".join(f"{key}: {', '.join(names)}" for key, names in machines.items())
            raise ConfigError(
                f"cluster {self._address}: its nodes are different machines ({kinds}); stop all but"
                " those of one kind, or start a cluster and a results folder for each kind"
            )

    def _leave_out(self, key: str, reason: str) -> None:
        if key not in self._out:
            _log.warning("%s; it is left out", reason)
        self._out[key] = reason


def _seat(each: DaskNode) -> AbstractContextManager[DaskNode]:
    return nullcontext(each)


async def _greetings(client: Client, names: Mapping[str, str]) -> dict[str, Any]:
    """What nodes say about themselves, or why one says nothing, by their addresses."""
    asked = {
        at: asyncio.ensure_future(client.run(node.greet, workers=[at], asynchronous=True))
        for at in names
    }
    _, slow = await asyncio.wait(asked.values(), timeout=PATIENCE)
    if slow:
        late = ", ".join(names[at] for at, answer in asked.items() if answer in slow)
        _log.warning("slow to import svmbench, and waited for: node %s", late)
        await asyncio.wait(slow, timeout=SLOW - PATIENCE)
    for answer in slow:
        answer.cancel()
    said = await asyncio.gather(*asked.values(), return_exceptions=True)
    return {
        at: each[at] if isinstance(each, dict) else each
        for at, each in zip(asked, said, strict=True)
    }


def _connected(address: str) -> Client:
    # What it says when it loses the scheduler is said here, in one line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Dask itself would wait for ever for a scheduler file that is not there.
        file = address.endswith(".json")
        at = str(json.loads(Path(address).read_text())["address"]) if file else address
        return Client(at, timeout=PATIENCE, set_as_default=False, name="svmbench")
    except (OSError, TimeoutError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(
            f"--cluster {address}: no Dask scheduler there ({text_of(error)}); name the address"
            " that 'dask scheduler' prints, or its scheduler file"
        ) from None


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
