"""Processes that make one run or one measurement: how they are started, and how they end.

They outlive nobody: a parent that is killed can end no child, so each sees to its own end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from typing import IO

from svmbench.harness.environment import pinned

#: Exit code of a child that could not write what it found.
CANNOT_WRITE = 74

#: Signals that come from a user, an operator or a machine that shuts down, not from the solver.
FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")

_PR_SET_PDEATHSIG = 1


def start(
    module: str, threads: int, complaints: IO[bytes], answers: bool = False
) -> subprocess.Popen[bytes]:
    """Start a module in a process of its own, with a pipe to its standard input.

    Parameters
    ----------
    module : str
    threads : int
        Of the numerical libraries.
    complaints : file
        Gets its standard error.
    answers : bool
        Whether there is a pipe from its standard output as well.
    """
    # Ctrl-C is for the parent, which then ends the child; in the midst of an import it would
    # look like a broken installation. The child inherits what its starter has blocked.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(
            # -P: whatever lies in the current folder must not shadow the installed package.
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if answers else subprocess.DEVNULL,
            stderr=complaints,
            env=pinned(threads),
            start_new_session=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def end_with(parent: int) -> None:
    """Have this process killed once its parent is gone, whatever it does then.

    Parameters
    ----------
    parent : int
        Id of the process that started this one. On other systems than Linux only a parent that
        has gone already is noticed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def cause_of_death(code: int, complaints: IO[bytes], for_memory: bool) -> tuple[str, str]:
    """The state and the reason of work whose process died before the work was done.

    Parameters
    ----------
    code : int
        The process's exit code; negative for a signal.
    complaints : file
        Its standard error.
    for_memory : bool
        Whether the system may have killed it for its memory.
    """
    if code < 0:
        name = signal.Signals(-code).name
        if name == "SIGKILL" and for_memory:
            return "out_of_memory", "killed by the system (SIGKILL), most likely for its memory"
        if name in FROM_OUTSIDE:
            return "interrupted", f"the worker was ended from outside ({name})"
        return "failed", f"the worker crashed ({name})"
    return "failed", last_line(complaints) or f"the worker left with exit code {code}"


def last_line(complaints: IO[bytes]) -> str:
    """The last line of a process's standard error; empty where there is none."""
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
