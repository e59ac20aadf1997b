"""Executors: the places where the parts of a distributed method work, and the cost of asking them.

A part is an object that keeps one shard and whatever a method remembers of it. A method never
touches a part: it says how each is made, and asks the executor to call a method of every part, by
name. An executor can therefore make and keep its parts in another process or on another machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from svmbench.errors import SvmbenchError

#: Makes a part, where the part will be: it can be pickled, which parts often cannot.
PartMaker = Callable[[], Any]

#: Bytes of a number that travels by itself.
NUMBER = 8


class ShardError(SvmbenchError):
    """A part has failed in another process."""


class Executor(ABC):
    """Calls methods of all parts, and counts what a network would carry.

    Parameters
    ----------
    makers : sequence of callable
        Each makes a part, always the same.

    Attributes
    ----------
    rounds : int
        Times that all parts were asked for something.
    sent, received : int
        Bytes of all arguments and of all results, for all parts together.
    """

    def __init__(self, makers: Sequence[PartMaker]) -> None:
        self.parts = len(makers)
        self.rounds = self.sent = self.received = 0

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every part with the same arguments; the results in the parts' order.

        An exception of a part is raised here.
        """
        found = self._map(method, [arguments] * self.parts)
        self.rounds += 1
        self.sent += self.parts * size_of(arguments)
        self.received += size_of(found)
        return found

    def read(self, method: str, *each: Sequence[Any]) -> list[Any]:
        """Call a method of every part with arguments of its own, and count nothing.

        For results and certificates, which are read while the clock stands still.

        Parameters
        ----------
        method : str
        *each : sequence
            One sequence for each argument, with an entry for each part.
        """
        arguments = list(zip(*each, strict=True)) if each else [()] * self.parts
        return self._map(method, arguments)

    @abstractmethod
    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call the method of each part with its arguments."""


class InProcess(Executor):
    """The parts work one after another in this process."""

    def __init__(self, makers: Sequence[PartMaker]) -> None:
        super().__init__(makers)
        self._parts = [make() for make in makers]

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        pairs = zip(self._parts, arguments, strict=True)
        return [getattr(part, method)(*given) for part, given in pairs]


class Threads(Executor):
    """Each part has a thread of this process. Kernels run side by side, as they release the GIL."""

    def __init__(self, makers: Sequence[PartMaker]) -> None:
        super().__init__(makers)
        self._parts = [make() for make in makers]
        self._pool = ThreadPoolExecutor(len(self._parts))

    def _map(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        pairs = zip(self._parts, arguments, strict=True)
        tasks = [self._pool.submit(getattr(part, method), *given) for part, given in pairs]
        return [task.result() for task in tasks]


def size_of(value: Any) -> int:
    """Bytes of arrays and numbers in a value and in the tuples and lists that it consists of."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(size_of(each) for each in value)
    return NUMBER
