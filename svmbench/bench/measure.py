"""One measurement of a benchmark in a process of its own, under the suite's one clock.

The parent starts ``python -m svmbench.bench.measure`` and writes the job as JSON to its
standard input; what was found is written to the file that the job names.

    physics   what the machine can do at best: streaming reads, and gathers by cache level
    epochs    seconds of some epochs of each solver on one data set
    opening   seconds to open rows from the cache
    reading   seconds and memory to read a text into rows
    text      seconds from a text to weights of an accuracy
    growth    seconds of an epoch, and memory, on rows of some size
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data import libsvm
from svmbench.data.cache import open_cached
from svmbench.data.dataset import Dataset
from svmbench.durable import write_text
from svmbench.harness.child import end_with
from svmbench.harness.worker import (
    Clock,
    Measurement,
    loaded_solver,
    of_this_process,
    open_rows,
    peak_memory,
)
from svmbench.problem import Loss, Problem
from svmbench.solvers.base import Solver

#: Seconds that a timed stretch lasts at least, so that the clock's own cost is nothing.
STRETCH = 0.05

#: Epochs of a stretch at most: what later ones do differs from the first ones.
MOST_EPOCHS = 10

#: Passes of a foreign program that is told a number of them, in its short run and in its long
#: one: few where it leaves ever more rows out.
SHORT_RUN, LONG_RUN = 1.0, {"epochs": 9.0, "max_iter": 3.0}

#: A tolerance that any program meets with its first pass, and how often one for a second
#: pass is tried for.
LOOSEST, TRIES = 1e12, 60

#: Gathers of a probe at least, so that the shortest takes about a stretch.
GATHERS = 1 << 25

#: Share of a cache that a table takes up which is to lie in it.
FILLED = 0.5

#: How many times the last cache a table is that is to lie in memory.
BEYOND = 8


def timed(work: Callable[[], Any], repeats: int) -> list[float]:
    """Seconds of each repeat of some work, by the harness's clock."""
    found = []
    for _ in range(repeats):
        clock = Clock()
        with clock.running():
            work()
        found.append(clock.wall / 1e9)
    return found


# ---------------------------------------------------------------- physics


def physics(job: dict[str, Any]) -> dict[str, Any]:
    """Streaming GB/s, and ns a gathered double, summed and added to, for each level of memory."""
    caches: dict[str, int] = job["caches"]
    repeats: int = job["repeats"]
    last = max(caches.values())
    sizes = {level: int(FILLED * size) for level, size in caches.items()}
    levels = [*sizes.items(), ("memory", BEYOND * last)]
    return {
        "stream_gb_per_second": _stream(BEYOND * last, repeats),
        "gathers": [_gathers(level, size, repeats) for level, size in levels],
    }


