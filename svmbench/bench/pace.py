"""Seconds of epochs: of svmbench's own solvers, and of programs from outside."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from svmbench.data.dataset import Dataset
from svmbench.harness.clock import Clock
from svmbench.harness.worker import loaded_solver, of_this_process, open_rows, peak_memory
from svmbench.problem import Problem
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import names_of

#: Least seconds of a timed stretch, beside which the clock's own cost is negligible.
STRETCH = 0.05

#: Most epochs of a stretch: later epochs do other work than the first ones.
MOST_EPOCHS = 10

#: Passes of the short and of the long run of a foreign program that takes their number; the long
#: run is short where the program leaves out more and more rows.
SHORT_RUN, LONG_RUN = 1.0, {"epochs": 9.0, "max_iter": 3.0}

#: A tolerance that every program reaches in its first pass, and how many tolerances are tried
#: in search of one that takes a second pass.
LOOSEST, TRIES = 1e12, 60


def timed(work: Callable[[], Any], repeats: int) -> list[float]:
    """Time each repeat of some work, in seconds of the harness's clock."""
    found = []
    for _ in range(repeats):
        clock = Clock()
        with clock.running():
            work()
        found.append(clock.wall / 1e9)
    return found


def epochs(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the seconds and passes of each repeat of each solver, in interleaved order."""
    data = open_rows(job["path"])
    problem = Problem(data, job["lambda"])
    paces: dict[str, OwnPace | ForeignPace] = {}
    for entry in job["solvers"]:
        solver = loaded_solver(entry["solver_class"], entry["parameters"])
        pace = ForeignPace if solver.foreign else OwnPace
        paces[entry["label"]] = pace(solver, problem)
    samples: list[dict[str, Any]] = []
    rng = random.Random(job["first"])
    for repeat in repeats_of(job):
        order = list(paces)
        rng.shuffle(order)
        for label in order:
            seconds, passes = paces[label].sample(repeat)
            samples.append(
                {
                    "label": label,
                    "repeat": repeat,
                    "ns_per_nonzero": nanoseconds(seconds, passes, data.nnz),
                    "how": paces[label].how,
                }
            )
    order = list(paces)
    samples.sort(key=lambda sample: order.index(sample["label"]))
    return {"facts": _facts(data), "samples": samples}


def repeats_of(job: dict[str, Any]) -> range:
    """Numbers of the repeats that a job asks for."""
    return range(job["first"], job["first"] + job["repeats"])


def nanoseconds(seconds: float, passes: float, nnz: int) -> float | None:
    """Nanoseconds per stored nonzero; None for a stretch of no measurable time."""
    return seconds / (passes * nnz) * 1e9 if seconds > 0 and passes > 0 else None


def _facts(data: Dataset) -> dict[str, Any]:
    return {
        "storage": data.storage,
        "m": data.n_samples,
        "d": data.n_features,
        "nnz": data.nnz,
        "array_bytes": data.nbytes,
    }


def growth(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the seconds of an epoch, and the memory of rows and solver together."""
    solver = loaded_solver(job["solver"]["solver_class"], job["solver"]["parameters"])
    held = of_this_process("VmRSS") or 0
    data = open_rows(job["path"])
    pace = OwnPace(solver, Problem(data, job["lambda"]))
    del solver
    samples = []
    for repeat in repeats_of(job):
        seconds, passes = pace.sample(repeat)
        samples.append({"repeat": repeat, "seconds_per_epoch": seconds / passes})
    return {"facts": _facts(data) | {"peak_bytes": peak_memory() - held}, "samples": samples}


class OwnPace:
    """Times epochs of a solver of svmbench, except the first."""

    def __init__(self, solver: Solver, problem: Problem) -> None:
        self._solver, self._problem = solver, problem
        self._unit = problem.data.n_samples if solver.step == "presentation" else 1
        self.how = ""

    def sample(self, repeat: int) -> tuple[float, float]:
        """The seconds of some epochs, and the passes over the rows in them."""
        # The memory is measured, too: the previous solver must be gone before this one starts.
        solver = self._solver = type(self._solver)(self._solver.parameters)
        solver.start(self._problem, repeat)
        (first,) = timed(lambda: solver.advance(self._unit), 1)
        count = min(MOST_EPOCHS, max(1, math.ceil(STRETCH / max(first, 1e-9))))
        before = solver.counters.presentations
        (seconds,) = timed(lambda: solver.advance(count * self._unit), 1)
        passes = (solver.counters.presentations - before) / self._problem.data.n_samples
        self.how = f"epochs 2 to {1 + count}"
        return seconds, passes


class ForeignPace:
    """Times epochs of a program from outside, as a long run less a short one."""

    def __init__(self, solver: Solver, problem: Problem) -> None:
        self._solver, self._problem = solver, problem
        solver.convert(problem)
        fields = names_of(solver.schema)
        self._name = next((n for n in ("epochs", "max_iter") if n in fields), "tolerance")
        self._long = self._short = 0.0
        if self._name == "tolerance":
            self._short, self._long = LOOSEST, self._second_pass()
        else:
            self._short, self._long = SHORT_RUN, LONG_RUN[self._name]
            if self._name == "max_iter":
                solver.parameters = replace(solver.parameters, rungs="iterations")
        self.how = ""

    def sample(self, repeat: int) -> tuple[float, float]:
        """The seconds and the passes by which the two runs differ."""
        short, few = self._run(self._short, repeat)
        long, many = self._run(self._long, repeat)
        self.how = f"runs of {few:g} and {many:g} passes"
        return long - short, many - few

    def _run(self, value: float, repeat: int) -> tuple[float, float]:
        solver = self._solver
        solver.parameters = replace(solver.parameters, **{self._name: value})
        solver.start(self._problem, repeat)
        (seconds,) = timed(lambda: solver.advance(1), 1)
        return seconds, solver.counters.presentations / self._problem.data.n_samples

    def _second_pass(self) -> float:
        """Find a tolerance with which the program makes more than one pass, but as few as possible.

        The program leaves out rows from the second pass on, but only few in the second.
        """
        low, high, tolerance, fewest = 0.0, LOOSEST, 8.0, math.inf
        best = 1e-3
        for _ in range(TRIES):
            passes = self._run(tolerance, 0)[1]
            if passes > 1.0:
                if passes < fewest:
                    best, fewest = tolerance, passes
                low = tolerance
            else:
                high = tolerance
            if passes == 2.0 or high < low * 1.05:
                break
            tolerance = high / 2 if low == 0.0 else min(math.sqrt(low * high), 2 * low)
        return best
