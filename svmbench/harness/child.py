"""Start and end of child processes, each of which executes one run or one measurement.

A parent that is killed cannot end its children, so each child ends itself with its parent.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from typing import IO

from svmbench.harness.environment import pinned
from svmbench.harness.system import PROC, read

#: Exit code of a child that could not write its results.
CANNOT_WRITE = 74

#: Exit code of a launcher that the system refused to start a process for.
REFUSED = 76

#: Exit code of a worker that lacked memory outside its run; a run records its own lack of it.
NO_MEMORY = 77

#: Exit code of a worker that may open no more files.
NO_FILES = 79

#: A worker's answers when a run begins and when it ends.
BEGUN, ENDED = "begun", "ended"

#: Signals that come from a user, an operator or a machine that shuts down, not from the solver.
FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")

#: How the last line of a traceback begins for an error of svmbench.
_OWN_ERROR = re.compile(r"^svmbench\.errors\.\w+: ")

#: The first line of a traceback.
_TRACEBACK = "Traceback (most recent call last):"

#: What libraries in Rust and in C++ say when they abort their process for lack of memory.
_ABORTED_WITHOUT_MEMORY = re.compile(r"memory allocation of \d+ bytes failed|std::bad_alloc")

#: Characters of a process's last line on standard error that are kept: tables repeat it.
LONGEST_LINE = 500

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def start(
    module: str, threads: int, stderr: IO[bytes], answers: bool = False
) -> subprocess.Popen[bytes]:
    """Start a module in a process of its own, with a pipe to its standard input."""
    # Ctrl-C is for the parent, which then ends the child; in the middle of an import it would
    # look like a broken installation. The child inherits the parent's blocked signals.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            # -P: files in the current folder must not shadow the installed package.
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if answers else subprocess.DEVNULL,
            stderr=stderr,
            env=pinned(threads),
            start_new_session=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def end_with(parent: int) -> None:
    """Kill this process as soon as its parent ends; elsewhere than on Linux, if it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def readable(descriptors: Iterable[int], seconds: float = math.inf) -> set[int]:
    """The descriptors, however large, that can be read or have ended within that time."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    timeout = None if math.isinf(seconds) else math.ceil(1000.0 * max(0.0, seconds))
    return {descriptor for descriptor, _ in poll.poll(timeout)}


def processor_seconds(pid: int) -> float | None:
    """Processor time of another process, without its descendants; None if it is unknown."""
    if sys.platform != "linux":
        return None
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the clock of clock_getcpuclockid(3)
    except OSError:
        return None


def cause_of_death(code: int, stderr: IO[bytes], for_memory: bool) -> tuple[str, str]:
    """End state and reason of a run whose process died before it finished."""
    if code < 0:
        name = signal_name(-code)
        if name == "SIGKILL" and for_memory:
            return "out_of_memory", "killed by the system (SIGKILL), probably for lack of memory"
        if name == "SIGABRT" and (said := _ABORTED_WITHOUT_MEMORY.search(_tail(stderr))):
            return "out_of_memory", f"the worker found no memory ({said[0]})"
        if name in FROM_OUTSIDE:
            return "interrupted", f"the worker was ended from outside ({name})"
        return "failed", f"the worker crashed ({name})"
    if code == NO_MEMORY:
        return "interrupted", "the worker found no memory outside the run itself"
    if code == NO_FILES:
        return "interrupted", "the worker's process could open no more files"
    if code == REFUSED:
        return "interrupted", f"the system refused to start the worker ({last_line(stderr)})"
    return "failed", last_line(stderr) or f"the worker exited with code {code}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_line(stderr: IO[bytes]) -> str:
    """The end of the last line of a process's standard error; empty if there is none.

    If an error ended the process whose message has several lines, it is the begin of all of them:
    the first names the error.
    """
    lines = _tail(stderr).splitlines()
    if _TRACEBACK in lines:
        at = len(lines) - lines[::-1].index(_TRACEBACK)
        while at < len(lines) - 1 and lines[at].startswith(" "):  # where it was raised
            at += 1
        message = " ".join(" ".join(lines[at:]).split())
        if at < len(lines) - 1:
            return _OWN_ERROR.sub("", message)[:LONGEST_LINE]
    return _OWN_ERROR.sub("", lines[-1])[-LONGEST_LINE:] if lines else ""


def _tail(stderr: IO[bytes]) -> str:
    size = stderr.seek(0, os.SEEK_END)
    # Blank lines may follow; a character has up to four bytes.
    stderr.seek(max(0, size - 16 * LONGEST_LINE))
    return stderr.read().decode(errors="replace").strip()


# --- processes that a solver has started and left: they are ended, and their time counts ---


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that `end_children` finds them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(kept: Collection[int] = ()) -> float:
    """Kill all children but those kept, and theirs in turn; return their processor seconds."""
    seconds, living = 0.0, set(kept)
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:  # those that live include the children of those that have ended
                killed = children() - living
                if not killed:
                    return seconds
                for number in killed:
                    try:
                        os.kill(number, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                    except PermissionError:  # it runs as another user
                        living.add(number)
                if living.issuperset(killed):
                    continue
                _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def children() -> set[int]:
    """The ids of the children that have not been waited for; none are known but on Linux."""
    if sys.platform != "linux":
        return set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # usually there are none, and /proc may be large
        return set()
    own, found = str(os.getpid()), set[int]()
    for place in PROC.glob("[0-9]*"):
        text = read(place / "stat")
        if text and text.rpartition(")")[2].split()[1] == own:
            found.add(int(place.name))
    return found
