"""The worker process: runs of one solver on one problem, timed by the suite's only clock.

The parent starts ``python -m svmbench.harness.worker`` with the numerical libraries limited to
their threads, and writes jobs to its standard input, one per line, as JSON. The worker answers
each with an empty line. There is more than one job only if the runs are rungs of a ladder, which
need the same rows in the same form.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_DATA, RUSAGE_SELF, getrlimit, getrusage, setrlimit
from typing import Any, NamedTuple

import numpy as np

from svmbench.data.cache import open_cached
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.errors import UnwritableError
from svmbench.harness import system
from svmbench.harness.child import CANNOT_WRITE, end_with
from svmbench.harness.streaming import pass_seconds
from svmbench.harness.trace import TraceWriter, checkpoints, iteration_checkpoints
from svmbench.harness.weights import keep_weights
from svmbench.memory import available_memory
from svmbench.problem import Evaluation, Loss, Problem, accuracy_of, count_errors, relative_gap
from svmbench.solvers.base import Solver

#: Relative error allowed in a solver's own lower bound: its rounding, and in single precision
#: the drift of its weights from its dual variables.
BOUND_SLACK = {"float64": 1e-9, "float32": 1e-3}

#: Share of the free memory that a run may take unless the sweep says otherwise.
MEMORY_SHARE = 0.8

#: Features up to which the trace records the final weights: plots of the plane draw them as a line.
FEW_FEATURES = 16


#: Constants of a problem and arrays of its rows that a solver must leave as they are.
CONSTANTS = ("lam", "loss", "bias", "l1_radius")
ARRAYS = ("indptr", "indices", "values", "labels")


class Clock:
    """Training time: it runs inside ``with clock.running():`` and nowhere else.

    Attributes
    ----------
    wall : int
        Nanoseconds of the monotonic clock.
    cpu : int
        Nanoseconds of processor time of the whole process.
    switches : int
        Number of involuntary context switches.
    """

    def __init__(self) -> None:
        self.wall = 0
        self.cpu = 0
        self.switches = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the clock during the block."""
        switches = getrusage(RUSAGE_SELF).ru_nivcsw
        cpu = time.process_time_ns()
        wall = time.perf_counter_ns()
        try:
            yield
        finally:
            self.wall += time.perf_counter_ns() - wall
            self.cpu += time.process_time_ns() - cpu
            self.switches += getrusage(RUSAGE_SELF).ru_nivcsw - switches


class Certificate(NamedTuple):
    """A solver's weights and bias at one moment, their value, and its lower bound."""

    w: FloatArray
    bias: float
    training: Evaluation
    dual: float | None


