"""The worker process: runs of one solver on one problem, timed by svmbench's only clock.

The parent starts ``python -m svmbench.harness.worker`` with the numerical libraries limited to
their threads, and writes jobs to its standard input, one per line, as JSON. The worker answers
each with two lines: BEGUN when the run begins, and ENDED when its trace is complete. A process has
more than one job if the runs are rungs of a ladder, which need the same rows in the same form, or
if they are brief; each of the latter has a new solver.
"""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_DATA, RUSAGE_SELF, getrlimit, getrusage, setrlimit
from typing import Any, NamedTuple

from svmbench.data.cache import open_cached
from svmbench.data.dataset import Dataset
from svmbench.errors import (
    ConfigError,
    DataError,
    InterruptedRunError,
    UnwritableError,
    lacks_memory,
    message_of,
)
from svmbench.harness.child import (
    BEGUN,
    CANNOT_WRITE,
    ENDED,
    NO_FILES,
    NO_MEMORY,
    adopt_orphans,
    children,
    end_children,
    end_with,
)
from svmbench.harness.clock import Stopwatch
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import TraceWriter
from svmbench.harness.weights import keep_weights
from svmbench.memory import PROCESS, available_memory, number_in
from svmbench.problem import Loss, Problem
from svmbench.solvers import cholesky
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import checked
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.single_file import solver_at

#: Share of the free memory that a run may take unless the sweep says otherwise.
MEMORY_SHARE = 0.8

#: The soft and the hard limit of a process's data that it began with.
_LIMITS = getrlimit(RLIMIT_DATA)

#: Fields of a job that must be the same for its run to reuse the rows of the run before.
POSED = ("solver_class", "train", "test", "lambda", "loss", "bias", "l1_radius")


class RowsError(InterruptedRunError):
    """The cached rows cannot be read: nothing is known about the run, and it is repeated."""


class Posed(NamedTuple):
    """The run before, whose rows the next one may reuse."""

    job: dict[str, Any]
    solver: Solver
    terms: Terms
    conversion: float | None  # seconds that converting its rows took

    def serves(self, job: dict[str, Any]) -> bool:
        """Whether the run of a job may reuse it."""
        return bool(job["reuses"]) and all(job[fact] == self.job[fact] for fact in POSED)


def main() -> None:
    """Read jobs from standard input and execute their runs."""
    # External programs may print to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    adopt_orphans()
    cholesky.load()  # for all solvers: the launcher, which forks most workers, has it too

    def answer(text: str) -> None:
        answers.write(f"{text}\n")
        answers.flush()

    last: Posed | None = None
    first = True
    while True:
        try:
            line = sys.stdin.buffer.readline()
            if not line:
                return
            job = json.loads(line)
            end_with(job["parent"])
            if last is not None and not last.serves(job):
                last = None
            if not first:
                _forget_peak_memory()
            first = False
            last = _execute(job, last, lambda: answer(BEGUN))
            answer(ENDED)
        except UnwritableError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and cause.errno == errno.EMFILE:
                sys.exit(NO_FILES)  # the limit is that of this process alone
            print(error, file=sys.stderr)
            sys.exit(CANNOT_WRITE)
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
            # Their exit codes would look like an end by the system or by the user.
            print(f"the solver raised {type(error).__name__}: {error}", file=sys.stderr)
            sys.exit(1)
        except Exception as error:
            if lacks_memory(error):
                sys.exit(NO_MEMORY)
            raise


def _execute(job: dict[str, Any], last: Posed | None, begin: Callable[[], None]) -> Posed | None:
    """Execute one run, and return what the next run may reuse."""
    with TraceWriter(Path(job["trace"]), job["header"]) as trace:
        try:
            measurement = _measurement(job, last)
            _limit_memory(job["stop"]["memory_limit"])
            settle = partial(end_children, children())
            state = measurement.run(job["seed"], trace, settle, begin)
        except InterruptedRunError as error:
            trace.end("interrupted", reason=str(error))
            return None
        except Exception as error:
            if not lacks_memory(error):
                raise
            trace.end("out_of_memory", reason=str(error) or "no memory left")
            return None
        peak = peak_memory()
        if job["keep_weights"] and measurement.shown:
            shown = measurement.shown
            trace.append(keep_weights(Path(job["trace"]), shown.w, shown.bias))
        if job["regret"] and state not in ("failed", "diverged"):
            # The run itself is complete, even if its regret takes too much memory.
            with suppress(MemoryError):
                _append_regrets(measurement, job["seed"], trace)
        trace.end(state, **measurement.closing(), peak_memory_bytes=peak)
    return Posed(job, measurement.solver, measurement.terms, measurement.conversion)


