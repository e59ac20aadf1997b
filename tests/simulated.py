"""Runs that take no time: a clock of their own goes on by what they are said to take."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from small_sweep import sweep as small_sweep

from svmbench.harness import crew, options, series, sweeps
from svmbench.harness.series import PlannedSweep
from svmbench.harness.sources import Source
from svmbench.harness.supervise import header_of
from svmbench.harness.trace import TraceWriter, read_trace


@dataclass
class Simulation:
    """Stands in for workers and for the clock of a series."""

    # what a run takes with its evaluation, by label; 1 unless given
    seconds: dict[str, float] = field(default_factory=dict)
    # median and scatter (of the logarithm) of the seconds to every accuracy, by label
    times: dict[str, tuple[float, float]] = field(default_factory=dict)
    # repeats that meet the time limit without reaching an accuracy, by label
    limited: dict[str, Collection[int]] = field(default_factory=dict)
    # labels and repeats of the runs that are stopped from outside
    killed: set[tuple[str, int]] = field(default_factory=set)
    # data set, label and repeat of the runs, in the order they were made
    made: list[tuple[str, str, int]] = field(default_factory=list)
    now: float = 1000.0  # the time
    lock: threading.Lock = field(default_factory=threading.Lock)

    def install(self, monkeypatch):
        """Have series make their runs here."""
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=time.sleep)
        for module in (crew, options, series, sweeps):
            monkeypatch.setattr(module, "time", clock)
        monkeypatch.setattr(crew, "make_run", self.make_run)
        return self

    def make_run(self, wanted, store, limit, stop, end, keep_weights, worker, brief):
        dataset, _, label = wanted.cell
        over = wanted.repeat in self.limited.get(label, ())
        taken = limit if over else self.seconds.get(label, 1.0)
        with self.lock:
            self.now += taken
            if self.now > end:
                self.now = end
                return None
            self.made.append((dataset, label, wanted.repeat))
        median, scatter = self.times.get(label, (0.1, 0.01))
        draw = np.random.default_rng([wanted.repeat, *label.encode()]).normal()
        with TraceWriter(store.growing(wanted), header_of(wanted, limit, keep_weights)) as writer:
            writer.append(point(0.0, None))
            if (label, wanted.repeat) in self.killed:
                writer.end("interrupted", elapsed_seconds=taken)
            elif over:
                writer.append(point(limit, 0.5))
                writer.end("time_limit", elapsed_seconds=taken)
            else:
                writer.append(point(float(median * np.exp(scatter * draw)), 0.0))
                writer.end("converged", elapsed_seconds=taken)
        trace = read_trace(store.growing(wanted))
        store.settle(wanted, trace)
        return trace


def point(wall, accuracy):
    """A checkpoint."""
    counts = dict.fromkeys(
        ("presentations", "visits", "updates", "nonzeros"), 0 if accuracy is None else 100
    )
    values = dict.fromkeys(("dual", "gap", "train_error", "test_error"))
    return {
        "kind": "point",
        **counts,
        "wall": wall,
        "cpu": wall,
        "primal": 1.0,
        "accuracy": accuracy,
        **values,
    }


def sweep_of(*solvers, repeats, dataset="tiny-separable", **changes):
    """A small sweep."""
    stop = {"accuracy": [0.1], "max_epochs": 100, "time_limit": 10.0}
    given = {"datasets": [dataset], "solvers": list(solvers), "stop": stop, "repeats": repeats}
    return small_sweep(**given | changes)


def planned_of(sweep, folder):
    """The sweep as one of a series."""
    sources = tuple(Source(dataset) for dataset in sweep.datasets)
    return PlannedSweep("paper", "item", folder.name, sweep, folder, sources)
