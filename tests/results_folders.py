"""Results folders like those of a sweep, built from curves with known shapes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from svmbench.records.columns import OF_ACCURACY, RUNS, accuracies_in

ACCURACIES = (0.1, 0.01, 0.001)
LIMIT = 60.0
MOST_EPOCHS = 1000

#: label: solver, power of decay, epochs at its bend, seconds an epoch, fate at λ = 1e-5
SOLVERS = {
    "pegasos": ("pegasos", 0.75, 0.05, 0.004, ""),
    "sgd-s": ("sgd-s", 0.95, 0.04, 0.0015, ""),
    "sgd-m": ("sgd-m", 1.0, 0.04, 0.0016, ""),
    "sgd-m(schedule=blocks)": ("sgd-m", 1.15, 0.045, 0.0014, ""),
    "dcd": ("dcd", 1.5, 0.4, 0.003, ""),
    "ocas": ("ocas", 1.3, 3.0, 0.02, ""),
    "crawl": ("crawl", 0.35, 0.5, 0.6, ""),
    "adagrad": ("adagrad", 0.9, 0.1, 0.003, "diverged"),
    "svmperf": ("svmperf", 1.0, 1.0, 0.01, "failed"),
}


def _epochs(first: float) -> np.ndarray:
    grid = [first]
    while grid[-1] < MOST_EPOCHS:
        grid.append(min(max(grid[-1] * 1.1, grid[-1] + 0.01), MOST_EPOCHS))
    return np.array(grid)


@dataclass(frozen=True)
class _Curve:
    """A run with a known shape: its numbers at every point, its end state and its last point.

    The last point is -1 where the run has none.
    """

    solver: str
    dual: float
    epochs: np.ndarray
    seconds: np.ndarray
    accuracy: np.ndarray
    state: str
    last: int

    @property
    def primal(self) -> np.ndarray:
        return self.dual * (1 + self.accuracy)


def _curve(number: int, label: str, lam: float) -> _Curve:
    solver, power, bend, pace, fate = SOLVERS[label]
    noise = np.random.default_rng([number, list(SOLVERS).index(label), int(-math.log10(lam))])
    hard = 1e-4 / lam
    dual = 0.35 * hard**-0.03
    epochs = np.concatenate([[0.0], _epochs(1.0 if solver == "ocas" else 0.01)])
    pace = pace * noise.lognormal(0, 0.03) * (1.9 if number == 0 and label == "dcd" else 1.0)
    seconds = 0.001 + epochs * pace
    start = (1 - dual) / dual
    wiggle = noise.lognormal(0, 0.18, epochs.size) if solver in ("pegasos", "sgd-s") else 1.0
    decay = (1 + epochs / (bend * hard**0.5)) ** -power * noise.lognormal(0, 0.1)
    accuracy = np.concatenate([[start], (start * decay * wiggle)[1:]])
    if solver.startswith("sgd"):
        accuracy[1:6] *= [12, 8, 4, 2, 1.3]
    if fate and lam == 1e-5:
        state, last = fate, 25 if fate == "diverged" else -1
        if fate == "diverged":
            accuracy[15:26] = accuracy[15] * 6.0 ** np.arange(11)
    else:
        state, last = _end(accuracy, seconds)
    if state == "time_limit" and number > 0:
        state, last = "skipped", -1
    return _Curve(solver, dual, epochs, seconds, accuracy, state, last)


def _end(accuracy: np.ndarray, seconds: np.ndarray) -> tuple[str, int]:
    """The end state and the last point of a run that nothing went wrong in."""
    met = np.flatnonzero(accuracy <= min(ACCURACIES))
    late = np.flatnonzero(seconds >= LIMIT)
    ends = [(int(met[0]), "converged")] if met.size else []
    ends += [(int(late[0]), "time_limit")] if late.size else []
    last, state = min([*ends, (accuracy.size - 1, "max_steps")])
    return state, last


def _row(curve: _Curve, identity: dict, number: int, label: str, lam: float) -> dict:
    """The row of runs.csv."""
    dual, state, last = curve.dual, curve.state, curve.last
    row = {
        "schema_version": 1,
        "id": f"{identity['dataset']}-{label}-{lam:g}-{number}",
        **identity,
        "solver": curve.solver,
        "label": label,
        "loss": "hinge",
        "lambda": lam,
        "C": 1 / (lam * identity["m"]),
        "repeat": number,
        "seed": 7 + number,
        "precision": "float64",
        "state": state,
        "reason": "it crashed, so it did" if state == "failed" else None,
        "threads": 1,
        "contended": False,
        "reference_dual": dual,
        "reference_primal": dual * (1 + 4e-6),
        "reference_gap": 4e-6,
        "limit_seconds": LIMIT,
        "max_epochs": float(MOST_EPOCHS),
        "peak_memory_bytes": 10**8,
        "started": "2026-11-20T12:00:00+00:00",
    }
    end = {
        "setup_seconds": 0.001,
        "train_seconds": curve.seconds[last],
        "train_cpu_seconds": curve.seconds[last],
        "presentations": curve.epochs[last] * identity["m"],
        "epochs": curve.epochs[last],
        "updates": 100.0,
        "nonzeros": 1000.0,
        "primal": curve.primal[last] if state != "diverged" else None,
        "accuracy": curve.accuracy[last] if state != "diverged" else None,
        "dual": dual * 0.999 if curve.solver == "dcd" else None,
        "gap": 2e-3 if curve.solver == "dcd" else None,
        "train_error": 0.15 + 0.01 * curve.accuracy[last],
        "test_error": 0.16 + 0.001 * number,
    }
    row |= end if last >= 0 else dict.fromkeys(end)
    for asked in ACCURACIES:
        row |= _to_accuracy(curve, asked)
    return row


def _to_accuracy(curve: _Curve, asked: float) -> dict:
    """What runs.csv says of a run and an accuracy."""
    within = curve.accuracy[: curve.last + 1] <= asked
    first = int(within.argmax()) if within.any() else None
    above = np.flatnonzero(~within)
    return {
        f"seconds_to_{asked!r}": None if first is None else curve.seconds[first],
        f"cpu_seconds_to_{asked!r}": None if first is None else curve.seconds[first],
        f"epochs_to_{asked!r}": None if first is None else curve.epochs[first],
        f"primal_at_{asked!r}": None if first is None else curve.primal[first],
        f"last_above_seconds_{asked!r}": curve.seconds[above[-1]] if above.size else None,
    }


def _points(curve: _Curve, row: dict) -> list[dict]:
    """The rows of traces.csv."""
    shared = {name: row[name] for name in ("id", "dataset", "solver", "label", "lambda", "repeat")}
    points = [
        {
            **shared,
            "point": at,
            "presentations": curve.epochs[at] * row["m"],
            "epochs": curve.epochs[at],
            "updates": at,
            "nonzeros": at,
            "wall_seconds": curve.seconds[at],
            "cpu_seconds": curve.seconds[at],
            "primal": curve.primal[at],
            "accuracy": curve.accuracy[at],
            "dual": None,
            "gap": None,
            "train_error": 0.15,
            "test_error": None,
        }
        for at in range(curve.last + 1)
    ]
    if curve.state == "diverged":
        points[-1] |= {"primal": None, "accuracy": None}
    return points


def whole(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with every column of runs.csv, empty where nothing is known."""
    names = [column.name for column in RUNS if column.presence != "unread"]
    for accuracy in accuracies_in(runs.columns):
        names += [f"{column.name}_{accuracy}" for column in OF_ACCURACY]
    return runs.reindex(columns=[*runs.columns, *(each for each in names if each not in runs)])


