"""Writes a report: the tables and plots of a results folder, and the page that shows them.

Figures are drawn in copies of this process, on all cores, while tables are built.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from svmbench.durable import require_own, write_text
from svmbench.records.read import Results, read_results
from svmbench.report.curves import CurveTable
from svmbench.report.html import to_html
from svmbench.report.interactive import page_curves
from svmbench.report.made import remember
from svmbench.report.markup import write_tables
from svmbench.report.plots import plots
from svmbench.report.profiles import write_profiles
from svmbench.report.tables import build_tables

_Task = Callable[[], Sequence[Path]]

#: What the processes of a pool do, by number: they are copies of this one.
_tasks: Sequence[_Task] = ()


def write_report(folder: Path, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Rewrite tables/, plots/ and report.html from the files of a results folder.

    Raises DataError if a file is missing or cannot be read, or has another schema version.
    """
    results = read_results(folder)
    for own in ("tables", "plots"):
        require_own(folder / own)
    written = write_results(results, formats)
    remember(folder, formats, written)
    return written


def write_results(results: Results, formats: tuple[str, ...]) -> list[Path]:
    """Write tables, plots and page of results into their folder."""
    import matplotlib.backends.backend_agg  # noqa: F401 - once, before processes are copied

    folder, curves = results.folder, CurveTable(results)
    drawing: list[Callable[[], list[Path]]]
    drawing = [*plots(results, curves, formats), partial(write_profiles, results, formats)]
    with at_once(drawing) as drawn:
        tables = build_tables(results)
        written = write_tables(tables, folder / "tables")
        interactive = page_curves(results, curves)
        written += drawn()
    page = folder / "report.html"
    write_text(page, to_html(results, tables, interactive, written))
    return [*written, page]


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
