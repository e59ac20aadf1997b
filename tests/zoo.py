"""The zoo: solvers that cheat, lie or break things, each with what comes of it.

`SPECIMENS` lists them all. `tests/harness/test_zoo.py` runs each of them; the table in
docs/trust-results.md is made from this list.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import mmap
import os
import resource
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import numpy as np

from svmbench.kernels.counters import Counters
from svmbench.solvers.base import Solver
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.program import ForeignProgram, ProgramParameters, ProgramTime

#: Seconds of work that a hiding solver does where it hopes that no clock runs.
WORK = 0.3

#: Epochs that it makes there.
EPOCHS = 200

_thread_time = time.thread_time


def work(seconds=WORK):
    """Keep the processor busy."""
    until = _thread_time() + seconds
    while _thread_time() < until:
        sum(range(1000))


class Specimen(Dcd):
    """Trains as dcd does, unless a subclass has other ideas."""


class Hiding(Specimen):
    """Counts what it is asked for, and trains when `train` is called."""

    trained = False

    def start(self, problem, seed):
        self.inner = Dcd()
        self.inner.start(problem, seed)
        self.m = problem.data.n_samples
        self.counters = Counters()

    def advance(self, steps):
        self.counters.presentations += steps

    def train(self):
        if not self.trained and self.counters.presentations:
            self.trained = True
            work()
            self.inner.advance(EPOCHS * self.m)

    @property
    def w(self):
        return self.inner.w

    stopped = None

    def dual(self):
        return None


class SleepsInW(Specimen):
    name = "sleeps-in-w"

    @property
    def w(self):
        if self.counters.presentations and not hasattr(self, "slept"):
            time.sleep(1.0)
            self.slept = True
        return super().w


class TrainsInW(Hiding):
    name = "trains-in-w"

    @property
    def w(self):
        self.train()
        return self.inner.w


class TrainsInCounters(Hiding):
    name = "trains-in-counters"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.count = 0
        self.counters = Watched(self)


class Watched:
    """Counters whose reading trains."""

    def __init__(self, solver):
        self.solver, self.count = solver, 0
        self.updates = self.nonzeros = 0

    @property
    def presentations(self):
        if self.count and not self.solver.trained:
            self.solver.trained = True
            work()
            self.solver.inner.advance(EPOCHS * self.solver.m)
        return self.count

    @presentations.setter
    def presentations(self, value):
        self.count = value


class TrainsInDual(Hiding):
    name = "trains-in-dual"

    def dual(self):
        self.train()
        return self.inner.dual()


class TrainsInStopped(Hiding):
    name = "trains-in-stopped"

    @property
    def stopped(self):
        self.train()
        return False


class WorksInStep(Specimen):
    """Works while an attribute is read that the harness does not time."""

    name = "works-in-step"

    @property
    def step(self):
        if self.counters.presentations and not hasattr(self, "worked"):
            self.worked = True
            work(0.5)
        return "presentation"


class Lazy:
    """An array whose entries are computed when they are used."""

    def __init__(self, solver):
        self.solver = solver

    def __array__(self, dtype=None, copy=None):
        self.solver.train()
        return self.solver.inner.w


class LazyArray(Hiding):
    name = "lazy-array"

    @property
    def w(self):
        return Lazy(self)


class TrainsInConvert(Hiding):
    name = "trains-in-convert"

    def convert(self, problem):
        self.start(problem, 1)
        self.counters.presentations = 1
        self.train()

    def start(self, problem, seed):
        if not self.trained:
            super().start(problem, seed)


class TrainsInThread(Hiding):
    name = "trains-in-a-thread"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.thread = threading.Thread(target=self._train, daemon=True)
        self.thread.start()

    def _train(self):
        work()
        self.inner.advance(EPOCHS * self.m)

    @property
    def w(self):
        if self.counters.presentations:
            self.thread.join()
            return self.inner.w
        return np.zeros_like(self.inner.w)


class TrainsInChild(Hiding):
    """Has a child train, and reads the weights from a pipe."""

    name = "trains-in-a-child"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.best = None
        self.pipe, writing = os.pipe()
        if self.is_trainer():
            work()
            self.inner.advance(EPOCHS * self.m)
            os.write(writing, self.inner.w.tobytes())
            time.sleep(60.0)
            os._exit(0)
        os.close(writing)

    def is_trainer(self):
        return os.fork() == 0

    @property
    def w(self):
        if not self.counters.presentations:
            return self.inner.w
        if self.best is None:
            self.best = np.frombuffer(os.read(self.pipe, 1 << 16))
        return self.best


class TrainsInDaemon(TrainsInChild):
    """The same in a process that has detached itself."""

    name = "trains-in-a-daemon"

    def is_trainer(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                return True
            os._exit(0)
        os.wait()
        return False


class PatchesTime(Specimen):
    """Replaces the functions that tell the time, wherever a module has them by name."""

    name = "patches-time"

    def start(self, problem, seed):
        for module in [time, *(m for n, m in sys.modules.items() if n.startswith("svmbench"))]:
            if getattr(module, "time", None) is time or module is time:
                for function in ("perf_counter", "perf_counter_ns", "monotonic", "process_time"):
                    setattr(time, function, lambda: 0)
        super().start(problem, seed)
        work()


class PatchesClock(Specimen):
    """Replaces the functions that the clock itself has bound."""

    name = "patches-the-clock"

    def start(self, problem, seed):
        clock = sys.modules["svmbench.harness.clock"]
        frozen = clock.perf_counter_ns()
        clock.perf_counter_ns = lambda: frozen
        super().start(problem, seed)
        until = time.monotonic() + 2.0
        while time.monotonic() < until:
            work(0.1)


class StretchesThePass(Specimen):
    """Makes time run a thousand times as fast while the harness measures a pass over the rows."""

    name = "stretches-the-pass"

    def load(self):
        super().load()
        real = time.perf_counter_ns
        time.perf_counter_ns = lambda: 1000 * real()


class TrainsInEvaluation(Hiding):
    """Has the interpreter call it when the harness evaluates P, and trains there."""

    name = "trains-in-evaluation"

    def start(self, problem, seed):
        super().start(problem, seed)
        sys.setprofile(self._called)

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "evaluate" and not self.trained:
            self.train()


class TrainsInRecording(TrainsInEvaluation):
    """The same while the harness writes the trace."""

    name = "trains-in-recording"

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "append" and not self.trained:
            self.train()


class ReadsLong(TrainsInEvaluation):
    """Makes evaluations long, so that its reads may be long, too."""

    name = "stretches-evaluation"

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "evaluate" and self.counters.presentations:
            work(0.2)

    def dual(self):
        self.train()
        return self.inner.dual()


class StatedParameters(ProgramParameters):
    command: tuple[str, ...] = ("true", "{data}", "{model}")
    model: Literal["text"] = "text"


class StatesItsTime(ForeignProgram):
    """Passes for a command line, whose own time counts, and states a microsecond."""

    name = "states-its-time"
    schema = StatedParameters

    def convert(self, problem):
        pass

    def start(self, problem, seed):
        self.m = problem.data.n_samples
        self.inner = Dcd()
        self.inner.start(problem, seed)
        self.counters = Counters()
        self._bias, self._trained = 0.0, False

    def advance(self, steps):
        if self._trained:
            return
        work()
        self.inner.advance(EPOCHS * self.m)
        self.counters.presentations = self.m
        self._trained = True
        self.spent = ProgramTime(1_000, 1_000, 10**10)

    @property
    def w(self):
        return self.inner.w


class ResetsClock(Specimen):
    """Finds the clock among all objects, and sets it back."""

    name = "resets-the-clock"

    def advance(self, steps):
        super().advance(steps)
        work(0.02)
        for found in gc.get_objects():
            if type(found).__name__ == "Clock":
                found.wall = 0


class ForgesTrace(Hiding):
    """Finds its trace and adds points with a perfect result."""

    name = "forges-its-trace"

    def advance(self, steps):
        super().advance(steps)
        path = trace_of_this_run()
        *_, last = path.read_text().splitlines()
        point = json.loads(last) | {"presentations": 1, "accuracy": 0.0, "wall": 1e-9}
        with path.open("a") as file:
            file.write(2 * (json.dumps(point) + "\n"))


class ForgesEnd(Hiding):
    """Writes the end of its trace itself, with a hash that fits, and leaves."""

    name = "forges-its-end"

    def advance(self, steps):
        from svmbench.harness.trace import TraceWriter

        path = trace_of_this_run()
        header, last = map(json.loads, path.read_text().splitlines()[:2])
        del header["kind"], header["schema_version"]
        with TraceWriter(path, header) as writer:
            writer.append(last | {"presentations": 1, "accuracy": 0.0, "wall": 1e-9})
            writer.end("converged")
        os._exit(0)


def trace_of_this_run():
    """The trace that this process has open."""
    places = list(Path("/proc/self/fd").iterdir())
    return next(p.resolve() for p in places if p.exists() and p.resolve().suffix == ".part")


class ForgesWeights(Specimen):
    """Writes a file of weights beside its trace."""

    name = "forges-weights"

    def start(self, problem, seed):
        super().start(problem, seed)
        path = trace_of_this_run().with_suffix(".weights.npz")
        np.savez(path, w=np.zeros(problem.data.n_features), bias=0.0)


class KeepsWeights(Hiding):
    """Starts from the weights that an earlier run has left on disk."""

    name = "keeps-weights"
    place = Path(os.environ.get("SVMBENCH_CACHE", "/tmp")) / "kept.npy"

    def start(self, problem, seed):
        super().start(problem, seed)
        if self.place.exists():
            self.kept = np.load(self.place)
        else:
            self.inner.advance(EPOCHS * self.m)
            self.kept = self.inner.w
            np.save(self.place, self.kept)

    @property
    def w(self):
        return self.kept if self.counters.presentations else np.zeros_like(self.kept)


class ReplacesLabels(Specimen):
    name = "replaces-labels"

    def start(self, problem, seed):
        object.__setattr__(problem.data, "labels", np.ones_like(problem.data.labels))
        super().start(problem, seed)


class ReplacesRows(Specimen):
    name = "replaces-rows"

    def start(self, problem, seed):
        super().start(problem, seed)
        object.__setattr__(problem.data, "values", np.zeros_like(problem.data.values))


class ReplacesLambda(Specimen):
    name = "replaces-lambda"

    def start(self, problem, seed):
        object.__setattr__(problem, "lam", problem.lam / 1000.0)
        super().start(problem, seed)


class CountsTooMuch(Specimen):
    name = "counts-too-much"

    def advance(self, steps):
        super().advance(steps)
        self.lie = Counters()
        self.lie.presentations = 10**9 * self._m
        self.counters = self.lie

    def start(self, problem, seed):
        super().start(problem, seed)
        self._m = problem.data.n_samples


class CountsNothing(Hiding):
    name = "counts-nothing"

    def advance(self, steps):
        self.inner.advance(EPOCHS * self.m)


class CountsBackwards(Specimen):
    name = "counts-backwards"

    def advance(self, steps):
        self.counters.presentations += steps
        self.counters.updates -= 1


class BoundTooHigh(Specimen):
    name = "bound-too-high"

    def dual(self):
        return 10.0


class CostTooLow(Specimen):
    """Replaces the function that evaluates P."""

    name = "cost-too-low"

    def start(self, problem, seed):
        super().start(problem, seed)
        kind = type(problem)
        evaluate = kind.evaluate
        kind.evaluate = lambda self, w, bias: replace(evaluate(self, w, bias), primal=1e-6)


class NotANumber(Specimen):
    name = "not-a-number"

    @property
    def w(self):
        return np.full_like(super().w, np.nan)


class Infinite(Specimen):
    name = "infinite"

    @property
    def w(self):
        return np.full_like(super().w, np.inf)


class WrongShape(Specimen):
    name = "wrong-shape"

    @property
    def w(self):
        return super().w[:-1]


class WrongType(Specimen):
    name = "wrong-type"

    @property
    def w(self):
        return super().w.astype(complex)


class ChangesWeights(Specimen):
    """Shows an array that it overwrites later."""

    name = "changes-weights"

    @property
    def w(self):
        self.buffer = getattr(self, "buffer", None)
        if self.buffer is None:
            self.buffer = np.empty_like(super().w)
        self.buffer[:] = super().w
        return self.buffer

    def dual(self):
        self.buffer[:] = 1e300
        return


class RaisesExit(Specimen):
    name = "raises-exit"

    def advance(self, steps):
        raise SystemExit(0)


class RaisesInterrupt(Specimen):
    name = "raises-interrupt"

    def advance(self, steps):
        raise KeyboardInterrupt


class RaisesBase(Specimen):
    name = "raises-base"

    def advance(self, steps):
        raise BaseException("neither an error nor an exit")


class Prints(Specimen):
    name = "prints"

    def advance(self, steps):
        for _ in range(300):
            os.write(2, b"x" * 1_000_000)
        os.write(2, b"\n")
        raise ValueError("out of paper")


class Allocates(Specimen):
    name = "allocates"

    def advance(self, steps):
        taken = []
        while True:
            taken.append(np.ones(1 << 23))


class Stays(Specimen):
    """Ignores SIGTERM and does not come back."""

    name = "stays"

    def advance(self, steps):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            work(1.0)


class Leaves(Specimen):
    name = "leaves"

    def advance(self, steps):
        os._exit(0)


class ClosesFiles(Specimen):
    """Closes all files, the harness's among them, and lives on."""

    name = "closes-files"

    def advance(self, steps):
        os.closerange(0, 1024)
        time.sleep(60.0)


