"""One measurement of a benchmark in a process of its own, under svmbench's one clock.

The parent starts ``python -m svmbench.bench.measure`` and writes the job as JSON to its
standard input; the child writes its result to the file that the job names.

    physics   the machine's best speeds: streaming reads, and gathers by cache level
    epochs    seconds of epochs of each solver on one data set
    opening   seconds to open rows from the cache
    reading   seconds and memory to read a text into rows
    text      seconds from a text to weights of a given accuracy
    growth    seconds of an epoch, and memory, on rows of a given size
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.bench.pace import epochs, growth, repeats_of, timed
from svmbench.data import libsvm
from svmbench.data.cache import open_cached
from svmbench.data.dataset import Dataset
from svmbench.durable import write_text
from svmbench.harness.child import end_with
from svmbench.harness.clock import Clock
from svmbench.harness.given import copy_of
from svmbench.harness.measurement import Before, Measurement, Terms
from svmbench.harness.worker import loaded_solver, of_this_process, peak_memory
from svmbench.problem import Loss, Problem
from svmbench.solvers.base import Solver

#: Least gathers of a probe, so that the shortest takes about as long as a timed stretch.
GATHERS = 1 << 25

#: Share of a cache that a table fills if it is to lie in that cache.
FILLED = 0.5

#: Size of a table that is to lie in memory, in last-level caches.
BEYOND = 8


# ---------------------------------------------------------------- physics


def physics(job: dict[str, Any]) -> dict[str, Any]:
    """Measure GB/s of streaming, and ns of a gather and of a gathered addition by memory level."""
    caches: dict[str, int] = job["caches"]
    repeats: int = job["repeats"]
    last = max(caches.values())
    sizes = {level: int(FILLED * size) for level, size in caches.items()}
    stream = _stream(BEYOND * last, repeats)
    return {
        "facts": {},
        "samples": [
            sample | {"stream_gb_per_second": speed}
            for level, size in [*sizes.items(), ("memory", BEYOND * last)]
            for sample, speed in zip(_gathers(level, size, repeats), stream, strict=True)
        ],
    }


def _stream(size: int, repeats: int) -> list[float]:
    from svmbench.kernels.physics import stream_sum

    words = np.arange(size // 8, dtype=np.uint64)
    stream_sum(words)
    return [words.nbytes / s / 1e9 for s in timed(lambda: stream_sum(words), repeats)]


def _gathers(level: str, size: int, repeats: int) -> Iterator[dict[str, Any]]:
    from svmbench.kernels.physics import gather_add, gather_sum

    table = np.ones(size // 8)
    # As many places as lie in the same cache with the table, or next to it.
    count = max(1024, min(table.size // 4, 1 << 22))
    index = np.random.default_rng(1).integers(0, table.size, count).astype(np.uint32)
    rounds = max(1, (GATHERS if level != "memory" else GATHERS // 2) // count)
    gather_sum(index, table)
    sums = timed(lambda: gather_sum(index, table, rounds), repeats)
    adds = timed(lambda: gather_add(index, table, 1e-9, rounds), repeats)
    for repeat in range(repeats):
        yield {
            "label": level,
            "repeat": repeat,
            "table_bytes": table.nbytes,
            "gather_ns": sums[repeat] / (rounds * count) * 1e9,
            "gather_add_ns": adds[repeat] / (rounds * count) * 1e9,
        }


# ---------------------------------------------------------------- reading


def opening(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the seconds to open rows from the cache, without reading them."""
    path, repeats = Path(job["path"]), repeats_of(job)
    seconds = timed(lambda: open_cached(path), len(repeats))
    return {
        "facts": {},
        "samples": [{"repeat": r, "seconds": s} for r, s in zip(repeats, seconds, strict=True)],
    }


def reading(job: dict[str, Any]) -> dict[str, Any]:
    """Measure the seconds to read a text into rows, and the memory that this takes."""
    path = Path(job["path"])
    size = _warm(path)
    read = READERS[job["reader"]]()
    held = of_this_process("VmRSS") or 0
    clock = Clock()
    with clock.running():
        rows = read(path, job)
    sample = {
        "seconds": clock.wall / 1e9,
        "mb_per_second": size * 1e3 / clock.wall,
        "text_bytes": size,
        "array_bytes": _array_bytes(rows),
        "peak_bytes": peak_memory() - held,
    }
    return {"facts": {}, "samples": [sample]}


#: Reads a text, whose path and job it is given: a data set, or a matrix and its labels.
Reader = Callable[[Path, dict[str, Any]], Any]


