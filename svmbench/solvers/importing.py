"""Keeps the code of a plug-in from ending, muting or misguiding the process that imports it."""

from __future__ import annotations

import decimal
import gc
import locale
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn

import numpy as np

from svmbench.errors import ConfigError

#: Functions of `os` that end a process in silence, or put another program in its place.
ENDING = ("_exit", "execv", "execve")

#: Signals by which a user or the system ends a command.
_OF_THE_USER = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_STREAMS = (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w"))

#: Functions that the interpreter calls for errors that nobody has caught.
_HOOKS = ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook"))


class ProcessSettings(NamedTuple):
    """What a process bequeaths to those that it forks, and what others can change of it.

    Parameters
    ----------
    limits : dict
        The soft and the hard limit by their number in `resource`.
    """

    priority: int
    scheduler: int
    processors: set[int]
    limits: dict[int, tuple[int, int]]


class EndedError(BaseException):
    """A plug-in tried to end the process while it was imported."""


@contextmanager
def kept_alive() -> Iterator[None]:
    """Import a plug-in so that this process lives on, and stays as it is where it matters.

    What the plug-in prints goes to standard error. Afterwards the standard streams are those from
    before, even if it has closed or replaced them, and so are the current folder, to which the
    names of files are relative, the mask of new files, and what the user's signals do. A process
    that it forks may end as it likes, and ends with the import at the latest.
    Compiled code that ends the process is not stopped.

    Raises
    ------
    EndedError
        When it calls a function of `os` that ends the process.
    """
    own = os.getpid()

    def refused(name: str, original: Callable[..., Any]) -> Callable[..., NoReturn]:
        def call(*given: Any, **named: Any) -> NoReturn:
            if os.getpid() == own:
                raise EndedError(f"it called os.{name}")
            original(*given, **named)
            raise AssertionError  # the process has ended

        return call

    originals = {name: getattr(os, name) for name in ENDING}
    streams = {name: getattr(sys, name) for name, _, _ in _STREAMS}
    with suppress(Exception):
        streams["stdout"].flush()
    with _saved() as descriptors, _in_its_place():
        if 1 in descriptors and 2 in descriptors:
            os.dup2(2, 1)
        sys.stdout = sys.stderr
        for name, original in originals.items():
            setattr(os, name, refused(name, original))
        try:
            yield
        finally:
            if os.getpid() != own:  # else the command would go on twice
                originals["_exit"](1)
            with suppress(Exception):  # it may have closed it
                streams["stdout"].flush()
            for name, original in originals.items():
                setattr(os, name, original)
            for number, descriptor in descriptors.items():
                os.dup2(descriptor, number)
            for name, number, mode in _STREAMS:
                setattr(sys, name, _open_again(streams[name], number, mode))


def process_settings(pid: int) -> ProcessSettings | None:
    """The settings of a process; None if it is unknown."""
    if sys.platform != "linux":
        return None
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    try:
        return ProcessSettings(
            os.getpriority(os.PRIO_PROCESS, pid),
            os.sched_getscheduler(pid),
            os.sched_getaffinity(pid),
            {kind: resource.prlimit(pid, kind) for kind in kinds},
        )
    except OSError:
        return None


def _restore(before: ProcessSettings) -> None:
    """Return to these settings, as far as the system allows it."""
    with suppress(OSError):
        os.sched_setaffinity(0, before.processors)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, before.priority)
    for kind, limits in before.limits.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, limits)


@contextmanager
def settings_kept(plug_in: str) -> Iterator[None]:
    """Import a plug-in so that the settings of this process are afterwards those from before.

    They are how numbers are computed, read and printed (decimal, NumPy, locale), how deep calls
    may be, what comes of warnings, which functions the interpreter calls by itself; and, because
    the processes of other solvers would inherit them, the environment variables, the priority, the
    processors and the limits. A process that runs the plug-in's solver leaves them to it.

    Parameters
    ----------
    plug_in : str
        Its name, for the message.

    Raises
    ------
    ConfigError
        If the system refuses to restore the priority, the processors or the limits.
    """
    before = process_settings(os.getpid())
    with _pythons_settings_kept():
        try:
            yield
        finally:
            if before is not None:
                _restore(before)
    if process_settings(os.getpid()) != before:
        raise ConfigError(
            f"{plug_in}: its import changes the priority, processors or limits of the process; do "
            "so in start()"
        )


@contextmanager
def _pythons_settings_kept() -> Iterator[None]:
    depth, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    place = locale.setlocale(locale.LC_ALL)
    traced, profiled, collected = sys.gettrace(), sys.getprofile(), list(gc.callbacks)
    profiled_in_threads, traced_in_threads = threading.getprofile(), threading.gettrace()
    collects, variables = gc.isenabled(), dict(os.environ)
    hooks = [(module, name, getattr(module, name)) for module, name in _HOOKS]
    try:
        with decimal.localcontext(), np.errstate(), warnings.catch_warnings():
            yield
    finally:
        sys.setprofile(profiled)
        sys.settrace(traced)
        threading.setprofile(profiled_in_threads)
        threading.settrace(traced_in_threads)
        for module, name, hook in hooks:
            setattr(module, name, hook)
        gc.callbacks[:] = collected
        (gc.enable if collects else gc.disable)()
        sys.setrecursionlimit(depth)
        sys.set_int_max_str_digits(digits)
        locale.setlocale(locale.LC_ALL, place)
        if os.environ != variables:
            os.environ.clear()
            os.environ.update(variables)


@contextmanager
def _in_its_place() -> Iterator[None]:
    """Restore the current folder, the mask of new files and the handlers of the user's signals."""
    try:
        folder = os.open(".", os.O_RDONLY)
    except OSError:  # it has been removed
        folder = -1
    mask = os.umask(0)
    os.umask(mask)
    handlers = {number: signal.getsignal(number) for number in _OF_THE_USER}
    try:
        yield
    finally:
        os.umask(mask)
        for number, handler in handlers.items():
            # Only the main thread may set one; None is a handler of compiled code.
            if handler is not None and signal.getsignal(number) is not handler:
                with suppress(ValueError):
                    signal.signal(number, handler)
        if folder >= 0:
            with suppress(OSError):  # somebody else has closed it
                os.fchdir(folder)
                os.close(folder)


@contextmanager
def _saved() -> Iterator[dict[int, int]]:
    """Copies of the standard streams that are open, by their numbers."""
    copies = {}
    for _, number, _ in _STREAMS:
        with suppress(OSError):  # closed, as after >&-
            copies[number] = os.dup(number)
    try:
        yield copies
    finally:
        for copy in copies.values():
            os.close(copy)


def _open_again(stream: Any, number: int, mode: str) -> Any:
    """A stream; another one on the same file if it was closed."""
    if stream is None or not stream.closed:
        return stream
    return open(  # for the rest of the process
        number, mode, encoding=stream.encoding, errors=stream.errors, closefd=False
    )
