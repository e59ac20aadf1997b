"""Solvers that write what the harness writes or reads: traces, weights, rows and tables."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sys
from pathlib import Path

import numpy as np

from zoo.specimen import (
    EPOCHS,
    Hiding,
    Specimen,
)


class ForgesTrace(Hiding):
    """Finds its trace and adds points with a perfect result."""

    name = "forges-its-trace"

    def advance(self, steps):
        super().advance(steps)
        path = trace_of_this_run()
        *_, last = path.read_text().splitlines()
        point = json.loads(last) | {"presentations": 1, "accuracy": 0.0, "wall": 1e-9}
        with path.open("a") as file:
            file.write(2 * (json.dumps(point) + "\n"))


class ForgesEnd(Hiding):
    """Writes the end of its trace itself, with a hash that fits, and leaves."""

    name = "forges-its-end"

    def advance(self, steps):
        from svmbench.harness.trace import TraceWriter

        path = trace_of_this_run()
        header, last = map(json.loads, path.read_text().splitlines()[:2])
        del header["kind"], header["schema_version"]
        with TraceWriter(path, header) as writer:
            writer.append(last | {"presentations": 1, "accuracy": 0.0, "wall": 1e-9})
            writer.end("converged")
        os._exit(0)


def trace_of_this_run():
    """The trace that this process has open."""
    places = list(Path("/proc/self/fd").iterdir())
    return next(p.resolve() for p in places if p.exists() and p.resolve().suffix == ".part")


class ForgesWeights(Specimen):
    """Writes a file of weights beside its trace."""

    name = "forges-weights"

    def start(self, problem, seed):
        super().start(problem, seed)
        path = trace_of_this_run().with_suffix(".weights.npz")
        np.savez(path, w=np.zeros(problem.data.n_features), bias=0.0)


class KeepsWeights(Hiding):
    """Starts from the weights that an earlier run has left on disk."""

    name = "keeps-weights"
    place = Path(os.environ.get("SVMBENCH_CACHE", "/tmp")) / "kept.npy"

    def start(self, problem, seed):
        super().start(problem, seed)
        if self.place.exists():
            self.kept = np.load(self.place)
        else:
            self.inner.advance(EPOCHS * self.m)
            self.kept = self.inner.w
            np.save(self.place, self.kept)

    @property
    def w(self):
        return self.kept if self.counters.presentations else np.zeros_like(self.kept)


class ReplacesLabels(Specimen):
    name = "replaces-labels"

    def start(self, problem, seed):
        object.__setattr__(problem.data, "labels", np.ones_like(problem.data.labels))
        super().start(problem, seed)


class ReplacesRows(Specimen):
    name = "replaces-rows"

    def start(self, problem, seed):
        super().start(problem, seed)
        object.__setattr__(problem.data, "values", np.zeros_like(problem.data.values))


class ReplacesLambda(Specimen):
    name = "replaces-lambda"

    def start(self, problem, seed):
        object.__setattr__(problem, "lam", problem.lam / 1000.0)
        super().start(problem, seed)


class EditsRows(Specimen):
    """Changes the cached rows on disk while it trains, and restores them."""

    name = "edits-the-rows"

    def start(self, problem, seed):
        super().start(problem, seed)
        (path,) = Path(os.environ["SVMBENCH_CACHE"]).glob("datasets/*/values.npy")
        before = path.stat()
        with path.open("r+b") as file:
            file.seek(-8, os.SEEK_END)
            sound = file.read()
            for content in (bytes(8), sound):
                file.seek(-8, os.SEEK_END)
                file.write(content)
                file.flush()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class RewritesPoints(Specimen):
    """Replaces the function that writes the trace, and divides the times by a thousand."""

    name = "rewrites-its-points"

    def start(self, problem, seed):
        super().start(problem, seed)
        writer = sys.modules["svmbench.harness.trace"].TraceWriter
        append = writer.append

        def shortened(self, record):
            times = {name: record[name] / 1000.0 for name in ("wall", "cpu") if name in record}
            return append(self, record | times)

        writer.append = shortened


class ReturnsTwice(Specimen):
    """Forks, and returns to the harness in both processes."""

    name = "returns-twice"
    forked = False

    def advance(self, steps):
        super().advance(steps)
        if not self.forked:
            self.forked = True
            os.fork()


class PutsAPipe(Specimen):
    """Puts a pipe in place of its trace, whose reading does not end."""

    name = "puts-a-pipe"

    def start(self, problem, seed):
        super().start(problem, seed)
        path = trace_of_this_run()
        path.unlink()
        os.mkfifo(path)


class LinksTheTables(Specimen):
    """Puts links to another file in place of the tables of its results folder."""

    name = "links-the-tables"

    def start(self, problem, seed):
        super().start(problem, seed)
        victim = Path(os.environ["SVMBENCH_CACHE"]) / "victim"
        victim.write_text("mine")
        folder = trace_of_this_run().parent.parent
        for table in ("runs.csv", "traces.csv"):
            (folder / table).unlink(missing_ok=True)
            (folder / table).symlink_to(victim)
        (folder / ".lock").unlink()


class WritesLabels(Specimen):
    """Asks the system for the right to write into the mapped labels."""

    name = "writes-labels"

    def start(self, problem, seed):
        super().start(problem, seed)
        labels = problem.data.labels
        system = ctypes.CDLL(None, use_errno=True)
        page = labels.ctypes.data // mmap.PAGESIZE * mmap.PAGESIZE
        size = labels.ctypes.data + labels.nbytes - page
        if system.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(size), 3) != 0:
            raise OSError(ctypes.get_errno(), "the rows cannot be written")
        ctypes.memset(labels.ctypes.data, 1, labels.nbytes)
