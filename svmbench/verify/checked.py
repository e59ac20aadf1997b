"""Runs the contract's checks on a solver in a process of its own, which may crash or hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from svmbench.errors import message_of
from svmbench.harness.child import last_line, readable, signal_name
from svmbench.solvers.base import Solver
from svmbench.solvers.single_file import address, file_of, solver_at

#: Seconds that a check on one class of problems may take.
LIMIT = 120.0

#: Seconds that its process gets to end by itself, so that its exit code is its own.
_ENDING = 10.0

#: Bytes that no line of the checks has.
_LONGEST = 2**20


@dataclass(frozen=True)
class Checked:
    """The result of one check."""

    what: str  # what the solver has to do
    kinds: int  # classes of problems on which it was checked; 0 if it does not depend on them
    # what is wrong on the first class that breaks it, and what to do; empty if it holds
    wrong: str = ""


def run_checks(solver: type[Solver], limit: float = LIMIT) -> Iterator[Checked]:
    """The checks of a solver one after another, to the first crash or hang.

    A check is left out if it would only show what another one has shown to be wrong.
    """
    waiting: Checked | None = None
    for what, kind, wrong in _answers(solver, limit):
        if waiting is not None and waiting.what != what:
            yield waiting
            waiting = None
        before = waiting or Checked(what, 0)
        place = f"{kind}: " if kind and wrong else ""
        waiting = Checked(what, before.kinds + bool(kind), before.wrong or f"{place}{wrong}")
    if waiting is not None:
        yield waiting


def _answers(solver: type[Solver], limit: float) -> Iterator[tuple[str, str, str]]:
    """Name, class of problems and complaint of each check."""
    with (
        TemporaryFile() as stderr,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "svmbench.verify.checked", address(solver)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
        ) as process,
    ):
        assert process.stdout is not None
        current: list[str] = []
        try:
            for line in _lines(process.stdout.fileno(), limit):
                if line is None:
                    late = f"did not end within {limit:g} s; look for an endless loop"
                    yield *_named(current), late
                    return
                answer = _answer(line)
                if answer is None:
                    foreign = "writes where only the checks write; write to no file it did not open"
                    yield *_named(current), foreign
                    return
                if len(answer) == 2:  # one that begins
                    current = answer
                elif answer:
                    yield answer[0], answer[1], answer[2]
                else:
                    return
            with suppress(subprocess.TimeoutExpired):  # it has closed its output, and is ending
                process.wait(_ENDING)
        finally:
            process.kill()
            process.wait()
        yield *_named(current), _cause(process.returncode, last_line(stderr))


def _lines(descriptor: int, limit: float) -> Iterator[bytes | None]:
    """Lines of a pipe to its end, or to one that takes more seconds than the limit, which is None.

    A solver can write into the pipe too, and leave a line without an end.
    """
    pending, until = b"", time.monotonic() + limit
    while True:
        *lines, pending = pending.split(b"\n")
        for line in lines:
            yield line
            until = time.monotonic() + limit
        if len(pending) > _LONGEST or not readable([descriptor], until - time.monotonic()):
            yield pending if len(pending) > _LONGEST else None
            return
        read = os.read(descriptor, _LONGEST)
        if not read:
            return
        pending += read


def _answer(line: bytes) -> list[str] | None:
    """What a line says; None if the checks write no such line."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(said, list) and len(said) in (0, 2, 3)
    return said if known and all(isinstance(word, str) for word in said) else None


def _named(current: list[str]) -> tuple[str, str]:
    return (current[0], current[1]) if current else ("Can be loaded", "")


def _cause(code: int, said: str) -> str:
    if code < 0 and code != -signal.SIGKILL:
        return f"crashed ({signal_name(-code)}); run it under a debugger"
    return f"ended the process: {said or f'exit code {code}'}; raise exceptions instead"


def _complaint(error: BaseException, solver: type[Solver]) -> str:
    """An exception that the solver raised, with the line of its file."""
    path = str(file_of(solver) or sys.modules[solver.__module__].__file__)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    place = f" at {Path(path).name}:{lines[-1]}" if lines else ""
    return f"raises {type(error).__name__}{place}: {message_of(error)}"


def main() -> None:
    """Check the solver at the address given, and answer with a line of JSON per check."""
    # Deferred: what a solver prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from svmbench.verify.contract import BrokenError, checks, is_moot

    def answer(*said: str) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    solver = solver_at(sys.argv[1])
    broken: set[str] = set()
    for what, check, kind in checks(solver):
        if what in broken or is_moot(what, broken):
            continue  # one complaint is enough
        answer(what, kind)
        wrong = ""
        try:
            check()
        except BrokenError as error:
            wrong = str(error)
        except Exception as error:
            wrong = _complaint(error, solver)
        broken |= {what} if wrong else set()
        answer(what, kind, wrong)
    answer()


if __name__ == "__main__":
    main()