def _own_reader() -> Reader:
    """The reader of svmbench, to a data set as it is stored, with the job's number of threads."""

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
    """scikit-learn's reader, to a matrix of doubles and labels."""
    read = import_module("sklearn.datasets").load_svmlight_file
    return lambda path, job: read(str(path), n_features=job["n_features"])


def _liblinear_reader() -> Reader:
    """The reader of LIBLINEAR's Python package, itself in Python, to a matrix and labels."""
    read = import_module("liblinear.commonutil").svm_read_problem
    return lambda path, job: read(str(path), return_scipy=True)[::-1]


#: By name, a function that imports a reader and returns it.
READERS: dict[str, Callable[[], Reader]] = {
    "svmbench": _own_reader,
    "scikit-learn": _sklearn_reader,
    "liblinear": _liblinear_reader,
}


def _warm(path: Path) -> int:
    """Read the file once, so that the system holds it in memory; return its size in bytes."""
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
    """Measure the seconds to read, to convert and to train, None if the accuracy is not reached."""
    path, read = Path(job["path"]), READERS[job["reader"]]()
    _warm(path)
    solver = loaded_solver(job["solver"]["solver_class"], job["solver"]["parameters"])
    clock = Clock()
    with clock.running():
        rows = read(path, job)
    data = rows if isinstance(rows, Dataset) else _own_reader()(path, job)
    problem = Problem(data, job["lambda"], Loss("hinge"))
    conversion = 0.0
    if solver.foreign:
        read_rows = None if rows is data else _sparse(rows, job["positive"])
        conversion = _conversion(solver, problem, read_rows)
    state, fit, trained = _fit(solver, problem, conversion, job)
    before = clock.wall / 1e9 + conversion
    sample = {
        "state": state,
        "read_seconds": clock.wall / 1e9,
        "convert_seconds": conversion,
        "fit_seconds": fit,
        f"seconds_to_{job['accuracy']!r}": None if fit is None else before + fit,
        "train_seconds": before + trained,
        "limit_seconds": job["limit"],
    }
    return {"facts": {}, "samples": [sample]}


def _conversion(solver: Solver, problem: Problem, rows: tuple[Any, Any] | None) -> float:
    """Seconds to bring the rows into a program's form, from ``rows`` if it can adopt these."""
    converting = Clock()
    with converting.running():
        if rows is None or not solver.adopt_rows(problem, *rows):
            solver.convert(problem)
    return converting.wall / 1e9


def _fit(
    solver: Solver, problem: Problem, conversion: float, job: dict[str, Any]
) -> tuple[str, float | None, float]:
    """The end state, the seconds to the accuracy if it was reached, and those of all training."""
    accuracy: float = job["accuracy"]
    stop = {
        "accuracy": [accuracy],
        "gap": None,
        "own": False,
        "max_epochs": None,
        "max_updates": None,
        "time_limit": job["limit"],
    }
    references = job["reference_dual"], job["reference_primal"]
    before = Before(given=problem, conversion=conversion)
    for rung in _rungs(solver, accuracy):
        measurement = Measurement(rung, Terms(copy_of(problem), None, stop, *references), before)
        points: list[dict[str, Any]] = []
        state = measurement.run(job["first"], points)
        reached = (point["wall"] for point in points if point["accuracy"] <= accuracy)
        seconds = next(reached, None)
        if seconds is not None or state != "converged":
            break
    return state, seconds, points[-1]["wall"]


def _sparse(rows: tuple[Any, Any], positive: list[float] | None) -> tuple[Any, Any]:
    """Rows in the form that programs take, and labels of ±1."""
    matrix, labels = rows
    # Imported here: most measurements do not need it, and it takes a third of their start-up.
    import scipy.sparse  # type: ignore[import-untyped]

    marked = np.isin(labels, positive) if positive else labels == np.max(labels)
    return scipy.sparse.csr_matrix(matrix), np.where(marked, 1.0, -1.0)


def _rungs(solver: Solver, accuracy: float) -> Iterator[Solver]:
    """The solver once for each horizon of its ladder, on the same rows; itself without one."""
    if solver.horizon == "none" or not solver.ladder:
        yield solver
        return
    for value in solver.horizons((accuracy,), None):
        rung = type(solver)(replace(solver.parameters, **{solver.horizon_parameter: value}))
        rung.take_over(solver)
        yield rung


KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "physics": physics,
    "epochs": epochs,
    "opening": opening,
    "reading": reading,
    "text": text,
    "growth": growth,
}


def main() -> None:
    """Read a job from standard input and write its result to the file that the job names."""
    job = json.load(sys.stdin.buffer)
    end_with(job["parent"])
    write_text(Path(job["found"]), json.dumps(KINDS[job["kind"]](job)) + "\n")


if __name__ == "__main__":
    main()
