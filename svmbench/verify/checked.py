"""Runs the contract's checks on a solver in a process of its own, which may crash or hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from svmbench.errors import message_of
from svmbench.harness.child import last_line, readable, signal_name
from svmbench.solvers.base import Solver
from svmbench.solvers.single_file import address, file_of, solver_at

#: Seconds that a check on one class of problems may take, and after which it is called slow.
LIMIT, SLOW = 120.0, 5.0


@dataclass(frozen=True)
class Checked:
    what: str  # what the solver has to do
    kinds: int  # classes of problems on which it was checked; 0 if it does not depend on them
    # what is wrong on the first class that breaks it, and what to do; empty if it holds
    wrong: str = ""


def run_checks(
    solver: type[Solver], limit: float = LIMIT, slow: Callable[[str], object] = lambda what: None
) -> Iterator[Checked]:
    """The checks of a solver to the first crash or hang; ``slow`` is told which takes long."""
    waiting = Checked("", 0)
    for what, kind, wrong in _answers(solver, limit, slow):
        if waiting.what not in ("", what):
            yield waiting
        if waiting.what != what:
            waiting = Checked(what, 0)
        place = f"{kind}: " if kind and wrong else ""
        waiting = Checked(what, waiting.kinds + bool(kind), waiting.wrong or f"{place}{wrong}")
    yield waiting


def _answers(
    solver: type[Solver], limit: float, slow: Callable[[str], object]
) -> Iterator[tuple[str, str, str]]:
    """Name, class of problems and complaint of each check."""
    command = [sys.executable, "-P", "-m", "svmbench.verify.checked", address(solver)]
    what, kind, wrong, late = "Can be loaded", "", None, False
    with (
        TemporaryFile() as stderr,
        subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=stderr) as process,
    ):
        assert process.stdout is not None
        answers = [process.stdout.fileno()]
        try:
            while True:
                if not readable(answers, min(SLOW, limit)):
                    slow(what)
                    late = not readable(answers, limit - SLOW)
                if late or not (line := process.stdout.readline()):
                    break
                what, kind, wrong = json.loads(line)
                if wrong is not None:
                    yield what, kind, wrong
            code = 0 if late else process.wait()
        finally:
            process.kill()  # an interruption does not wait for a solver that hangs
        if late:
            yield what, kind, f"did not end within {limit:g} s; look for an endless loop"
        elif code < 0:
            yield what, kind, f"crashed ({signal_name(-code)}); run it under a debugger"
        elif code or wrong is None:  # amid a check
            said = last_line(stderr) or f"exit code {code}"
            yield what, kind, f"ended the process: {said}; raise exceptions instead"


def _complaint(error: BaseException, solver: type[Solver]) -> str:
    """An exception that the solver raised, with the line of its file."""
    path = str(file_of(solver) or sys.modules[solver.__module__].__file__)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    place = f" at {Path(path).name}:{lines[-1]}" if lines else ""
    return f"raises {type(error).__name__}{place}: {message_of(error)}"


def main() -> None:
    """Check the solver at the address given; a line of JSON begins each check, and one ends it."""
    # What a solver prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    from svmbench.verify.contract import BrokenError, checks, is_moot

    solver = solver_at(sys.argv[1])
    broken: set[str] = set()
    for what, check, kind in checks(solver):
        if what in broken or is_moot(what, broken):
            continue  # one complaint is enough
        print(json.dumps([what, kind, None]), file=answers)
        wrong = ""
        try:
            check()
        except BrokenError as error:
            wrong = str(error)
        except Exception as error:
            wrong = _complaint(error, solver)
        broken |= {what} if wrong else set()
        print(json.dumps([what, kind, wrong]), file=answers)


if __name__ == "__main__":
    main()