def write_results(
    folder: Path,
    *,
    repeats: int = 7,
    lambdas: tuple[float, ...] = (1e-4, 1e-5),
    labels: tuple[str, ...] = tuple(SOLVERS),
    datasets: tuple[tuple[str, bool], ...] = (("adult", False), ("covtype", True)),
    **config: object,
) -> Path:
    """Write config.yaml, environment.json, runs.csv and traces.csv as a sweep does."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, points = [], []
    for number in range(repeats):
        for dataset, stand_in in datasets:
            identity = {"dataset": dataset, "stand_in": stand_in, "m": 32561, "d": 123}
            identity["nnz"] = 451592
            for lam in lambdas:
                for label in reversed(labels):
                    curve = _curve(number, label, lam)
                    rows.append(_row(curve, identity, number, label, lam))
                    points += _points(curve, rows[-1])
    whole(pd.DataFrame(rows)).to_csv(folder / "runs.csv", index=False)
    pd.DataFrame(points).to_csv(folder / "traces.csv", index=False)
    sweep = {
        "name": folder.name,
        "datasets": [name for name, _ in datasets],
        "solvers": [{"name": SOLVERS[label][0]} for label in labels],
        "stop": {"accuracy": list(ACCURACIES)},
        "repeats": repeats,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(sweep | config), encoding="utf-8")
    environment = {"schema_version": 1, "recorded": "2026-11-20T12:00:00+00:00", "cpu": "A CPU"}
    (folder / "environment.json").write_text(json.dumps(environment), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def make_results():
    """The writer of results folders."""
    return write_results


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with every state in it; not to be written to."""
    return write_results(tmp_path_factory.mktemp("results") / "mixture")


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with its report, of fewer runs; not to be written to."""
    from svmbench.report.write import write_report

    folder = write_results(
        tmp_path_factory.mktemp("reported") / "sweep",
        repeats=3,
        labels=("pegasos", "sgd-m(schedule=blocks)", "dcd", "crawl", "adagrad", "svmperf"),
        plots=["log-suboptimality"],
    )
    write_report(folder)
    return folder


@pytest.fixture(scope="session")
def change():
    """Rewrites columns of runs.csv: values for the rows that match a query."""

    def rewrite(folder: Path, query: str = "", **columns: object) -> Path:
        runs = pd.read_csv(folder / "runs.csv").astype(object)
        rows = runs.index if not query else runs.query(query).index
        for column, value in columns.items():
            runs.loc[rows, column] = value
        runs.to_csv(folder / "runs.csv", index=False)
        return folder

    return rewrite


PAPER = """
version: 1
order: 1
title: "A demonstration: of everything"
authors: A. Body
published_in: Journal 1, 2000
url: https://example.org
about: What it shows.
"""

TIMES = """
version: 1
number: Table 1
order: 1
title: Times
question: Which is fastest?
sweeps:
  base:
    datasets: [adult, covtype.binary]
    lambda: [1e-4, 1e-5]
    solvers:
      - pegasos
      - {name: sgd-m, schedule: 4/9, label: "sgd-m(schedule=blocks)"}
      - sgd-m
      - dcd
      - svmperf
    stop: {accuracy: [1e-1, 1e-2, 1e-3], time_limit: 60s, max_epochs: 1000}
    repeats: 3
