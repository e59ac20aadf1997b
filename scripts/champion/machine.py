"""Holds passes and reading against what the machine can do.

For each LIBSVM file it prints the nanoseconds that an epoch takes per stored nonzero, as a multiple
of one streaming read of the same rows, and the megabytes per second of our reader. scikit-learn's
SGD and its reader stand beside them, where it is installed. All take turns; medians are shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from svmbench.bench.champion import CHAMPION
from svmbench.data.dataset import Dataset
from svmbench.data.libsvm import parse_libsvm, positive_labels, to_dataset
from svmbench.problem import Problem
from svmbench.solvers.registry import find_solver

#: λ of the epochs; epochs that are timed after the first one.
LAMBDA, EPOCHS = 1e-5, 5

#: Our solvers, with the parameters that make them visit every row in every epoch.
SOLVERS: dict[str, dict[str, Any]] = {
    CHAMPION: {"method": "dual", "shrinking": False},
    "sgd-s": {},
    "pegasos": {},
}


def epoch(name: str, data: Dataset, seed: int) -> float:
    """Seconds of an epoch of a solver of ours, the first one left out."""
    solver = find_solver(name)(find_solver(name).schema(**SOLVERS[name]))
    unit = data.n_samples if solver.step == "presentation" else 1
    solver.start(Problem(data, LAMBDA), seed)
    solver.advance(unit)
    before, begun = solver.counters.presentations, perf_counter()
    solver.advance(EPOCHS * unit)
    spent = perf_counter() - begun
    return float(spent * data.n_samples / (solver.counters.presentations - before))


def foreign_epoch(rows: Any, labels: Any, seed: int) -> float:
    """Seconds of an epoch of scikit-learn's SGD: a run of several less a run of one."""
    classifier = import_module("sklearn.linear_model").SGDClassifier

    def run(epochs: int) -> float:
        found = classifier(alpha=LAMBDA, max_iter=epochs, tol=None, random_state=seed)
        begun = perf_counter()
        found.fit(rows, labels)
        return perf_counter() - begun

    return (run(1 + EPOCHS) - run(1)) / EPOCHS


def seconds(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    begun = perf_counter()
    action()
    return perf_counter() - begun


def pass_seconds(data: Dataset) -> float:
    """Seconds to read the rows once and in order: no pass of a method takes less."""
    arrays = [a for a in (data.indptr, data.indices, data.values) if a is not None]
    octets = [array.reshape(-1).view(np.uint8) for array in arrays]
    words = [each[: each.size // 8 * 8].view(np.uint64) for each in octets]
    return min(seconds(lambda: [np.add.reduce(each) for each in words]) for _ in range(5))


def readers(path: Path) -> dict[str, Callable[[], Any]]:
    """What reads a text."""
    found: dict[str, Callable[[], Any]] = {
        "svmbench": lambda: parse_libsvm(path),
        "svmbench, 2 threads": lambda: parse_libsvm(path, threads=2),
    }
    if find_spec("sklearn"):
        load = import_module("sklearn.datasets").load_svmlight_file
        found["scikit-learn"] = lambda: load(str(path))
    return found


def report(path: Path, repeats: int) -> None:
    """Print the lines of one file."""
    text = parse_libsvm(path)
    d, positive = text.max_index, positive_labels(text)
    data = to_dataset(text, name=path.name, n_features=d, positive=positive)
    stream = pass_seconds(data)
    print(f"{path.name}: {data.n_samples:,} rows, {data.nnz:,} nonzeros, {data.storage}")
    print(f"  {'a streaming read':22} {stream / data.nnz * 1e9:8.2f} ns a nonzero")
    paces: dict[str, Callable[[int], float]] = {
        name: partial(epoch, name, data) for name in SOLVERS
    }
    found: dict[str, list[float]] = {}
    read: dict[str, list[float]] = {}
    if "scikit-learn" in readers(path):
        rows, labels = readers(path)["scikit-learn"]()
        rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")
        paces["scikit-learn's SGD"] = partial(foreign_epoch, rows, labels)
    for repeat in range(repeats):
        for name, pace in paces.items():
            found.setdefault(name, []).append(pace(repeat))
        for name, reader in readers(path).items():
            read.setdefault(name, []).append(seconds(reader))
    for name, values in found.items():
        middle = median(values)
        print(
            f"  {name:22} {middle / data.nnz * 1e9:8.2f} ns a nonzero{middle / stream:8.2f} reads"
        )
    for name, values in read.items():
        print(f"  {name:22} {path.stat().st_size / median(values) / 1e6:8.0f} MB/s of text")


def main() -> None:
    """Report each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    for path in asked.files:
        report(path, asked.repeats)


if __name__ == "__main__":
    main()
