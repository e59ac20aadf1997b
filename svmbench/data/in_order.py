"""Work on a stream of things by several threads, the results in the order of the things."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")

_WAITING = 2  # things for each thread, so that none is idle while the next thing is had


def in_order(
    work: Callable[[Thing], Result], things: Iterable[Thing], threads: int
) -> Iterator[Result]:
    """Results of ``work`` on each thing, in their order.

    Only a few things are under way at a time. An exception in ``work`` comes out in its
    place: the results before it first, those behind it never, so that what is seen does not
    depend on the number of threads. ``things`` is asked by the caller's thread; after an
    exception of its own, results may be missing.

    Parameters
    ----------
    work : callable
        To gain by it, it must let go of the interpreter's lock.
    things : iterable
    threads : int
        With one, all is done in the caller's.
    """
    if threads == 1:
        yield from map(work, things)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque()
        for thing in things:
            pending.append(pool.submit(work, thing))
            del thing
            if len(pending) >= _WAITING * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
