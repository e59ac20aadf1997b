"""One run in a process of its own, under the suite's one clock.

The parent starts ``python -m svmbench.harness.worker`` with the numerical libraries
pinned to their threads, and writes the job as JSON to its standard input.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data.cache import open_cached
from svmbench.data.dataset import Dataset
from svmbench.harness.trace import TraceWriter, checkpoints
from svmbench.problem import Evaluation, Loss, Problem, count_errors, relative_gap
from svmbench.solvers.base import Solver

#: Relative error granted to a solver's own lower bound: its rounding, and in single
#: precision the drift of its weights from the dual variables they stand for.
BOUND_SLACK = {"float64": 1e-9, "float32": 1e-3}


class Clock:
    """Training time: it runs inside ``with clock.running():`` and nowhere else.

    Attributes
    ----------
    wall : int
        Nanoseconds of the monotonic clock.
    cpu : int
        Nanoseconds of processor time of the whole process.
    """

    def __init__(self) -> None:
        self.wall = 0
        self.cpu = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the clock run while the block does."""
        cpu = time.process_time_ns()
        wall = time.perf_counter_ns()
        try:
            yield
        finally:
            self.wall += time.perf_counter_ns() - wall
            self.cpu += time.process_time_ns() - cpu


class Measurement:
    """A solver, advanced checkpoint by checkpoint, evaluated and held to its limits.

    Parameters
    ----------
    solver : Solver
    problem : Problem
    test : Dataset or None
    stop : dict
        The sweep's stopping rules: accuracy, gap, own, max_epochs, time_limit.
    reference_dual, reference_primal : float
        D_ref <= P* <= P_ref, certified by the harness.

    Attributes
    ----------
    reason : str
        Why the run ended as it did, where its state does not say it all.
    """

    def __init__(
        self,
        solver: Solver,
        problem: Problem,
        test: Dataset | None,
        stop: dict[str, Any],
        reference_dual: float,
        reference_primal: float,
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.test = test
        self.stop = stop
        self.reference_dual = reference_dual
        self.reference_primal = reference_primal
        self.reason = ""
        self.clock = Clock()

    def run(self, seed: int, trace: TraceWriter) -> str:
        """Make the run, write its trace, and return its end state."""
        with self.clock.running():
            self.solver.start(self.problem, seed)
        setup = self.clock.wall
        point = self._evaluate(*self._certify())
        trace.append({**point, "setup_wall": setup / 1e9})
        state = self._verdict(point)
        m = self.problem.data.n_samples
        limit = self.stop["max_epochs"]
        most = math.inf if limit is None else math.ceil(limit * m)
        for target in checkpoints(m):
            if state is not None:
                break
            if target <= self.solver.counters.presentations:
                continue  # the last step went past it
            point = self._advance(int(min(target, most)))
            trace.append(point)
            state = self._verdict(point)
        assert state is not None  # checkpoints never end
        return state

    def _advance(self, target: int) -> dict[str, Any]:
        steps = target - self.solver.counters.presentations
        with self.clock.running():
            self.solver.advance(steps if self.solver.step == "presentation" else 1)
            if self.stop["gap"] is not None:
                certificate = self._certify()
        if self.stop["gap"] is None:
            certificate = self._certify()
        return self._evaluate(*certificate)

    def _certify(self) -> tuple[np.ndarray[Any, Any], Evaluation, float | None]:
        w = self.solver.w
        return w, self.problem.evaluate(w), self.solver.dual()

    def _evaluate(
        self, w: np.ndarray[Any, Any], training: Evaluation, dual: float | None
    ) -> dict[str, Any]:
        counters = self.solver.counters
        primal = training.primal if np.isfinite(w).all() else math.nan
        m = self.problem.data.n_samples
        return {
            "kind": "point",
            "presentations": counters.presentations,
            "updates": counters.updates,
            "nonzeros": counters.nonzeros,
            "wall": self.clock.wall / 1e9,
            "cpu": self.clock.cpu / 1e9,
            "primal": primal,
            "accuracy": relative_gap(primal, self.reference_dual),
            "dual": dual,
            "gap": None if dual is None else relative_gap(primal, dual),
            "train_error": training.errors / m,
            "test_error": count_errors(self.test, w) / self.test.n_samples if self.test else None,
            "stopped": self.solver.stopped,
        }

    def _verdict(self, point: dict[str, Any]) -> str | None:
        """The state the run ends in at this point, if it does."""
        if not math.isfinite(point["primal"]):
            return "diverged"
        if self._overclaims(point["dual"]):
            self.reason = (
                f"shows {point['dual']!r} as a lower bound of P* <= {self.reference_primal!r}"
            )
            return "failed"
        if self._satisfied(point):
            return "converged"
        limit = self.stop["max_epochs"]
        if limit is not None and point["presentations"] >= limit * self.problem.data.n_samples:
            return "max_steps"
        return "time_limit" if point["wall"] >= self.stop["time_limit"] else None

    def _overclaims(self, dual: float | None) -> bool:
        """Whether the solver's lower bound lies above a certified upper one."""
        slack = BOUND_SLACK[self.solver.parameters.precision]
        return dual is not None and dual > self.reference_primal * (1.0 + slack)

    def _satisfied(self, point: dict[str, Any]) -> bool:
        """Whether all stopping rules hold that were asked for and that the solver has."""
        rules = []
        if self.stop["accuracy"]:
            rules.append(point["accuracy"] <= min(self.stop["accuracy"]))
        if self.stop["gap"] is not None and point["gap"] is not None:
            rules.append(point["gap"] <= self.stop["gap"])
        if self.stop["own"] and point["stopped"] is not None:
            rules.append(point["stopped"])
        return bool(rules) and all(rules)


def main() -> None:
    """Read a job from standard input and make its run."""
    job = json.load(sys.stdin)
    with TraceWriter(Path(job["trace"]), job["header"]) as trace:
        try:
            measurement = _measurement(job)
            state = measurement.run(job["seed"], trace)
        except MemoryError as error:
            trace.end("out_of_memory", reason=str(error) or "no memory left")
            return
        trace.end(state, reason=measurement.reason, peak_memory_bytes=_peak_memory())


def _measurement(job: dict[str, Any]) -> Measurement:
    module, _, name = job["solver_class"].partition(":")
    solver_class: type[Solver] = getattr(import_module(module), name)
    solver = solver_class(solver_class.schema(**job["parameters"]))
    data = _open(job["train"])
    test = _open(job["test"]) if job["test"] else None
    for rows in filter(None, (data, test)):
        rows.touch()
    problem = Problem(data, job["lambda"], Loss(**job["loss"]))
    return Measurement(
        solver, problem, test, job["stop"], job["reference_dual"], job["reference_primal"]
    )


def _open(path: str) -> Dataset:
    data = open_cached(Path(path))
    if data is None:
        raise FileNotFoundError(f"{path}: the cached rows went away; run again to restore them")
    return data


def _peak_memory() -> int | None:
    """Largest resident size of this process in bytes, where the system tells."""
    try:
        import resource
    except ImportError:  # not a Unix
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