class KillsParent(Specimen):
    name = "kills-its-parent"

    def advance(self, steps):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60.0)


class EditsRows(Specimen):
    """Changes the cached rows on disk while it trains, and restores them."""

    name = "edits-the-rows"

    def start(self, problem, seed):
        super().start(problem, seed)
        (path,) = Path(os.environ["SVMBENCH_CACHE"]).glob("datasets/*/values.npy")
        before = path.stat()
        with path.open("r+b") as file:
            file.seek(-8, os.SEEK_END)
            sound = file.read()
            for content in (bytes(8), sound):
                file.seek(-8, os.SEEK_END)
                file.write(content)
                file.flush()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class CountsBelowZero(Specimen):
    name = "counts-below-zero"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.counters.nonzeros = -(10**6)


class Remarks(Specimen):
    name = "remarks-at-length"

    @property
    def remark(self):
        return "x" * 50_000_000


class Complains(Specimen):
    name = "complains-at-length"

    def advance(self, steps):
        raise MemoryError("no room " + "x" * 50_000_000)


class BecomesAnother(Specimen):
    """Has its process execute another program, which succeeds."""

    name = "becomes-another"

    def advance(self, steps):
        os.execv("/bin/true", ["true"])


class CostUnderstated(Specimen):
    """Replaces the function that evaluates P, and shows no less than the certified bound."""

    name = "cost-understated"

    def start(self, problem, seed):
        super().start(problem, seed)
        run = next(found for found in gc.get_objects() if type(found).__name__ == "Measurement")
        kind, bound = type(problem), run.reference_dual
        evaluate = kind.evaluate
        kind.evaluate = lambda self, w, bias: replace(evaluate(self, w, bias), primal=bound)


