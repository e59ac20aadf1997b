"""The launcher: a process that starts the processes of runs, ends them, and cleans up after them.

Importing NumPy, the worker and a solver takes longer than many runs. The launcher imports them once
and forks a process for each run. A forked process copies a page when it first writes to it, and
looks one up when it first executes it: both would be on the clock, and are done before it
(`populate`). The launcher computes nothing, imports no code of others, and has a single
thread, so that forking it is safe. It runs ``python -m svmbench.harness.launcher`` and reads orders
from its standard input, one per line, as JSON:

- ``{"start": job, "fork": true, "ready": {}}`` starts a process, by forking or from scratch, with
  its first job, once the listed solvers of ours are imported, each with parameters;
- ``{"job": job}`` passes another job to that process;
- ``{"end": true}`` kills it.

It answers on its standard output with a line of JSON for each event:

- ``{"event": "started", "pid": 7}``;
- ``{"event": "answered", "text": "...", "cpu": 0.5}`` for each line that the process writes;
- ``{"event": "ended", "code": -9, "cpu": 0.1}`` when it has ended, with its exit code.

It ends itself if the system refuses to start a process. ``cpu`` counts the seconds of processor
time since the last such line. The last line of a process includes its descendants.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.harness import worker
from svmbench.harness.child import REFUSED, adopt_orphans, end_children, processor_seconds, readable
from svmbench.solvers import cholesky

#: The parent has closed the launcher's standard input, or has ended.
LEAVE: list[dict[str, Any]] = [{"leave": True}]

# Since Linux 5.14; Python's mmap module has no names for them.
_MADV_POPULATE_READ, _MADV_POPULATE_WRITE = 22, 23

#: A page is in memory if this bit of its entry in /proc/self/pagemap is set.
_PRESENT = np.uint64(1 << 63)

#: Areas that belong to the kernel, and cannot be populated.
_OF_THE_KERNEL = ("[vvar", "[vdso]", "[vsyscall]")


class Launcher:
    """Starts one process at a time, and reports what becomes of it."""

    def __init__(self) -> None:
        self._ready = set[str]()  # solvers that are imported
        if may_fork():
            cholesky.load()  # for all: the memory of a run does not depend on who ran before it
        self._count_pages()
        self._reports = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        self._wakeup, self._alarm = os.pipe()
        os.set_blocking(self._alarm, False)
        os.set_blocking(self._wakeup, False)
        # Without a handler of ours the end of a child would not wake us.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._alarm, warn_on_full_buffer=False)
        self._pid = 0  # of the run's process; 0 if there is none
        self._jobs = self._answers = -1
        self._reported = 0.0  # seconds of processor time that were reported
        self._orphans = 0.0  # and those of descendants that ended as our children
        self._answer = b""  # the beginning of its next line

    def serve(self) -> bool:
        """Obey orders until there are no more."""
        orders = self._orders()
        while True:
            watched = [0, self._wakeup, *([self._answers] if self._answers >= 0 else [])]
            ready = readable(watched)
            if self._answers in ready:
                self._pass_answers_on()
            if self._wakeup in ready:
                os.read(self._wakeup, 4096)
                self._reap()
            if 0 in ready:
                for order in next(orders, LEAVE):
                    if "start" in order and self._start(order):
                        return True
                    if "job" in order:
                        self._pass_on(order["job"])
                    if self._pid and ("end" in order or "leave" in order):
                        self._kill()
                    if "leave" in order:
                        return False

    @staticmethod
    def _orders() -> Iterator[list[dict[str, Any]]]:
        """The orders of each reading, until standard input ends with the parent."""
        rest = b""
        while chunk := os.read(0, 1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            yield [json.loads(line) for line in lines]

    def _report(self, event: str, **facts: object) -> None:
        with suppress(BrokenPipeError):  # the parent has died; its orders have ended, too
            os.write(self._reports, json.dumps({"event": event, **facts}).encode() + b"\n")

    def _count_pages(self) -> None:
        """Take note of what a forked process is to have in memory, if forking is safe."""
        gc.collect()
        gc.freeze()  # a collection in a child would otherwise write to every page
        self._pages = present_pages() if may_fork() else []
        self._forks = bool(self._pages) and populate(self._pages)

    def _import_solvers(self, solvers: dict[str, dict[str, Any]]) -> None:
        """Import solvers of ours, and what they load before their clock, once for all runs."""
        new = solvers.keys() - self._ready
        if not new or not self._forks:
            return
        self._ready |= new
        for name in sorted(new):
            with suppress(Exception):  # the run's own process says what is wrong
                worker.loaded_solver(name, solvers[name])
        self._count_pages()

    def _start(self, order: dict[str, Any]) -> bool:
        """Start a process with its first job; True in the forked process."""
        if order["fork"]:
            self._import_solvers(order["ready"])
        self._reported = self._orphans = 0.0
        self._answer = b""
        try:
            jobs, self._jobs = os.pipe()
            self._answers, answers = os.pipe()
            self._pid = os.fork() if order["fork"] and self._forks else _spawned(jobs, answers)
        except OSError as error:
            print(error, file=sys.stderr)
            sys.exit(REFUSED)
        if self._pid == 0:
            self._become_a_worker(jobs, answers)
            return True
        os.close(jobs)
        os.close(answers)
        self._report("started", pid=self._pid)
        self._pass_on(order["start"])
        return False

    def _become_a_worker(self, jobs: int, answers: int) -> None:
        """Give a forked process what a new process has."""
        populate(self._pages)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(jobs, 0)
        os.dup2(answers, 1)
        ours = (self._reports, self._wakeup, self._alarm, self._jobs, self._answers)
        for descriptor in (jobs, answers, *ours):
            os.close(descriptor)
        # The module `random` does the same by itself.
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()

    def _pass_on(self, job: dict[str, Any]) -> None:
        if not self._pid:  # it has died, as its report says
            return
        line = json.dumps(job).encode() + b"\n"
        with suppress(BrokenPipeError):  # it died before it read its job; stderr may say why
            while line:
                line = line[os.write(self._jobs, line) :]

    def _pass_answers_on(self) -> None:
        if chunk := os.read(self._answers, 1 << 12):
            *lines, self._answer = (self._answer + chunk).split(b"\n")
            for line in lines:
                spent = self._newly_spent(processor_seconds(self._pid))
                text = line.decode(errors="replace")
                self._report("answered", text=text, cpu=spent)
            return
        os.close(self._answers)  # its end is reported once it has been waited for
        self._answers = -1

    def _newly_spent(self, seconds: float | None) -> float | None:
        """Seconds of processor time that have not been reported yet."""
        if seconds is None:
            return None
        before, self._reported = self._reported, seconds
        return seconds - before

    def _reap(self) -> None:
        """Take note of the children that have ended."""
        with suppress(ChildProcessError):
            while (found := os.wait4(-1, os.WNOHANG))[0] != 0:
                pid, status, usage = found
                if pid == self._pid:
                    self._conclude(status, usage.ru_utime + usage.ru_stime)
                else:
                    self._orphans += usage.ru_utime + usage.ru_stime

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _, status, usage = os.wait4(self._pid, 0)
        self._conclude(status, usage.ru_utime + usage.ru_stime)

    def _conclude(self, status: int, seconds: float) -> None:
        """Clean up after the run's process, and report its end."""
        if self._answers >= 0 and readable([self._answers], 0.0):
            self._pass_answers_on()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        seconds_of_left = end_children()
        for descriptor in (self._jobs, self._answers):
            if descriptor >= 0:
                os.close(descriptor)
        self._pid, self._jobs, self._answers = 0, -1, -1
        spent = self._newly_spent(seconds + self._orphans + seconds_of_left)
        self._report("ended", code=os.waitstatus_to_exitcode(status), cpu=spent)


