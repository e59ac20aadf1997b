"""Executors: the places where the shards of a distributed method are, and the cost of asking them.

A shard is an object here, which keeps its rows and whatever a method remembers of them. A method
never touches it: it says how each shard is made, and asks the executor to call a method of every
shard, by name. An executor can therefore make and keep its shards in another process or on another
machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from svmbench.errors import SvmbenchError
from svmbench.memory import require_memory

#: Makes a shard, where the shard will be: it can be pickled, which shards often cannot.
MakeShard = Callable[[], Any]

#: Bytes of a number that travels by itself.
NUMBER = 8

#: Copies of a shard that are in memory while it is sent: its rows if they are dealt out, and what
#: is made of them to travel, which grows as it is made.
COPIES = 3


class ShardError(SvmbenchError):
    """A shard has failed in another process."""


class Executor(ABC):
    """Calls methods of all shards, and counts what a network would carry.

    Parameters
    ----------
    makers : sequence of callable
        Each makes a shard, always the same.

    Attributes
    ----------
    rounds : int
        Times that all shards were asked for something.
    sent, received : int
        Bytes of all arguments and of all results, for all shards together.
    """

    def __init__(self, makers: Sequence[MakeShard]) -> None:
        self.n_shards = len(makers)
        self.rounds = self.sent = self.received = 0

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every shard with the same arguments; the results in their order.

        An exception of a shard is raised here.
        """
        found = self._map(method, [arguments] * self.n_shards)
        self.rounds += 1
        self.sent += self.n_shards * size_of(arguments)
        self.received += size_of(found)
        return found

    def read(self, method: str, *each: Sequence[Any]) -> list[Any]:
        """Call a method of every shard with arguments of its own, and count nothing.

        For results and certificates, which are read while the clock stands still.

        Parameters
        ----------
        method : str
        *each : sequence
            One sequence for each argument, with an entry for each shard.
        """
        arguments = list(zip(*each, strict=True)) if each else [()] * self.n_shards
        return self._map(method, arguments)

    @abstractmethod
    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call the method of each shard with its arguments."""


class InProcess(Executor):
    """The shards work one after another in this process."""

    def __init__(self, makers: Sequence[MakeShard]) -> None:
        super().__init__(makers)
        self._shards = [make() for make in makers]

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        pairs = zip(self._shards, arguments, strict=True)
        return [getattr(shard, method)(*given) for shard, given in pairs]


class Threads(Executor):
    """Each shard has a thread of this process: kernels run side by side, without the GIL."""

    def __init__(self, makers: Sequence[MakeShard]) -> None:
        super().__init__(makers)
        self._shards = [make() for make in makers]
        self._pool = ThreadPoolExecutor(len(self._shards))

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        pairs = zip(self._shards, arguments, strict=True)
        tasks = [self._pool.submit(getattr(shard, method), *given) for shard, given in pairs]
        return [task.result() for task in tasks]


def size_of(value: Any) -> int:
    """Bytes of arrays and numbers in a value and in the tuples and lists that it consists of."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(size_of(each) for each in value)
    return NUMBER


def memory_to_send(makers: Sequence[MakeShard], more: int = 0) -> int:
    """Bytes of memory that it takes to send shards, and so many other bytes, to another process."""
    return COPIES * (sum(getattr(make, "nbytes", 0) for make in makers) + more)


def require_room_to_send(needed: int) -> None:
    """Refuse shards that need more memory than is free: the system would kill this process.

    Raises
    ------
    DataError
    """
    require_memory(
        needed,
        "sending the rows of a shard",
        "take more shards (--shards), more processes with --mpi, or fewer rows",
    )