class Measurement:
    """Trains a solver from checkpoint to checkpoint, evaluates it and enforces the limits.

    Parameters
    ----------
    solver : Solver
    problem : Problem
        The solver gets a copy that shares its arrays: whatever it does to that, P and the errors
        are those of this problem.
    test : Dataset or None
    stop : dict
        The sweep's targets and limits, as in `svmbench.config.Stop`.
    reference_dual, reference_primal : float
        D_ref <= P* <= P_ref, certified by the harness.
    conversion : float, optional
        Seconds that converting the rows to the solver's form took, if that has been done.
    given : Problem, optional
        The solver's copy of the problem, if it has converted the rows of one.

    Attributes
    ----------
    given : Problem
        What the solver was given.
    reason : str
        Why the run ended as it did, if its state does not say everything.
    """

    def __init__(
        self,
        solver: Solver,
        problem: Problem,
        test: Dataset | None,
        stop: dict[str, Any],
        reference_dual: float,
        reference_primal: float,
        conversion: float | None = None,
        given: Problem | None = None,
    ) -> None:
        self.solver = solver
        self.conversion = conversion
        self.problem = problem
        self.given = copy_of(problem) if given is None else given
        self._kernel_rows = self.given.data.rows
        self.test = test
        self.stop = stop
        self.reference_dual = reference_dual
        self.reference_primal = reference_primal
        self.reason = ""
        self.clock = Clock()
        self._evaluating = self._evaluations = 0
        self._activity: dict[str, float] = {}
        m = problem.data.n_samples
        self._most = self._presentations(stop["max_epochs"])
        self._most_updates = math.inf if stop["max_updates"] is None else stop["max_updates"] * m
        self._targets = checkpoints(m, solver.cycle)
        self._iteration_targets = iteration_checkpoints()
        self._target, self._iteration_target = next(self._targets), next(self._iteration_targets)
        self._iterations = 0
        self._judged_at_end = solver.horizon != "none" and not solver.anytime
        solver.halts = bool(stop["own"]) or (self._judged_at_end and solver.horizon == "accuracy")
        self._horizon = math.inf
        if solver.horizon == "steps":
            self._horizon = self._presentations(
                getattr(solver.parameters, solver.horizon_parameter)
            )

    def run(self, seed: int, trace: TraceWriter | list[dict[str, Any]]) -> str:
        """Execute the run, append its points to the trace, and return its end state."""
        stream = pass_seconds(self.problem.data)
        begun = system.now()
        try:
            state = self._train(seed, trace, stream)
        finally:
            self._activity = system.since(begun)
        changed = self.changed()
        if changed and state != "failed":
            self.reason = f"changed the problem that it was given: {changed}"
            return "failed"
        return state

    def changed(self) -> str:
        """What the solver has changed of the problem that it was given; empty if nothing.

        A worker's arrays are mapped read-only, so that the same array has the same content; only
        an array in another's place is compared with it, entry by entry.
        """
        given, own = self.given, self.problem
        parts = [name for name in CONSTANTS if getattr(given, name) != getattr(own, name)]
        for name in ARRAYS:
            one, other = getattr(given.data, name), getattr(own.data, name)
            if one is not other and not np.array_equal(one, other):
                parts.append(name)
        if given.data.n_features != own.data.n_features:
            parts.append("n_features")
        if given.data.rows is not self._kernel_rows:
            parts.append("rows")
        return ", ".join(parts)

    def _train(self, seed: int, trace: TraceWriter | list[dict[str, Any]], stream: float) -> str:
        if self.conversion is None:
            converting = Clock()
            with converting.running():
                self.solver.convert(self.given)
            self.conversion = converting.wall / 1e9
        with self.clock.running():
            self.solver.start(self.given, seed)
        setup = {
            "setup_wall": self.clock.wall / 1e9,
            "conversion_wall": self.conversion,
            "pass_wall": stream,
        }
        point = self._evaluate(self._certify())
        trace.append(point | setup)
        state = self._verdict(point)
        while state is None:
            certificate = self._advance()
            if self._judged_at_end and not (self._at_horizon() or self._limit()):
                continue  # intermediate weights are not the result that it aims for
            point = self._evaluate(certificate or self._certify())
            trace.append(point)
            state = self._verdict(point)
        return state

    def _presentations(self, epochs: float | None) -> float:
        # Rounded, so that a limit of whole steps, written in epochs, is not one row more.
        wanted = math.inf if epochs is None else epochs * self.problem.data.n_samples
        return wanted if math.isinf(wanted) else math.ceil(round(wanted, 6))

    def _advance(self) -> Certificate | None:
        """Train up to the next checkpoint, and certify if the run stops by the solver's gap."""
        while self._target <= self.solver.visits():
            self._target = next(self._targets)  # the last step went past it
        while self._iteration_target <= self._iterations:
            self._iteration_target = next(self._iteration_targets)
        if self.solver.step == "presentation":
            with self.clock.running():
                self._reach(self._target)
        else:
            self._iterate(int(min(self._target, self._most, self._horizon)))
        if self.stop["gap"] is None:
            return None
        with self.clock.running():
            return self._certify()

    def _reach(self, target: int) -> None:
        """Advance until so many rows are visited, or to a limit of presentations."""
        solver = self.solver
        stopped = solver.stopped
        while True:
            before = solver.counters.presentations
            left = min(self._most, self._horizon) - before
            steps = int(min(solver.steps_to(target), left))
            if steps <= 0:
                return
            solver.advance(steps)
            if solver.halts and solver.stopped and not stopped:
                return
            if solver.counters.presentations == before:  # an external program trains only once
                return

    def _iterate(self, target: int) -> None:
        """Iterate up to a checkpoint: ``target`` presentations, or one of iterations.

        After each iteration, every condition that can end the run is checked.
        """
        solver = self.solver
        while True:
            stopped = solver.stopped
            with self.clock.running():
                solver.advance(1)
            self._iterations += 1
            if (
                solver.counters.presentations >= target
                or self._iterations >= self._iteration_target
                or (solver.halts and solver.stopped and not stopped)
                or self._limit()
            ):
                return

    def _certify(self) -> Certificate:
        w, bias = self.solver.w, self.solver.bias
        begun = time.perf_counter_ns()
        training = self.problem.evaluate(w, bias)
        self._evaluating += time.perf_counter_ns() - begun
        self._evaluations += 1
        return Certificate(w, bias, training, self.solver.dual())

    def closing(self) -> dict[str, Any]:
        """Facts for the run's last line, in addition to its state.

        They are the mean seconds of one evaluation of P, the solver's remark on its decisions,
        the machine's other activity during the run and, if the features are few, the final weights
        and bias.
        """
        facts: dict[str, Any] = {
            "reason": self.reason,
            "evaluation_seconds": self._evaluating / 1e9 / max(1, self._evaluations),
            "remark": self.solver.remark,
            **self._activity,
        }
        w = np.asarray(self.solver.w, dtype=np.float64)
        if w.size <= FEW_FEATURES and np.isfinite(w).all():
            facts |= {"weights": w.tolist(), "bias": float(self.solver.bias)}
        return facts

    def _evaluate(self, shown: Certificate) -> dict[str, Any]:
        w, bias, training, dual = shown
        if not self.problem.admits(w) and np.isfinite(w).all():
            self.reason = f"leaves the ball: ||w||_1 = {np.abs(w).sum():g}"
        counters = self.solver.counters
        primal = training.primal if np.isfinite(w).all() else math.nan
        distance = self.stop.get("distance", "relative")
        accuracy = accuracy_of(primal, self.reference_dual, distance)
        if self.problem.is_below(self.reference_dual, primal, w, bias):
            self.reason = f"P = {primal!r} is below the certified bound {self.reference_dual!r}"
            accuracy = math.nan  # it has reached no accuracy
        m, test = self.problem.data.n_samples, self.test
        return {
            "kind": "point",
            "presentations": counters.presentations,
            "visits": self.solver.visits(),
            "updates": counters.updates,
            "nonzeros": counters.nonzeros,
            "wall": self.clock.wall / 1e9,
            "cpu": self.clock.cpu / 1e9,
            "switches": self.clock.switches,
            "primal": primal,
            "accuracy": accuracy,
            "dual": dual,
            "gap": None if dual is None else relative_gap(primal, dual),
            "train_error": training.errors / m,
            "test_error": count_errors(test, w, bias) / test.n_samples if test else None,
            "stopped": self.solver.stopped,
        }

    def _verdict(self, point: dict[str, Any]) -> str | None:
        """The end state if the run ends at this point, else None."""
        if self.reason:
            return "failed"
        if not math.isfinite(point["primal"]):
            return "diverged"
        if self._overclaims(point["dual"]):
            self.reason = (
                f"reports the lower bound {point['dual']!r}, but P* <= {self.reference_primal!r}"
            )
            return "failed"
        if self._at_horizon() if self._judged_at_end else self._satisfied(point):
            return "converged"
        return self._limit()

    def _limit(self) -> str | None:
        """The end state if a limit has been reached, else None."""
        counters = self.solver.counters
        if counters.presentations >= self._most or counters.updates >= self._most_updates:
            return "max_steps"
        if self.solver.exhausted:
            return "max_steps"
        return "time_limit" if self.clock.wall >= self.stop["time_limit"] * 1e9 else None

    def _at_horizon(self) -> bool:
        """Whether a solver that was given a horizon has reached it."""
        if self.solver.horizon == "steps":
            return bool(self.solver.counters.presentations >= self._horizon)
        return self.solver.stopped is True

    def _overclaims(self, dual: float | None) -> bool:
        """Whether the solver's lower bound lies above a certified upper bound."""
        slack = BOUND_SLACK[self.solver.parameters.precision]
        return dual is not None and dual > self.reference_primal * (1.0 + slack)

    def _satisfied(self, point: dict[str, Any]) -> bool:
        """Whether all targets are met that were set and that apply to the solver."""
        targets = []
        if self.stop["accuracy"]:
            targets.append(point["accuracy"] <= min(self.stop["accuracy"]))
        if self.stop["gap"] is not None and point["gap"] is not None:
            targets.append(point["gap"] <= self.stop["gap"])
        if self.stop["own"] and point["stopped"] is not None:
            targets.append(point["stopped"])
        return bool(targets) and all(targets)