def _spawned(jobs: int, answers: int) -> int:
    """Id of a new process that is a worker."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "svmbench.harness.worker"],
        stdin=jobs,
        stdout=answers,
        start_new_session=True,
    )
    process.returncode = 0  # we wait for it ourselves
    return process.pid


def may_fork() -> bool:
    """Whether a forked process works: elsewhere or with threads, libraries may hang in it."""
    return sys.platform == "linux" and len(list(Path("/proc/self/task").iterdir())) == 1


@dataclass(frozen=True)
class Pages:
    """Pages that follow each other in memory."""

    start: int  # start, length: in bytes
    length: int
    writable: bool


def present_pages() -> list[Pages]:
    """The pages of this process that are in memory, where Linux tells."""
    found: list[Pages] = []
    with suppress(OSError), Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        # Names of mapped files may have any bytes but the end of a line.
        maps = Path("/proc/self/maps").read_bytes().decode("ascii", "replace")
        for line in filter(None, maps.split("\n")):
            area, rights, *rest = line.split(maxsplit=5)
            if rights[0] != "r" or (len(rest) == 4 and rest[3].startswith(_OF_THE_KERNEL)):
                continue
            start, end = (int(address, 16) for address in area.split("-"))
            entries = os.pread(
                pagemap.fileno(), 8 * ((end - start) // mmap.PAGESIZE), 8 * (start // mmap.PAGESIZE)
            )
            present = (np.frombuffer(entries, dtype=np.uint64) & _PRESENT) != 0
            edges = np.flatnonzero(np.diff(np.concatenate(([False], present, [False])).astype(int)))
            for first, after in edges.reshape(-1, 2).tolist():
                at, length = start + first * mmap.PAGESIZE, (after - first) * mmap.PAGESIZE
                found.append(Pages(at, length, writable=rights[1] == "w" and rights[3] == "p"))
    return found


def populate(pages: list[Pages]) -> bool:
    """Bring pages into this process's table, and copy those that it may write to."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    done = [
        advise(
            part.start,
            part.length,
            _MADV_POPULATE_WRITE if part.writable else _MADV_POPULATE_READ,
        )
        == 0
        for part in pages
    ]
    return any(done)


def main() -> None:
    """Serve as the launcher; in a process that it forks, as a worker."""
    adopt_orphans()
    if Launcher().serve():
        worker.main()


if __name__ == "__main__":
    main()
