"""Processes of runs, as their parent sees them: started, given jobs and ended by a launcher."""

from __future__ import annotations

import atexit
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Any, Literal

from svmbench.harness import child
from svmbench.harness.assignment import Assignment
from svmbench.harness.environment import pinned

#: A launcher serves further repeats until its start took less than this share of its time.
START_SHARE = 0.04

#: Seconds that a launcher may take to end a process, before it is killed itself.
PATIENCE = 10.0


@dataclass(frozen=True)
class Report:
    """What became of a run's process."""

    event: Literal["started", "answered", "ended"]  # a process answers with lines of text
    pid: int = 0  # its id, when it has started
    text: str = ""  # its answer
    code: int = 0  # its exit code, when it has ended; negative for a signal
    # seconds of processor time since the last report; None if that is not known
    cpu: float | None = None


class Worker:
    """The process of the present run; runs of the same ladder share it, and brief runs.

    A launcher serves one repeat of all that is run on a data set of a sweep, so that no two pairs
    of runs share its layout of memory; of runs that take less than its own start, it serves so many
    repeats that the starts take `START_SHARE` of the time. So does a process.

    - ``stderr``: standard error of the present process.
    - ``pid``: its id; 0 if there is none.
    - ``cpu``: seconds of processor time that were spent on the present run, as far as reported.
    - ``code``: exit code of the last process that has ended.
    - ``frozen``: whether the launcher no longer answered when the last process was to be ended.
    - ``jobs``: number of runs that the present process has been given.
    """

    def __init__(self, forks: bool = True) -> None:
        self._forks = forks
        self._launcher: subprocess.Popen[bytes] | None = None
        self._begun = self._start = math.inf  # when it was started, and the seconds that took
        self._conditions: tuple[object, ...] | None = None
        self._repeats: dict[object, int] = {}  # of the data sets that the launcher has served
        self._imports: dict[str, dict[str, Any]] = {}
        self._process: tuple[object, ...] | None = None  # what the runs of the process share
        self._given = self._opened = math.inf  # moment of its first job, and seconds to its run
        self._of_repeat: tuple[object, ...] = ()  # sweep and repeat of the last run
        self.jobs = 0
        self._active = False
        self._rest = b""
        self.stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115, closed by __exit__
        self.pid = 0
        self.cpu: float | None = 0.0
        self.code = 0
        self.frozen = False

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._dismiss()
        self.stderr.close()

    def expect(self, solvers: Mapping[str, dict[str, Any]]) -> None:
        """Have every later process begin with solvers of ours imported, each with parameters."""
        self._imports |= solvers

    def give(self, assignment: Assignment, job: dict[str, Any]) -> None:
        """Pass a job to the process that the run may share, or to a new one."""
        sweep = Path(job["trace"]).parent
        process = assignment.process and (assignment.process, sweep, *_conditions(assignment))
        of_repeat = (sweep, assignment.repeat)
        worn = of_repeat != self._of_repeat and self._is_worn(self._given, self._opened)
        same = self._active and bool(process) and process == self._process and not worn
        if not same:
            self._prepare(assignment, sweep)
            self._given, self._opened, self.jobs = monotonic(), math.inf, 0
        assert self._launcher is not None
        self._process, self._of_repeat, self._active = process or None, of_repeat, True
        self.cpu, self.frozen = 0.0, False
        self.jobs += 1
        job |= {"parent": self._launcher.pid}
        start = {"start": job, "fork": self._forks, "ready": self._imports}
        self._send({"job": job} if same else start)

    @staticmethod
    def _is_worn(begun: float, start: float) -> bool:
        """Whether so much time has passed since then that such a start is a small share of it."""
        return START_SHARE * (monotonic() - begun) > start

    def _prepare(self, assignment: Assignment, sweep: Path) -> None:
        """Have a launcher without a process, and an empty file for standard error."""
        self.end()
        served, repeat = (sweep, assignment.dataset), assignment.repeat
        conditions = _conditions(assignment)
        died = self._launcher is not None and self._launcher.poll() is not None
        other_repeat = self._repeats.get(served, repeat) != repeat
        worn = other_repeat and self._is_worn(self._begun, self._start)
        if died or worn or conditions != self._conditions:
            self._dismiss()
        self.stderr.seek(0)
        self.stderr.truncate()
        if self._launcher is None:
            self._begun, self._start = monotonic(), math.inf
            self._launcher = child.start(
                "svmbench.harness.launcher", assignment.threads, self.stderr, answers=True
            )
            self._conditions, self._rest = conditions, b""
        self._repeats[served] = repeat

    def _send(self, order: dict[str, Any]) -> None:
        assert self._launcher is not None
        assert self._launcher.stdin is not None
        with suppress(BrokenPipeError):  # it has died, as the next report will say
            self._launcher.stdin.write(json.dumps(order).encode() + b"\n")
            self._launcher.stdin.flush()

    def report(self, seconds: float) -> Report | None:
        """The next report on the process, or its launcher's death; None if none comes in time."""
        assert self._launcher is not None
        assert self._launcher.stdout is not None
        stdout = self._launcher.stdout.fileno()
        while b"\n" not in self._rest:
            if not child.readable([stdout], seconds):
                return None
            chunk = os.read(stdout, 1 << 12)
            if not chunk:
                with suppress(subprocess.TimeoutExpired):
                    self._launcher.wait(PATIENCE)  # for its own exit code
                return self._taken_note(Report("ended", code=self._dismiss()))
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return self._taken_note(Report(**json.loads(line)))

    def _taken_note(self, report: Report) -> Report:
        if report.event == "started":
            self.pid = report.pid
            self._start = min(self._start, monotonic() - self._begun)
            return report
        if report.text == child.BEGUN:
            self._opened = min(self._opened, monotonic() - self._given)
        known = self.cpu is not None and report.cpu is not None
        self.cpu = self.cpu + report.cpu if known else None  # type: ignore[operator]
        if report.event == "ended":
            self.pid, self.code, self._active = 0, report.code, False
        return report

    def end(self) -> None:
        if not self._active:
            return
        self._send({"end": True})
        until = monotonic() + PATIENCE
        while self._active and self.report(max(0.0, until - monotonic())) is not None:
            pass
        if self._active:  # the launcher is frozen, or waits for a process that is
            self.cpu, self._active, self.frozen = None, False, True
            self._dismiss()

    def _dismiss(self) -> int:
        """End the launcher, if there is one, with its process; return its exit code."""
        launcher, self._launcher = self._launcher, None
        self._repeats.clear()
        if launcher is None:
            return 0
        with suppress(ProcessLookupError):
            launcher.kill()
        with suppress(BrokenPipeError), launcher:  # closes its pipes, and waits for it
            pass
        pid, self.pid = self.pid, 0
        if pid:
            _wait_for_the_end_of(pid)
        return launcher.returncode


#: Workers between two sweeps. Their launchers also serve cells of the next sweep.
_idle: list[Worker] = []


# The launchers of a process that forks serve it alone.
os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def hired() -> Iterator[Worker]:
    """A worker, kept with its launcher for later runs of this process."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = Worker()
    try:
        yield worker
    finally:
        worker.end()
        _idle.append(worker)


@atexit.register
def _dismiss_all() -> None:
    while _idle:
        with _idle.pop():
            pass


def _conditions(assignment: Assignment) -> tuple[object, ...]:
    """What must be the same for two runs to have the same launcher."""
    return pinned(assignment.threads), _current_folder()


def _current_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109, compared and nothing else
    except FileNotFoundError:
        return None


def _wait_for_the_end_of(pid: int) -> None:
    """Wait until a process that has been killed writes nothing more."""
    with suppress(OSError, AttributeError):  # it has ended, or the system cannot tell
        descriptor = os.pidfd_open(pid)
        try:
            child.readable([descriptor], PATIENCE)
        finally:
            os.close(descriptor)