def copy_of(problem: Problem) -> Problem:
    """A problem of its own on the same arrays."""
    return replace(problem, data=replace(problem.data))


#: Fields of a job that must be the same for its run to reuse the rows of the run before.
POSED = ("solver_class", "train", "test", "lambda", "loss", "bias", "l1_radius")


class Posed(NamedTuple):
    """The problem and the solver of the run before; the next run may reuse their rows."""

    job: dict[str, Any]
    problem: Problem
    given: Problem
    test: Dataset | None
    solver: Solver
    conversion: float | None


def main() -> None:
    """Read jobs from standard input and execute their runs."""
    # External programs may print to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    last: Posed | None = None
    for line in sys.stdin:
        job = json.loads(line)
        end_with(job["parent"])
        try:
            last = _execute(job, last)
        except UnwritableError as error:
            print(error, file=sys.stderr)
            sys.exit(CANNOT_WRITE)
        answers.write("\n")
        answers.flush()


def _execute(job: dict[str, Any], last: Posed | None) -> Posed | None:
    """Execute one run, and return what the next run may reuse."""
    if last is not None:
        _forget_peak_memory()
    with TraceWriter(Path(job["trace"]), job["header"]) as trace:
        try:
            measurement = _measurement(job, last)
            _limit_memory(job["stop"]["memory_limit"])
            state = measurement.run(job["seed"], trace)
        except MemoryError as error:
            trace.end("out_of_memory", reason=str(error) or "no memory left")
            return None
        peak = peak_memory()
        solver = measurement.solver
        if job["keep_weights"]:
            trace.append(keep_weights(Path(job["trace"]), solver.w, float(solver.bias)))
        if job["regret"] and state not in ("failed", "diverged"):
            # The run itself is complete, even if its regret takes too much memory.
            with suppress(MemoryError):
                _append_regrets(measurement, job["seed"], trace)
        trace.end(state, **measurement.closing(), peak_memory_bytes=peak)
    if measurement.changed():
        return None
    return Posed(
        job,
        measurement.problem,
        measurement.given,
        measurement.test,
        solver,
        measurement.conversion,
    )