def _stream(size: int, repeats: int) -> list[float]:
    from svmbench.kernels.physics import stream_sum

    words = np.arange(size // 8, dtype=np.uint64)
    stream_sum(words)
    return [words.nbytes / s / 1e9 for s in timed(lambda: stream_sum(words), repeats)]


def _gathers(level: str, size: int, repeats: int) -> dict[str, Any]:
    from svmbench.kernels.physics import gather_add, gather_sum

    table = np.ones(size // 8)
    # As many places as lie in the same cache with the table, or next to it.
    count = max(1024, min(table.size // 4, 1 << 22))
    index = np.random.default_rng(1).integers(0, table.size, count).astype(np.uint32)
    rounds = max(1, (GATHERS if level != "memory" else GATHERS // 2) // count)
    gather_sum(index, table)
    sums = timed(lambda: gather_sum(index, table, rounds), repeats)
    adds = timed(lambda: gather_add(index, table, 1e-9, rounds), repeats)
    return {
        "level": level,
        "bytes": table.nbytes,
        "sum_ns": [s / (rounds * count) * 1e9 for s in sums],
        "add_ns": [s / (rounds * count) * 1e9 for s in adds],
    }


# ---------------------------------------------------------------- epochs


def epochs(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds and passes of each repeat of each solver, in interleaved order."""
    data = open_rows(job["path"])
    problem = Problem(data, job["lambda"])
    paces: dict[str, _OwnPace | _ForeignPace] = {}
    for entry in job["solvers"]:
        solver = loaded_solver(entry["solver_class"], entry["parameters"])
        pace = _ForeignPace if solver.foreign else _OwnPace
        paces[entry["label"]] = pace(solver, problem)
    samples: dict[str, list[tuple[float, float]]] = {label: [] for label in paces}
    rng = random.Random(job["seed"])
    for repeat in range(job["repeats"]):
        order = list(paces)
        rng.shuffle(order)
        for label in order:
            samples[label].append(paces[label].sample(repeat))
    return {
        "storage": data.storage,
        "m": data.n_samples,
        "d": data.n_features,
        "nnz": data.nnz,
        "bytes": data.nbytes,
        "epochs": [
            {
                "label": label,
                "seconds": [seconds for seconds, _ in found],
                "passes": [passes for _, passes in found],
                "how": paces[label].how,
            }
            for label, found in samples.items()
        ],
    }


class _OwnPace:
    """Epochs of a solver of the suite: after a first one that is not timed, some that are."""

    def __init__(self, solver: Solver, problem: Problem) -> None:
        self._solver, self._problem = solver, problem
        self._unit = problem.data.n_samples if solver.step == "presentation" else 1
        self.how = ""

    def sample(self, repeat: int) -> tuple[float, float]:
        """Seconds, and passes that they took."""
        # Anew, and not beside what the one before holds: the memory that it takes is told as well.
        solver = self._solver = type(self._solver)(self._solver.parameters)
        solver.start(self._problem, repeat)
        (first,) = timed(lambda: solver.advance(self._unit), 1)
        count = min(MOST_EPOCHS, max(1, math.ceil(STRETCH / max(first, 1e-9))))
        before = solver.counters.presentations
        (seconds,) = timed(lambda: solver.advance(count * self._unit), 1)
        passes = (solver.counters.presentations - before) / self._problem.data.n_samples
        self.how = f"epochs 2 to {1 + count}"
        return seconds, passes


class _ForeignPace:
    """Epochs of a program from outside: a long run less a short one."""

    def __init__(self, solver: Solver, problem: Problem) -> None:
        self._solver, self._problem = solver, problem
        solver.convert(problem)
        fields = solver.schema.model_fields
        self._name = next((n for n in ("epochs", "max_iter") if n in fields), "tolerance")
        self._long = self._short = 0.0
        if self._name == "tolerance":
            self._short, self._long = LOOSEST, self._second_pass()
        else:
            self._short, self._long = SHORT_RUN, LONG_RUN[self._name]
            if self._name == "max_iter":
                solver.parameters = solver.parameters.model_copy(update={"rungs": "iterations"})
        self.how = ""

    def sample(self, repeat: int) -> tuple[float, float]:
        """Seconds, and passes that they took, of the difference of the two runs."""
        short, few = self._run(self._short, repeat)
        long, many = self._run(self._long, repeat)
        self.how = f"runs of {few:g} and {many:g} passes"
        return long - short, many - few

    def _run(self, value: float, repeat: int) -> tuple[float, float]:
        solver = self._solver
        solver.parameters = solver.parameters.model_copy(update={self._name: value})
        solver.start(self._problem, repeat)
        (seconds,) = timed(lambda: solver.advance(1), 1)
        return seconds, solver.counters.presentations / self._problem.data.n_samples

    def _second_pass(self) -> float:
        """A tolerance with which the program makes more than one pass, and as few as may be.

        Rows are left out from the second pass on, and few of them in that one.
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


# ---------------------------------------------------------------- reading


def opening(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds to open rows from the cache, without reading them."""
    path = Path(job["path"])
    return {
        "seconds": timed(lambda: open_cached(path), job["repeats"]),
        "bytes": open_rows(job["path"]).nbytes,
    }


def reading(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds to read a text into rows, and the memory it took beside what was there before."""
    path = Path(job["path"])
    size = _warm(path)
    read = READERS[job["reader"]]()
    held = of_this_process("VmRSS") or 0
    clock = Clock()
    with clock.running():
        rows = read(path, job)
    return {
        "seconds": clock.wall / 1e9,
        "cpu_seconds": clock.cpu / 1e9,
        "text_bytes": size,
        "array_bytes": _array_bytes(rows),
        "peak_bytes": peak_memory() - held,
    }


#: Reads a text, whose path and job it is given: a data set, or a matrix and its labels.
Reader = Callable[[Path, dict[str, Any]], Any]


def _own_reader() -> Reader:
    """svmbench's, to a data set in its stored form, with as many threads as the job says."""

    def read(path: Path, job: dict[str, Any]) -> Dataset:
        text = libsvm.parse_libsvm(path, n_features=job["n_features"], threads=job["threads"])
        return libsvm.to_dataset(
            text,
            name=libsvm.plain_name(path),
            n_features=job["n_features"] or text.max_index,
            positive=job["positive"] or libsvm.positive_labels(text),
        )

    return read


def _sklearn_reader() -> Reader:
    """scikit-learn's, to a matrix of doubles and labels."""
    read = import_module("sklearn.datasets").load_svmlight_file
    return lambda path, job: read(str(path), n_features=job["n_features"])


def _liblinear_reader() -> Reader:
    """That of LIBLINEAR's Python package, in Python, to a matrix of doubles and labels."""
    read = import_module("liblinear.commonutil").svm_read_problem
    return lambda path, job: read(str(path), return_scipy=True)[::-1]


#: By name, what imports a reader and returns it.
READERS: dict[str, Callable[[], Reader]] = {
    "svmbench": _own_reader,
    "scikit-learn": _sklearn_reader,
    "liblinear": _liblinear_reader,
}


def _warm(path: Path) -> int:
    """Have the system hold the file in memory; its size in bytes."""
    size = 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
    return size


def _array_bytes(rows: Any) -> int:
    if isinstance(rows, Dataset):
        return rows.nbytes
    matrix, labels = rows
    return int(sum(a.nbytes for a in (matrix.data, matrix.indices, matrix.indptr, labels)))


# ---------------------------------------------------------------- from the text to the weights


def text(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds to read, to convert and to train to an accuracy; None where it was not reached."""
    path, read = Path(job["path"]), READERS[job["reader"]]()
    _warm(path)
    solver = _solver_of(job)
    clock = Clock()
    with clock.running():
        rows = read(path, job)
    data = rows if isinstance(rows, Dataset) else _own_reader()(path, job)
    problem = Problem(data, job["lambda"], Loss("hinge"))
    conversion, seconds = 0.0, None
    if solver.foreign:
        read_rows = None if rows is data else _sparse(rows, job["positive"])
        converting = Clock()
        with converting.running():
            if read_rows is None or not solver.adopt_rows(problem, *read_rows):
                solver.convert(problem)
        conversion = converting.wall / 1e9
    for rung in _rungs(solver, job["accuracy"]):
        measurement = Measurement(
            rung,
            problem,
            None,
            {"accuracy": [job["accuracy"]], "gap": None, "own": False, "max_epochs": None,
             "max_updates": None, "time_limit": job["limit"]},
            job["reference_dual"],
            job["reference_primal"],
            conversion,
        )  # fmt: skip
        points: list[dict[str, Any]] = []
        state = measurement.run(job["repeat"], points)
        reached = (point["wall"] for point in points if point["accuracy"] <= job["accuracy"])
        seconds = next(reached, None)
        if seconds is not None or state != "converged":
            break
    return {
        "read_seconds": clock.wall / 1e9,
        "convert_seconds": conversion,
        "train_seconds": seconds,
        "spent_seconds": points[-1]["wall"],
    }


def _sparse(rows: tuple[Any, Any], positive: list[float] | None) -> tuple[Any, Any]:
    """Rows as programs take them, and labels of ±1."""
    matrix, labels = rows
    # Here, because most measurements need none of it, and it takes a third of their start.
    import scipy.sparse  # type: ignore[import-untyped]

    marked = np.isin(labels, positive) if positive else labels == np.max(labels)
    return scipy.sparse.csr_matrix(matrix), np.where(marked, 1.0, -1.0)


def _rungs(solver: Solver, accuracy: float) -> Iterator[Solver]:
    """The solver once for each horizon of its ladder, on the same rows; as it is without one."""
    if solver.horizon == "none" or not solver.ladder:
        yield solver
        return
    for value in solver.horizons((accuracy,), None):
        told = solver.parameters.model_copy(update={solver.horizon_parameter: value})
        rung = type(solver)(told)
        rung.take_over(solver)
        yield rung


def _solver_of(job: dict[str, Any]) -> Solver:
    return loaded_solver(job["solver"]["solver_class"], job["solver"]["parameters"])


# ---------------------------------------------------------------- growth


def growth(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds of each of some epochs, and the memory that rows and solver take together."""
    solver = _solver_of(job)
    held = of_this_process("VmRSS") or 0
    data = open_rows(job["path"])
    pace = _OwnPace(solver, Problem(data, job["lambda"]))
    del solver
    samples = [pace.sample(repeat) for repeat in range(job["repeats"])]
    return {
        "m": data.n_samples,
        "d": data.n_features,
        "nnz": data.nnz,
        "storage": data.storage,
        "seconds_per_epoch": [seconds / passes for seconds, passes in samples],
        "array_bytes": data.nbytes,
        "peak_bytes": peak_memory() - held,
    }


KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "physics": physics,
    "epochs": epochs,
    "opening": opening,
    "reading": reading,
    "text": text,
    "growth": growth,
}


def main() -> None:
    """Read a job from standard input and write what was found to the file it names."""
    job = json.load(sys.stdin)
    end_with(job["parent"])
    write_text(Path(job["found"]), json.dumps(KINDS[job["kind"]](job)) + "\n")


if __name__ == "__main__":
    main()