class RewritesPoints(Specimen):
    """Replaces the function that writes the trace, and divides the times by a thousand."""

    name = "rewrites-its-points"

    def start(self, problem, seed):
        super().start(problem, seed)
        writer = sys.modules["svmbench.harness.trace"].TraceWriter
        append = writer.append

        def shortened(self, record):
            times = {name: record[name] / 1000.0 for name in ("wall", "cpu") if name in record}
            return append(self, record | times)

        writer.append = shortened


class BecomesAProgram(Hiding):
    """Takes the class of programs, which state what they took, and states a microsecond."""

    name = "becomes-a-program"

    def start(self, problem, seed):
        super().start(problem, seed)
        self._w, self._bias, self._remark = self.inner.w, 0.0, ""
        self._trained, self.horizon, self.spent = False, "none", None
        self.advance = self.train_as_a_program
        self.__class__ = ForeignProgram

    def train_as_a_program(self, steps):
        if self._trained:
            return
        work()
        self.inner.advance(EPOCHS * self.m)
        self._w, self._trained = self.inner.w, True
        self.counters.presentations = self.m
        self.spent = ProgramTime(1_000, 1_000, 10**10)


class CountsAstronomically(Specimen):
    """Counts more than a double holds."""

    name = "counts-astronomically"

    def advance(self, steps):
        super().advance(steps)
        self.counters = SimpleNamespace(presentations=10**309, updates=0, nonzeros=0)


