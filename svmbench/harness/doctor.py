"""Whether this machine is fit to measure on, and whether svmbench works on it."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from svmbench.data.cache import cache_dir
from svmbench.data.dataset import Dataset, Provenance
from svmbench.data.fetch import mirror
from svmbench.harness.environment import available_memory, environment, pinned
from svmbench.harness.trace import TraceWriter
from svmbench.harness.worker import Measurement
from svmbench.problem import Problem
from svmbench.solvers.stochastic.sgd_s import SgdS

#: Largest share by which evaluations between advances may disturb the clock.
CLOCK_TOLERANCE = 0.02

#: Load average above which other work is taken to disturb measurements.
CALM = 0.5


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Parameters
    ----------
    what : str
        The thing checked.
    verdict : {'ok', 'warning', 'fault'}
        A warning bears on what timings mean; with a fault svmbench does not work.
    found : str
    advice : str
        What to do, where there is something.
    """

    what: str
    verdict: Literal["ok", "warning", "fault"]
    found: str
    advice: str = ""


def examine() -> Iterator[Finding]:
    """Check one thing after another, quick ones first."""
    facts = environment()
    for about in (_machine, _build, _governor):
        yield about(facts)
    for check in (_load, _memory, _cache, _mirror, _worker, _clock):
        yield check()


def _machine(facts: dict[str, Any]) -> Finding:
    found = f"{facts['cpu']}, {facts['logical_cpus']} logical, {facts['memory_gib']} GiB"
    return Finding("machine", "ok", found)


def _build(facts: dict[str, Any]) -> Finding:
    found = f"{facts['compiler']}: {facts['flags']}"
    if "-march=native" in facts["flags"]:
        return Finding("kernels", "ok", found)
    advice = "portable build; SVMBENCH_NATIVE=1 when installing tunes it to this machine"
    return Finding("kernels", "ok", found, advice)


def _governor(facts: dict[str, Any]) -> Finding:
    governor = facts["governor"]
    if governor is None:
        return Finding("frequency governor", "ok", "the system does not tell")
    if governor == "performance":
        return Finding("frequency governor", "ok", governor)
    advice = "the processor changes its speed; choose 'performance' for measuring"
    return Finding("frequency governor", "warning", governor, advice)


def _load() -> Finding:
    load = os.getloadavg()[0]
    if load <= CALM:
        return Finding("load", "ok", f"{load:.2f}")
    advice = "other programs are at work; timings will scatter"
    return Finding("load", "warning", f"{load:.2f}", advice)


def _memory() -> Finding:
    available = available_memory()
    found = "the system does not tell" if available is None else f"{available / 2**30:.1f} GiB free"
    return Finding("memory", "ok", found)


def _cache() -> Finding:
    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = "set SVMBENCH_CACHE to a folder that can be written to"
        return Finding("cache", "fault", f"{folder}: {error.strerror}", advice)
    free = shutil.disk_usage(folder).free / 2**30
    if free < 1.0:
        advice = "large data sets need more; set SVMBENCH_CACHE to another disk"
        return Finding("cache", "warning", f"{folder}, {free:.1f} GiB free", advice)
    return Finding("cache", "ok", f"{folder}, {free:.1f} GiB free")


def _mirror() -> Finding:
    folder = mirror()
    if folder is None:
        return Finding("mirror", "ok", "none; data sets come from the network")
    count = sum(1 for path in folder.iterdir() if path.is_file()) if folder.is_dir() else 0
    if count:
        return Finding("mirror", "ok", f"{folder}, {count} files")
    advice = "SVMBENCH_MIRROR should name a folder with data files"
    return Finding("mirror", "warning", f"{folder}: no files", advice)


def _worker() -> Finding:
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import svmbench.harness.worker"],
        env=pinned(1),
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - begun
    if done.returncode == 0:
        return Finding("worker process", "ok", f"starts in {seconds:.2f} s")
    lines = done.stderr.strip().splitlines() or ["it said nothing"]
    return Finding("worker process", "fault", lines[-1], "install svmbench again")


def _clock() -> Finding:
    ratio = clock_ratio()
    found = f"{ratio:.3f} x one uninterrupted advance"
    if abs(ratio - 1.0) <= CLOCK_TOLERANCE:
        return Finding("clock", "ok", found)
    advice = "evaluations disturb what is timed, or the machine is too noisy to tell"
    return Finding("clock", "warning", found, advice)


def clock_ratio(times: int = 9, epochs: int = 60) -> float:
    """Clocked training time over that of a single call, as the ratio of medians.

    Parameters
    ----------
    times : int
        Interleaved measurements of each.
    epochs : int
        Length of a run of sgd-s on 20,000 made rows of 20 nonzeros.
    """
    problem = Problem(_made_rows(20_000, 500, 20), 1e-4)
    clocked, single = [], []
    for _ in range(times):
        clocked.append(_clocked(problem, epochs))
        single.append(_uninterrupted(problem, epochs))
    return statistics.median(clocked) / statistics.median(single)


def _clocked(problem: Problem, epochs: int) -> float:
    stop: dict[str, Any] = {
        "accuracy": [],
        "gap": None,
        "own": False,
        "max_epochs": epochs,
        "max_updates": None,
        "time_limit": 3600.0,
    }
    measurement = Measurement(SgdS(), problem, None, stop, 0.0, float("inf"))
    with (
        tempfile.TemporaryDirectory() as folder,
        TraceWriter(Path(folder) / "trace", {}) as trace,
    ):
        measurement.run(1, trace)
    return measurement.clock.wall / 1e9


def _uninterrupted(problem: Problem, epochs: int) -> float:
    solver = SgdS()
    begun = time.perf_counter()
    solver.start(problem, 1)
    solver.advance(epochs * problem.data.n_samples)
    return time.perf_counter() - begun


def _made_rows(m: int, d: int, nonzeros: int) -> Dataset:
    rng = np.random.default_rng(0)
    steps = rng.integers(1, d // nonzeros + 1, size=(m, nonzeros))
    indices = (np.cumsum(steps, axis=1) - 1).astype(np.uint16)
    labels = np.where(rng.random(m) < 0.5, -1, 1).astype(np.int8)
    indptr = np.arange(0, m * nonzeros + 1, nonzeros, dtype=np.int64)
    return Dataset("made", d, indptr, indices.ravel(), None, labels, Provenance("doctor", ""))