def _append_regrets(measurement: Measurement, seed: int, trace: TraceWriter) -> None:
    # Deferred: certifying optima loads libraries that a run does not need.
    from svmbench.reference.regret import regrets

    for record in regrets(measurement.solver, measurement.problem, seed):
        trace.append({"kind": "regret", **record})


def _measurement(job: dict[str, Any], last: Posed | None) -> Measurement:
    problem, test = (last.terms.problem, last.terms.test) if last else _opened(job)
    loading = Stopwatch()
    with loading.running():
        solver = loaded_solver(job["solver_class"], job["parameters"], job["solver_text"])
    _require_unchanged(solver, job["header"]["build"])
    taking_over = Stopwatch()
    with taking_over.running():
        takes_over = last is not None and solver.take_over(last.solver)
    terms = Terms(
        problem,
        test,
        job["stop"],
        job["reference_dual"],
        job["reference_primal"],
        job["threads"],
    )
    measurement = Measurement(solver, terms)
    if last is not None and takes_over:
        measurement.conversion = last.conversion
    measurement.loading = loading.thread / 1e9
    measurement.taking_over = taking_over.wall / 1e9
    return measurement


def _opened(job: dict[str, Any]) -> tuple[Problem, Dataset | None]:
    """The problem of a job, and its test rows."""
    data = open_rows(job["train"])
    test = open_rows(job["test"]) if job["test"] else None
    radius = math.inf if job["l1_radius"] is None else job["l1_radius"]
    return Problem(data, job["lambda"], Loss(**job["loss"]), job["bias"], radius), test


def _require_unchanged(solver: Solver, build: dict[str, Any]) -> None:
    """Refuse a program or a plug-in whose files are not those of the run's identity."""
    if not type(solver).__module__.startswith("svmbench."):
        try:
            same = solver.build()["source_sha256"] == build["source_sha256"]
        except OSError as error:  # they could be read before
            raise InterruptedRunError(
                f"the plug-in's files can no longer be read ({error.strerror}); run again"
            ) from error
        if not same:
            raise InterruptedRunError("the plug-in's files changed during the sweep; run again")
        return
    if type(solver) is not ForeignProgram:
        return
    try:
        found = solver.files_of(solver.parameters)
    except ConfigError as error:  # they could be read before
        raise InterruptedRunError(str(error)) from error
    if found != build["files"]:
        raise InterruptedRunError("the program's files changed during the sweep; run again")


def loaded_solver(solver_class: str, parameters: dict[str, Any], text: str | None = None) -> Solver:
    """A solver with these parameters, of the text with that hash, its program loaded."""
    solver = _made(solver_class, parameters, text)
    solver.load()
    return solver


def _made(solver_class: str, parameters: dict[str, Any], text: str | None) -> Solver:
    """A solver whose program need not be loaded yet.

    The sweep has imported it before: a failure comes of the system or of changed files, and the run
    is repeated.
    """
    try:
        found = solver_at(solver_class, text)
        return found(checked(found.schema, parameters))
    except (ConfigError, InterruptedRunError, RecursionError):
        raise  # calls too deep are the plug-in's fault: the same would come of the next run
    except Exception as error:
        said = f"{type(error).__name__}: {message_of(error)}"
        raise InterruptedRunError(
            f"the solver can no longer be imported ({said}); run again"
        ) from error


@lru_cache(maxsize=8)
def open_rows(path: str) -> Dataset:
    """Cached rows, read once so that the system holds them in memory; kept for later runs."""
    try:
        data = open_cached(Path(path))
    except OSError as error:
        raise RowsError(f"{path}: the cached rows cannot be read ({error.strerror})") from error
    except DataError as error:  # too many open files, or no memory to open them
        raise RowsError(str(error)) from error
    if data is None:
        raise RowsError(f"{path}: the cached rows were removed or damaged; run again")
    data.touch()
    return data


def _limit_memory(limit: int | None) -> None:
    """Make allocations fail beyond so many bytes more than now; mapped rows do not count."""
    setrlimit(RLIMIT_DATA, _LIMITS)  # not those of the run before
    available = available_memory()
    if limit is None and available is None:
        return
    share = math.inf if available is None else MEMORY_SHARE * available
    taken = number_in(PROCESS / "status", "VmData:", 1024) or 0
    wanted = taken + int(min(share, math.inf if limit is None else limit))
    hard = _LIMITS[1]
    setrlimit(RLIMIT_DATA, (wanted if hard == RLIM_INFINITY else min(wanted, hard), hard))


def peak_memory() -> int:
    # Unlike the peak in getrusage, without that of the process before it executed this program.
    peak = number_in(PROCESS / "status", "VmHWM:", 1024)
    if peak is None:
        peak = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak


def _forget_peak_memory() -> None:
    """Reset the peak to the memory in use now, if the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