class NeverAdvances(Specimen):
    name = "never-advances"

    def advance(self, steps):
        pass


class RemarksInPieces(Specimen):
    """Makes a remark of several lines, with characters that no file in UTF-8 can hold."""

    name = "remarks-in-pieces"

    @property
    def remark(self):
        return 'one\rtwo\nthree\0four\x1b[2Jfive, "six"\u202e\ud800'


class ReturnsTwice(Specimen):
    """Forks, and returns to the harness in both processes."""

    name = "returns-twice"
    forked = False

    def advance(self, steps):
        super().advance(steps)
        if not self.forked:
            self.forked = True
            os.fork()


class PutsAPipe(Specimen):
    """Puts a pipe in place of its trace, whose reading does not end."""

    name = "puts-a-pipe"

    def start(self, problem, seed):
        super().start(problem, seed)
        path = trace_of_this_run()
        path.unlink()
        os.mkfifo(path)


class HobblesItsLauncher(Specimen):
    """Takes priority, processors and open files from the process that starts the next runs."""

    name = "hobbles-its-launcher"

    def start(self, problem, seed):
        super().start(problem, seed)
        launcher = os.getppid()
        os.setpriority(os.PRIO_PROCESS, launcher, 19)
        os.sched_setaffinity(launcher, {max(os.sched_getaffinity(launcher))})
        hard = resource.prlimit(launcher, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(launcher, resource.RLIMIT_NOFILE, (60, hard))


class ShowsItsStanding(Specimen):
    """Says what its process has inherited; it is no part of the zoo."""

    name = "shows-its-standing"

    @property
    def remark(self):
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        processors = sorted(os.sched_getaffinity(0))
        return f"{os.getpriority(os.PRIO_PROCESS, 0)} {processors} {files}"


class StopsItsLauncher(Specimen):
    """Freezes the process that would report its end."""

    name = "stops-its-launcher"

    def start(self, problem, seed):
        super().start(problem, seed)
        os.kill(os.getppid(), signal.SIGSTOP)


class UsesABias(Specimen):
    """Shows a bias, although the problem has none."""

    name = "uses-a-bias"

    @property
    def bias(self):
        return 0.01


class Trapped(np.ndarray):
    """An array that cannot be used in any way that it notices."""

    def refuse(self, *given, **named):
        raise AssertionError("code of a solver was called")

    __array_ufunc__ = __array_function__ = __getitem__ = __eq__ = __len__ = __iter__ = refuse
    __hash__ = None


class ShowsOddArrays(Specimen):
    """Shows weights of a class, a byte order, a type and strides of its own."""

    name = "shows-odd-arrays"

    @property
    def w(self):
        kind = (">f8", np.longdouble, "<f8")[self.counters.presentations % 3]
        backwards = np.repeat(super().w[::-1], 2).astype(kind)
        return backwards[::2][::-1].view(Trapped)


class RaisesByAlarm(Specimen):
    """Has an alarm raise an exception wherever the process is."""

    name = "raises-by-alarm"

    def start(self, problem, seed):
        super().start(problem, seed)
        signal.signal(signal.SIGALRM, self.rung)
        signal.setitimer(signal.ITIMER_REAL, 0.001)

    def rung(self, *_):
        raise TimeoutError("too late")

    def advance(self, steps):
        super().advance(steps)
        work(0.002)


class LinksTheTables(Specimen):
    """Puts links to another file in place of the tables of its results folder."""

    name = "links-the-tables"

    def start(self, problem, seed):
        super().start(problem, seed)
        victim = Path(os.environ["SVMBENCH_CACHE"]) / "victim"
        victim.write_text("mine")
        folder = trace_of_this_run().parent.parent
        for table in ("runs.csv", "traces.csv"):
            (folder / table).unlink(missing_ok=True)
            (folder / table).symlink_to(victim)
        (folder / ".lock").unlink()


class TrainsInLookup(Hiding):
    """Trains while `advance` is looked up, before it is called."""

    name = "trains-in-lookup"

    def __getattribute__(self, name):
        if name == "advance":
            self.train()
        return super().__getattribute__(name)


class LateBound:
    """A lower bound that is computed when it becomes a number."""

    def __init__(self, solver):
        self.solver = solver

    def __float__(self):
        self.solver.train()
        return self.solver.inner.dual()


class LazyBound(Hiding):
    name = "lazy-bound"

    def dual(self):
        return LateBound(self)


class HangsAtExit(Specimen):
    """Does not let its process end."""

    name = "hangs-at-exit"

    def start(self, problem, seed):
        super().start(problem, seed)
        atexit.register(time.sleep, 3600.0)
        threading.Thread(target=time.sleep, args=(3600.0,)).start()


class LimitsItself(Specimen):
    """Has the system end it after a second of work."""

    name = "limits-itself"

    def advance(self, steps):
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        work(60.0)


class OpensEverything(Specimen):
    """Takes all the files that its process may open."""

    name = "opens-everything"

    def start(self, problem, seed):
        super().start(problem, seed)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
        self.taken = []
        while len(self.taken) < 256:
            try:
                self.taken.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                return


class ShowsNoScale(Specimen):
    name = "shows-no-scale"
    largest_scaling = float("nan")


class WritesLabels(Specimen):
    """Asks the system for the right to write into the mapped labels."""

    name = "writes-labels"

    def start(self, problem, seed):
        super().start(problem, seed)
        labels = problem.data.labels
        system = ctypes.CDLL(None, use_errno=True)
        page = labels.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
        size = labels.ctypes.data + labels.nbytes - page
        if system.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(size), 3) != 0:
            raise OSError(ctypes.get_errno(), "the rows cannot be written")
        ctypes.memset(labels.ctypes.data, 1, labels.nbytes)