tables:
  - rows: [dataset, lambda]
    columns: [solver]
    measures: [{seconds: 1e-2}]
    against: dcd
  - of: {lambda: 1e-4}
    rows: [solver]
    columns: [dataset]
    measures: [{seconds: 1e-3}, test_error, primal]
figures:
  - {kind: curve, x: seconds, y: accuracy}
  - {title: Along the epochs, x: epochs, y: primal, log_y: false, panels: [dataset]}
  - {kind: across, x: lambda, y: seconds, at: 1e-2, panels: [dataset]}
published:
  - source: Table 1
    mark: seed
    values:
      - {dataset: adult, lambda: 1e-4, solver: pegasos, measure: {seconds: 1e-2}, value: 1.1}
      - {dataset: adult, lambda: 1e-4, solver: dcd, measure: {seconds: 1e-2}, value: 0.2}
      - {dataset: adult, lambda: 1e-4, solver: svm-light, measure: {seconds: 1e-2}, value: "> 18"}
      - {dataset: astro-ph, lambda: 1e-4, solver: dcd, measure: {seconds: 1e-2}, value: 0.02}
      - {dataset: adult, solver: dcd, measure: test_error, value: 0.1512}
      - {dataset: adult, solver: dcd, measure: gap, value: 0.25}
claims:
  - text: DCD beats Pegasos.
    source: Table 1
    kind: ratio
    solver: dcd
    over: pegasos
    measure: {seconds: 1e-2}
    by: 2
  - {text: It is beautiful., source: Section 1, kind: untestable, why: a matter of taste}
notes: ["Reconstructed: λ."]
"""

NOTHING = """
version: 1
number: Figure 2
order: 2
title: Not run
question: What is there to see?
sweeps:
  base:
    datasets: [adult]
    lambda: 1e-4
    solvers: [pegasos, dcd]
    stop: {accuracy: [1e-2]}
tables:
  - {rows: [dataset], columns: [solver], measures: [{seconds: 1e-2}]}
figures:
  - {x: seconds, y: accuracy}
published:
  - {source: Figure 2, mark: read, not_available: a picture without numbers}
"""


def write_paper_files(folder: Path) -> Path:
    """Write configs/papers/demo: one item with runs to come, one without."""
    (folder / "demo").mkdir(parents=True, exist_ok=True)
    for name, text in (("paper", PAPER), ("times", TIMES), ("nothing", NOTHING)):
        (folder / "demo" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def paper_files():
    """The writer of a paper's files."""
    return write_paper_files


@pytest.fixture(scope="session")
def papered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the papers with their page; configurations in ``papers``; not to be written to."""
    from svmbench.config.files import dump_sweep
    from svmbench.papers.model import papers
    from svmbench.papers.report.write import write_papers

    root = tmp_path_factory.mktemp("papered")
    found = papers(write_paper_files(root / "papers"))
    sweep = yaml.safe_load(dump_sweep(found["demo"].items["times"].sweep_at("base", full=False)))
    write_results(
        root / "demo" / "times" / "base",
        repeats=3,
        labels=("pegasos", "sgd-m(schedule=blocks)", "dcd", "svmperf"),
        datasets=(("adult", False), ("covtype.binary", True)),
        **{key: value for key, value in sweep.items() if key not in ("datasets", "repeats")},
    )
    write_papers(root, found)
    return root