def _append_regrets(measurement: Measurement, seed: int, trace: TraceWriter) -> None:
    # Deferred: certifying optima loads libraries that a run does not need.
    from svmbench.reference.regret import regrets

    for record in regrets(measurement.solver, copy_of(measurement.problem), seed):
        trace.append({"kind": "regret", **record})


def _measurement(job: dict[str, Any], last: Posed | None) -> Measurement:
    solver = loaded_solver(job["solver_class"], job["parameters"])
    bounds = job["reference_dual"], job["reference_primal"]
    if last is not None and all(job[fact] == last.job[fact] for fact in POSED):
        known = last.conversion if solver.take_over(last.solver) else None
        return Measurement(solver, last.problem, last.test, job["stop"], *bounds, known, last.given)
    data = open_rows(job["train"])
    test = open_rows(job["test"]) if job["test"] else None
    radius = math.inf if job["l1_radius"] is None else job["l1_radius"]
    problem = Problem(data, job["lambda"], Loss(**job["loss"]), job["bias"], radius)
    return Measurement(solver, problem, test, job["stop"], *bounds)


def loaded_solver(solver_class: str, parameters: dict[str, Any]) -> Solver:
    """A solver with these parameters, its program loaded.

    Parameters
    ----------
    solver_class : str
        ``module:name``.
    parameters : dict
        As the solver's schema writes them in JSON.
    """
    module, _, name = solver_class.partition(":")
    found: type[Solver] = getattr(import_module(module), name)
    solver = found(found.schema(**parameters))
    solver.load()
    return solver


def open_rows(path: str) -> Dataset:
    """Cached rows, read once so that the system holds them in memory.

    Raises
    ------
    FileNotFoundError
        When they are no longer there.
    """
    data = open_cached(Path(path))
    if data is None:
        raise FileNotFoundError(f"{path}: the cached rows were removed; run again to restore them")
    data.touch()
    return data


def _limit_memory(limit: int | None) -> None:
    """Make allocations fail beyond ``limit`` bytes more than the process has now.

    The memory-mapped rows do not count: they are shared and never written.
    """
    available = available_memory()
    if limit is None and available is None:
        return
    share = math.inf if available is None else MEMORY_SHARE * available
    taken = of_this_process("VmData") or 0
    wanted = taken + int(min(share, math.inf if limit is None else limit))
    hard = getrlimit(RLIMIT_DATA)[1]
    setrlimit(RLIMIT_DATA, (wanted if hard == RLIM_INFINITY else min(wanted, hard), hard))


def peak_memory() -> int:
    """Peak memory of this process in bytes."""
    peak = of_this_process("VmHWM")
    if peak is None:
        peak = getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak


def _forget_peak_memory() -> None:
    """Reset the peak to the memory in use now, if the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def of_this_process(entry: str) -> int | None:
    """Bytes that /proc reports for this process; None where it does not exist.

    VmHWM, unlike the peak in getrusage, leaves out the memory of the process before it executed
    this program.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    lines = (line.split() for line in status.splitlines())
    return next((int(words[1]) * 1024 for words in lines if words[0] == f"{entry}:"), None)


if __name__ == "__main__":
    main()