class TracesEvaluation(TrainsInEvaluation):
    """Has the interpreter trace the harness's functions, and trains in the one that evaluates P."""

    name = "traces-evaluation"

    def start(self, problem, seed):
        Hiding.start(self, problem, seed)
        sys.settrace(self._called)


class TrainsInCollection(Hiding):
    """Has the garbage collector call it all the time, and trains when that is off the clock."""

    name = "trains-in-collection"

    def start(self, problem, seed):
        super().start(problem, seed)
        gc.set_threshold(1)
        gc.callbacks.append(self._collected)

    def _collected(self, phase, facts):
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code.co_name == "evaluate":
                self.train()
            frame = frame.f_back


class WorksAtExit(Specimen):
    """Works when its process ends, after everything has been recorded."""

    name = "works-at-exit"

    def start(self, problem, seed):
        super().start(problem, seed)
        atexit.register(work, 0.5)


class RaisesInRemark(Specimen):
    name = "raises-in-remark"

    @property
    def remark(self):
        raise ValueError("no words left")


class RaisesInT0(Specimen):
    name = "raises-in-t0"

    @property
    def t0(self):
        raise ValueError("no offset")


class WorksInRemark(Specimen):
    name = "works-in-remark"

    @property
    def remark(self):
        work(0.5)
        return ""


