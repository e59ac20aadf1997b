"""Map a function over a stream of items with several threads, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
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
    """
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load

    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            del item
            if len(pending) >= _WAITING * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
