"""Work on all cores at once: figures are drawn while tables are built."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_Task = Callable[[], Sequence[Path]]

#: What the processes of a pool do, by number: they are copies of this one.
_tasks: Sequence[_Task] = ()


@contextmanager
def at_once(tasks: Sequence[_Task]) -> Iterator[Callable[[], list[Path]]]:
    """Begin tasks that write files; what is yielded waits for them, and has the files in order.

    Each is executed in a copy of this process, where processes can be copied; else when they are
    waited for. What a task raises is raised by the waiting.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if min(cores, len(tasks)) < 2:
        yield lambda: [path for task in tasks for path in task()]
        return
    from multiprocessing import get_context

    global _tasks
    _tasks = tasks
    with get_context("fork").Pool(min(cores, len(tasks)), _alone, (os.getpid(),)) as pool:
        written = pool.map_async(_carry_out, range(len(tasks)), chunksize=1)
        yield lambda: [path for paths in written.get() for path in paths]


def _alone(parent: int) -> None:
    """Leave signals to the process that waits: it ends this one, and this one ends with it."""
    from svmbench.harness.child import end_with  # loads a kernel, which drawing does not need

    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(each, signal.SIG_DFL)


def _carry_out(number: int) -> list[Path]:
    return list(_tasks[number]())