class HangsInRemark(Specimen):
    name = "hangs-in-remark"

    @property
    def remark(self):
        time.sleep(3600.0)


class ShowsOddT0(Specimen):
    name = "shows-odd-t0"
    t0 = float("nan")


@dataclass(frozen=True)
class Entry:
    """A specimen, and what comes of it.

    Parameters
    ----------
    solver : type of Solver
    does : str
        What it does, for the table in docs/trust-results.md.
    state : str
        How its run ends.
    reason : str
        A part of the run's reason.
    flag : str
        The entry of the column ``off_clock``.
    refused : bool
        Whether it has failed because what it showed cannot be true.
    reaches : bool
        Whether a run that has failed counts with what it reached before.
    """

    solver: type[Solver]
    does: str
    state: str = "failed"
    reason: str = ""
    flag: str = ""
    refused: bool = False
    reaches: bool = False


BACKGROUND = "in other threads or processes"
SPECIMENS = (
    Entry(SleepsInW, "sleeps while `w` is read", "converged", flag="read"),
    Entry(TrainsInW, "trains while `w` is read", "converged", flag="read"),
    Entry(TrainsInCounters, "trains while `counters` are read", "converged"),
    Entry(TrainsInDual, "trains in `dual()`", "converged", flag="read"),
    Entry(TrainsInStopped, "trains while `stopped` is read", "converged", flag="read"),
    Entry(LazyArray, "trains when the entries of `w` are used", "converged", flag="read"),
    Entry(WorksInStep, "works while `step` is read", "converged", flag="unaccounted"),
    Entry(TrainsInConvert, "trains in `convert()`", "converged", flag="conversion"),
    Entry(TrainsInThread, "trains in a thread", reason=BACKGROUND, refused=True),
    Entry(TrainsInChild, "trains in a forked child", reason=BACKGROUND, refused=True),
    Entry(TrainsInDaemon, "trains in a detached grandchild", reason=BACKGROUND, refused=True),
    Entry(PatchesTime, "replaces the functions of `time`", "converged"),
    Entry(PatchesClock, "stops the clock's own functions", reason="its clock showed", refused=True),
    Entry(StretchesThePass, "makes a pass over the rows seem long", "converged"),
    Entry(TrainsInEvaluation, "trains while P is evaluated", "converged", flag="unaccounted"),
    Entry(TrainsInRecording, "trains while the trace is written", "converged", flag="unaccounted"),
    Entry(
        ReadsLong,
        "makes evaluations long, and then its reads",
        "converged",
        flag="read; unaccounted",
    ),
    Entry(StatesItsTime, "states its own time, as if it were a program", "converged"),
    Entry(
        ResetsClock, "finds the clock and sets it back", reason="clock was set back", refused=True
    ),
    Entry(
        ForgesTrace, "adds points to its trace", reason="something else has written", refused=True
    ),
    Entry(ForgesEnd, "writes the end of its trace, and exits", reason="exited with code 0"),
    Entry(ForgesWeights, "writes a file of weights beside its trace", "converged"),
    Entry(KeepsWeights, "starts from weights that an earlier run has kept", "converged"),
    Entry(ReplacesLabels, "replaces the labels", reason="changed the problem", refused=True),
    Entry(ReplacesRows, "replaces the rows", reason="changed the problem", refused=True),
    Entry(ReplacesLambda, "replaces λ", reason="changed the problem", refused=True),
    Entry(CountsTooMuch, "counts 1e9 epochs", reason="passes over the rows in", refused=True),
    Entry(CountsNothing, "counts nothing", reason="without a presentation", refused=True),
    Entry(CountsBackwards, "counts backwards", reason="its counts decrease", refused=True),
    Entry(
        BoundTooHigh, "shows a lower bound above P*", reason="reports the lower bound", refused=True
    ),
    Entry(
        CostTooLow, "has P evaluated too low", reason="is below the certified bound", refused=True
    ),
    Entry(NotANumber, "shows weights that are nan", "diverged"),
    Entry(Infinite, "shows weights that are infinite", "diverged"),
    Entry(WrongShape, "shows a weight too few", reason="w has the shape"),
    Entry(WrongType, "shows complex weights", reason="not floating-point numbers"),
    Entry(ChangesWeights, "overwrites the weights it has shown", "converged"),
    Entry(RaisesExit, "raises `SystemExit`", reason="raised SystemExit"),
    Entry(RaisesInterrupt, "raises `KeyboardInterrupt`", reason="raised KeyboardInterrupt"),
    Entry(RaisesBase, "raises `BaseException`", reason="neither an error nor an exit"),
    Entry(Prints, "prints 300 MB on standard error", reason="out of paper"),
    Entry(Allocates, "allocates memory without end", "out_of_memory", "Unable to allocate"),
    Entry(Stays, "ignores SIGTERM and does not return", "time_limit", reason="killed after"),
    Entry(Leaves, "calls `os._exit(0)`", reason="exited with code 0"),
    Entry(ClosesFiles, "closes all files and lives on", reason="closed its pipe"),
    Entry(
        EditsRows, "edits the cached rows, and restores them", "interrupted", "were changed on disk"
    ),
    Entry(CountsBelowZero, "counts below zero", reason="or are negative", refused=True),
    Entry(Remarks, "makes a remark of 50 MB", "converged"),
    Entry(Complains, "raises an error of 50 MB", "out_of_memory", "no room"),
    Entry(BecomesAnother, "has its process execute another program", reason="exited with code 0"),
    Entry(CostUnderstated, "has P evaluated as the certified bound", "converged"),
    Entry(RewritesPoints, "has times written that are too short", "converged"),
    Entry(KillsParent, "kills its parent", "interrupted", "ended from outside (SIGKILL)"),
    Entry(BecomesAProgram, "takes the class of programs, which state their time", "converged"),
    Entry(CountsAstronomically, "counts 1e309 presentations", reason="more than 64 bits"),
    Entry(NeverAdvances, "does nothing", "max_steps", "advance has counted nothing"),
    Entry(RemarksInPieces, "makes a remark that is not text", "converged"),
    Entry(
        ReturnsTwice,
        "forks, and goes on in both processes",
        reason="something else has written",
        refused=True,
    ),
    Entry(
        PutsAPipe,
        "puts a pipe in place of its trace",
        reason="something else has written",
        refused=True,
    ),
    Entry(HobblesItsLauncher, "takes priority and limits from its launcher", "converged"),
    Entry(StopsItsLauncher, "freezes its launcher", "interrupted", "without a checkpoint"),
    Entry(
        UsesABias, "shows a bias where there is none", reason="the problem has none", refused=True
    ),
    Entry(ShowsOddArrays, "shows arrays of other classes and types", "converged"),
    Entry(RaisesByAlarm, "raises an exception by an alarm", reason="TimeoutError"),
    Entry(LinksTheTables, "puts links in place of the tables", "converged"),
    Entry(TrainsInLookup, "trains while `advance` is looked up", "converged"),
    Entry(LazyBound, "trains when its lower bound becomes a number", "converged", flag="read"),
    Entry(HangsAtExit, "does not let its process end", "converged"),
    Entry(
        LimitsItself,
        "has the system end it after a second",
        "interrupted",
        "ended from outside (SIGKILL)",
    ),
    Entry(
        OpensEverything,
        "opens as many files as it may",
        "interrupted",
        "could open no more files",
    ),
    Entry(ShowsNoScale, "shows that its steps are scaled by nan", "converged"),
    Entry(
        WritesLabels,
        "writes other labels into the mapped rows",
        reason="the rows cannot be written",
    ),
    Entry(
        TracesEvaluation,
        "trains while its tracer sees P evaluated",
        "converged",
        flag="unaccounted",
    ),
    Entry(TrainsInCollection, "trains while garbage is collected", "converged", flag="unaccounted"),
    Entry(WorksAtExit, "works when its process ends", "converged"),
    Entry(RaisesInRemark, "raises an error in `remark`", reason="no words left", reaches=True),
    Entry(RaisesInT0, "raises an error in `t0`", reason="no offset", reaches=True),
    Entry(WorksInRemark, "works in `remark`, after the run", "converged"),
    Entry(
        HangsInRemark,
        "does not come back from `remark`",
        "interrupted",
        reason="without a checkpoint",
    ),
    Entry(ShowsOddT0, "shows that t0 is nan", "converged"),
)


def table():
    """The table of docs/trust-results.md, as lines of Markdown."""
    yield "| solver | what it does | end of its run | words of the reason, or flag in `off_clock` |"
    yield "|---|---|---|---|"
    for entry in SPECIMENS:
        said = f"*{entry.reason}*" if entry.reason else entry.flag and f"`{entry.flag}`"
        yield f"| {entry.solver.name} | {entry.does} | `{entry.state}` | {said} |"
