"""Results folders with their cache, to be copied and edited, and the edits of a trace."""

import json
import math
import shutil
from hashlib import sha256

import pytest
from small_sweep import run_sweep

from svmbench.config import Sweep
from svmbench.harness.sweeps import Options
from svmbench.report.write import write_report

SWEEP = {
    "version": 1,
    "name": "small",
    "datasets": [{"name": "tiny-separable", "test": 0.2}],
    "lambda": [0.01],
    "solvers": ["dcd", "sgd-s"],
    "stop": {"accuracy": [0.1, 0.001], "max_epochs": 300, "time_limit": 10.0},
}


def make(root, sweep, keep_weights=True, report=False):
    """Run a sweep in a folder with a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBENCH_CACHE", str(root / "cache"))
        # On a busy machine too, a run that meets its time limit ends its cell.
        patch.setattr("svmbench.harness.crew.STALLED", math.inf)
        options = Options(keep_weights=keep_weights)
        run_sweep(Sweep.model_validate(sweep), root / "results", options=options)
        if report:
            write_report(root / "results")
    return root


def copy_of(made, tmp_path, monkeypatch):
    """A copy that may be edited, with its cache in use."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def a_trace(folder, solver="dcd"):
    """The first trace of a solver."""
    return min((folder / "runs").glob(f"*-{solver}-*.jsonl"))


def records_of(path):
    """The lines of a trace."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_records(path, records):
    """Write a trace with a hash that fits its lines."""
    end = {key: value for key, value in records[-1].items() if key != "sha256"}
    lines = [json.dumps(record) + "\n" for record in [*records[:-1], end]]
    end["sha256"] = sha256("".join(lines).encode()).hexdigest()
    path.write_text("".join(lines[:-1]) + json.dumps(end) + "\n")
