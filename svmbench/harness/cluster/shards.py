"""One problem over the nodes of a Dask cluster: an executor for the methods on shards.

Each node keeps its shards in an actor of Dask, which this process asks directly, without the
scheduler. Dask loses an actor with its node. Methods on shards are deterministic, so that a lost
shard is made again on another node and repeats all calls so far; nobody else has to wait for more.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from svmbench.harness.cluster.dask_node import DaskNode
from svmbench.harness.cluster.place import DaskPlace
from svmbench.harness.place import NodeLostError
from svmbench.memory import available_memory
from svmbench.solvers.distributed.executor import (
    Executor,
    MakeShard,
    ShardError,
    memory_to_send,
    require_room_to_send,
    size_of,
)

_log = logging.getLogger(__name__)


class ShardCall(NamedTuple):
    """A call of a shard.

    Parameters
    ----------
    number : int
        The shard's.
    method : str
    arguments : tuple
    """

    number: int
    method: str
    arguments: tuple[Any, ...]


class ShardKeeper:
    """The shards that a node keeps, as an actor there."""

    def __init__(self) -> None:
        self._shards: dict[int, Any] = {}

    def make(self, pickled: bytes) -> str:
        """Make a shard and repeat calls of it.

        Parameters
        ----------
        pickled : bytes
            The shard's number, its maker and a list of `ShardCall`.

        Returns
        -------
        str
            What has failed; empty if nothing has.
        """
        number, make, journal = pickle.loads(pickled)
        try:
            self._shards[number] = make()
            for asked in journal:
                self._answer(asked)
        except Exception as error:  # Dask would take it for its own
            return _said(number, error)
        return ""

    def call(self, pickled: bytes) -> list[Any] | str:
        """The answers to a pickled list of `ShardCall`, or what has failed."""
        found = []
        for asked in pickle.loads(pickled):
            try:
                found.append(self._answer(asked))
            except Exception as error:
                return _said(asked.number, error)
        return found

    def _answer(self, asked: ShardCall) -> Any:
        return getattr(self._shards[asked.number], asked.method)(*asked.arguments)


def _said(number: int, error: Exception) -> str:
    return f"shard {number}: {type(error).__name__}: {error}"


class _Host:
    """A node with its actor, seen from here."""

    def __init__(self, node: DaskNode) -> None:
        self.node = node
        self._actor = node.actor(ShardKeeper)

    def begin(self, method: str, value: object) -> Any:
        """Ask the actor; what comes back is for `ended`."""
        pickled = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        return self.node.begin(self._actor, method, pickled)

    def ended(self, begun: Any) -> Any:
        """The actor's answer.

        Raises
        ------
        NodeLostError
        ShardError
        """
        answer = self.node.ended(begun)
        if isinstance(answer, str) and answer:
            raise ShardError(f"node {self.node.name}: {answer}")
        return answer


class OnNodes(Executor):
    """An executor on the nodes of a cluster; each node calls its shards one after another.

    Parameters
    ----------
    makers : sequence of callable
    place : DaskPlace

    Raises
    ------
    NodeLostError
        If no node is left.
    ShardError
        If a shard cannot be made, as for lack of memory.
    DataError
        If this process has no memory to send a shard.
    """

    def __init__(self, makers: Sequence[MakeShard], place: DaskPlace) -> None:
        super().__init__(makers)
        self._makers, self._place = list(makers), place
        self._journal: list[tuple[str, tuple[Any, ...]]] = []
        self._hosts: list[_Host] = []
        self._host: dict[int, _Host] = {}
        self._have_shards(range(self.n_shards))

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every shard with the same arguments; the results in their order."""
        found = super().call(method, *arguments)
        self._journal.append((method, arguments))
        return found

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        found: dict[int, Any] = {}
        while len(found) < self.n_shards:
            begun = []
            for host in self._hosts:
                its = [n for n in self._shards_of(host) if n not in found]
                asked = [ShardCall(n, method, arguments[n]) for n in its]
                if asked:
                    begun.append((host, its, host.begin("call", asked)))
            lost: list[int] = []
            for host, its, each in begun:
                try:
                    found.update(zip(its, host.ended(each), strict=True))
                except NodeLostError as error:
                    lost += self._lose(host, error)
            for number in self._have_shards(lost):
                found.pop(number, None)  # made without this call, whatever it answered elsewhere
        return [found[number] for number in range(self.n_shards)]

    def _shards_of(self, host: _Host) -> list[int]:
        return [number for number, at in self._host.items() if at is host]

    def _lose(self, host: _Host, error: NodeLostError) -> list[int]:
        """Forget a node; the numbers of the shards that are lost with it."""
        lost = self._shards_of(host)
        self._hosts.remove(host)
        for number in lost:
            del self._host[number]
        numbers = ", ".join(map(str, sorted(lost))) or "none"
        repeated = f", and {len(self._journal)} rounds repeated there" if self._journal else ""
        _log.warning("%s; its shards (%s) will be made again%s", error, numbers, repeated)
        return lost

    def _have_shards(self, numbers: Iterable[int]) -> set[int]:
        """Have these shards made, each on the node with the fewest, one at a time on each node.

        Nodes make theirs side by side if the free memory has room for what is sent to them.

        Returns
        -------
        set of int
            These, and those that were lost meanwhile and made again.
        """
        left = list(numbers)
        made = set(left)
        while left:
            self._look_around()
            begun: list[tuple[_Host, Any]] = []
            for host in sorted(self._hosts, key=lambda each: len(self._shards_of(each))):
                if not left:
                    break
                needed, free = self._memory_to_send(left[0]), available_memory()
                if begun and free is not None and needed > free:
                    break  # there will be room once those have arrived
                require_room_to_send(needed)
                number = left.pop(0)
                self._host[number] = host
                journal = [ShardCall(number, *each) for each in self._journal]
                value = (number, self._makers[number], journal)
                begun.append((host, host.begin("make", value)))
            for host, each in begun:
                try:
                    host.ended(each)
                except NodeLostError as error:
                    lost = self._lose(host, error)
                    left += lost
                    made.update(lost)
        return made

    def _memory_to_send(self, number: int) -> int:
        repeated = size_of([arguments for _, arguments in self._journal])
        return memory_to_send([self._makers[number]], repeated)

    def _look_around(self) -> None:
        """Take note of the nodes that are there now."""
        there = self._place.hosts()
        known = {id(each.node) for each in self._hosts}
        for node in there:
            if id(node) not in known:
                try:
                    self._hosts.append(_Host(node))
                except NodeLostError as error:
                    _log.warning("%s", error)
