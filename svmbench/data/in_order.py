"""Map a function over a stream of items with several threads, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING = 2  # items per thread, so that no thread is idle while the next item is read


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """Results of ``work`` on each item, in the order of the items.

    Only a few items are in progress at a time. An exception in ``work`` is raised in its
    place: after the results before it, and instead of those behind it, so that the outcome
    does not depend on the number of threads. The caller's thread iterates over ``items``;
    after an exception raised there, results may be missing.

    Parameters
    ----------
    work : callable
        It must release the interpreter's lock to gain from threads.
    items : iterable
    threads : int
        With one, the caller's thread does all the work.
    """
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    with ThreadPoolExecutor(threads, initializer=_move, initargs=(_elsewhere(),)) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            del item
            if len(pending) >= _WAITING * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _elsewhere() -> set[int]:
    """The processors but that of the calling thread; none if the system does not say which it is.

    The caller reads items while threads work. Linux often wakes a thread on the processor of the
    thread that has something for it, and leaves both there for milliseconds.
    """
    with suppress(OSError, AttributeError):
        facts = Path("/proc/thread-self/stat").read_text(encoding="ascii", errors="replace")
        here = int(facts.rpartition(")")[2].split()[36])
        return os.sched_getaffinity(0) - {here}
    return set()


def _move(processors: set[int]) -> None:
    """Keep the calling thread on these processors, if there are any."""
    if processors:
        with suppress(OSError):
            os.sched_setaffinity(0, processors)
