"""Golden outputs: results that a change of the house must not change, without times.

    python tests/golden/golden.py            # compares them with the files beside this one
    python tests/golden/golden.py --write    # writes these files

A command that compares prints a diff, and ends with 1 if there is one. Numbers have the digits that
no order of summation changes.
"""

from __future__ import annotations

import difflib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data.load import load
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.path import grid
from svmbench.train.validation import cross_validate

FOLDER = Path(__file__).parent

#: Sets that come with svmbench, and stand-ins with their scale.
TRAINED_ON = {
    "tiny-sparse": None, "tiny-dense": None, "tiny-separable": None, "adult": 0.02,
    "reuters21578": 0.03,
}  # fmt: skip

#: What a run has done and come to, whatever time it took.
OF_RUNS = (
    *("dataset", "label", "lambda", "repeat", "state", "m", "d", "nnz", "presentations", "updates"),
    *("nonzeros", "reference_dual", "primal", "train_error", "epochs_to_0.1", "epochs_to_0.01"),
)

#: What a table says besides times.
OF_TABLES = ("dataset", "label", "lambda", "accuracy", "median_epochs", "reached", "runs", "states")

SWEEP = """\
version: 1
name: golden
datasets: [tiny-sparse, tiny-dense, tiny-separable]
lambda: 1e-2
solvers: [auto, dcd, sgd-m, sgd-s, pegasos, sdca, ocas, ipm]
stop: {accuracy: [1e-1, 1e-2], max_epochs: 60, time_limit: 1m}
repeats: 1
plots: []
"""

PAPER = {
    "paper.yaml": """\
version: 1
order: 1
title: A small paper
authors: N. N.
published_in: nowhere
url: https://example.org/
about: Two methods on tiny sets.
""",
    "table-1.yaml": """\
version: 1
number: Table 1
order: 1
title: Epochs
question: Which needs fewer?
sweeps:
  dense:
    datasets: [tiny-dense]
    lambda: 1e-2
    solvers: [dcd, sgd-s]
    stop: {accuracy: [1e-1, 1e-2], max_epochs: 200, time_limit: 1m}
    repeats: 1
tables:
  - rows: [dataset]
    columns: [solver]
    measures: [{epochs: 1e-2}]
claims:
  - text: Both come within 1 %.
    source: Table 1
    kind: reaches
    solvers: [dcd, sgd-s]
    measure: {epochs: 1e-2}
  - {text: It is about people., source: Table 1, kind: untestable, why: no people here}
""",
}

BENCHMARK = """\
version: 1
name: golden
title: The smallest benchmark
budget: 1m
sets: [{data: tiny-sparse}]
sweeps:
  oracle:
    lambda: 1e-3
    accuracy: [1e-1, 1e-2]
    solvers: [auto, sgd-s]
    repeats: 1
    max_epochs: 200
    time_limit: 1m
"""


def trainings() -> dict[str, str]:
    """P, D and certificates of fits, and the C that cross-validation chooses."""
    records = []
    for name, scale in TRAINED_ON.items():
        data = load(name, stand_in=scale).train
        examples = Examples(data, data.labels)
        for loss in ("hinge", "squared-hinge", "logistic"):
            for bias in ("none", "free"):
                objective = Objective(loss, bias=bias)
                (fit,) = train(examples, objective, 1e-6).fits
                values = grid(examples, objective)
                chosen = cross_validate(examples, objective, 3, values, 1e-2)
                records.append(
                    {
                        "dataset": name, "loss": loss, "bias": bias, "P": fit.primal,
                        "D": fit.dual, "method": fit.method, "certificates": fit.certificates,
                        "chosen_C": chosen.best, "values_of_C": len(chosen.values),
                    }
                )  # fmt: skip
    return {"trainings.csv": _csv(pd.DataFrame(records))}


def sweep() -> dict[str, str]:
    """Runs and tables of a sweep."""
    Path("golden.yaml").write_text(SWEEP)
    _call("run", "golden.yaml", "--out", "sweep")
    return {
        "sweep-runs.csv": _columns("sweep/runs.csv", OF_RUNS),
        "sweep-epochs.csv": _columns("sweep/tables/epochs.csv", OF_TABLES),
    }


def paper() -> dict[str, str]:
    """Runs, tables and verdicts of a small paper."""
    folder = Path("papers", "small")
    folder.mkdir(parents=True)
    for name, text in PAPER.items():
        (folder / name).write_text(text)
    said = _call("papers", "--from", "papers", "--out", "pages")
    runs = next(Path("pages").rglob("runs.csv"))
    return {
        "paper-runs.csv": _columns(runs, OF_RUNS),
        "paper-table-1.csv": next(Path("pages").rglob("table-1.csv")).read_text(encoding="utf-8"),
        "paper-claims.txt": said[said.index("claims  holds") :],
    }


def benchmark() -> dict[str, str]:
    """Runs and tables of the smallest benchmark."""
    Path("benchmark.yaml").write_text(BENCHMARK)
    _call("bench", "benchmark.yaml", "--out", "bench")
    runs = next(Path("bench").rglob("runs.csv"))
    table = ("set", "label", "lambda", "accuracy", "reached", "runs")
    return {
        "benchmark-runs.csv": _columns(runs, OF_RUNS),
        "benchmark-fastest.csv": _columns("bench/tables/fastest.csv", table),
    }


#: What makes some of the files each.
PARTS: tuple[Callable[[], dict[str, str]], ...] = (trainings, sweep, paper, benchmark)


def made(part: Callable[[], dict[str, str]]) -> dict[str, str]:
    """The files that a part makes, by their names, in a folder and with a cache of its own."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        kept = {name: os.environ.get(name) for name in ("SVMBENCH_CACHE", "SVMBENCH_MIRROR")}
        os.environ["SVMBENCH_CACHE"] = str(Path(folder, "cache"))
        os.environ.pop("SVMBENCH_MIRROR", None)
        try:
            return part()
        finally:
            for name, value in kept.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


def differences(files: dict[str, str]) -> list[str]:
    """The lines of a diff from the files beside this one."""
    lines: list[str] = []
    for name, text in files.items():
        path = FOLDER / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines += difflib.unified_diff(
            before.splitlines(), text.splitlines(), name, "now", lineterm="", n=0
        )
    return lines


def _call(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def _columns(path: Path | str, names: tuple[str, ...]) -> str:
    table = pd.read_csv(path)
    chosen = [name for name in names if name in table]
    return _csv(table[chosen].sort_values(chosen))


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, float_format="%.9g", lineterminator="\n")


if __name__ == "__main__":
    unlike: list[str] = []
    for each in PARTS:
        files = made(each)
        unlike += differences(files)
        if "--write" in sys.argv[1:]:
            for name, text in files.items():
                (FOLDER / name).write_text(text, encoding="utf-8")
    print("\n".join(unlike) or "as before")
    sys.exit(bool(unlike) and "--write" not in sys.argv[1:])
