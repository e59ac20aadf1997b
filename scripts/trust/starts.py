"""Figures of a forked process against those of one that is started from scratch.

The script makes every run twice in succession, in random order: in a process that the launcher
forks, and in a new one; or, with --shared, in a forked process that brief runs share, and in one of
its own, so that "forked" stands for the former and "new" for the latter. Each pair has a launcher
of its own, but for --shared. The ratios of the pairs, forked over new, are judged as those of any
two methods are. The last column is the seconds that a run takes beyond the harness's own
measurement: starting and ending the process, opening the rows.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from noise import write_data

from svmbench.cli.columns import align
from svmbench.config import Sweep
from svmbench.evidence import Question, judge, log_ratios
from svmbench.harness.plan import Run, plan_runs
from svmbench.harness.processes import Worker
from svmbench.harness.store import Store
from svmbench.harness.supervise import make_run
from svmbench.harness.sweeps import Options, Reporter, prepare
from svmbench.report.comparison.judge import region

#: Differences up to this factor do not matter.
MARGIN = 1.02

MEASURES = ("training s", "processor s", "set-up s", "peak MB", "start s")


def sweep(datasets: Sequence[Any], solvers: Sequence[str], epochs: float, repeats: int) -> Sweep:
    """Runs of the same number of epochs, so that both kinds do the same work."""
    return Sweep.model_validate(
        {
            "version": 1,
            "name": "starts",
            "datasets": list(datasets),
            "lambda": [1e-4],
            "solvers": list(solvers),
            "stop": {"max_epochs": epochs, "time_limit": 3600.0},
            "repeats": repeats,
            "reference": {"gap": 1e-3},
        }
    )


def measured(run: Run, store: Store, worker: Worker, brief: bool) -> dict[str, float]:
    """The `MEASURES` of a run."""
    begun = time.perf_counter()
    trace = make_run(run, store, 3600.0, threading.Event(), worker=worker, brief=brief)
    taken = time.perf_counter() - begun
    if trace is None or trace.state not in ("max_steps", "converged"):
        raise SystemExit(f"{run.id}: {trace and trace.state}")
    last = trace.points[-1]
    figures = (
        *(last["wall"], last["cpu"], trace.points[0]["setup_wall"]),
        *(trace.end["peak_memory_bytes"] / 1e6, taken - trace.end["elapsed_seconds"]),
    )
    return dict(zip(MEASURES, figures, strict=True))


Pairs = dict[tuple[str, str], list[tuple[dict[str, float], dict[str, float]]]]


def pairs_of(runs: Sequence[Run], store: Store, shared: bool) -> Pairs:
    """Pairs of a forked and a new process, or of a shared one and its own, by set and solver."""
    found: Pairs = {}
    with ExitStack() as stack:
        workers = {kind: stack.enter_context(Worker(kind or shared)) for kind in (True, False)}
        for number, run in enumerate(runs):
            kinds = random.Random(number).sample([True, False], 2)
            made = {kind: measured(run, store, workers[kind], shared and kind) for kind in kinds}
            dataset, _, label = run.cell
            found.setdefault((dataset, label), []).append((made[True], made[False]))
            print(f"{number + 1} of {len(runs)} pairs", end="\r", file=sys.stderr, flush=True)
    return found


def rows(pairs: Pairs) -> Iterator[tuple[str, ...]]:
    """A row for each cell and measure, judged on one page."""
    cells = [(cell, measure) for cell in sorted(pairs) for measure in MEASURES]
    samples = [
        ([pair[0][measure] for pair in pairs[cell]], [pair[1][measure] for pair in pairs[cell]])
        for cell, measure in cells
    ]
    questions = [Question(log_ratios(new, forked), *region(MARGIN)) for forked, new in samples]
    words = {"holds": "equal", "does not hold": "different", "open": "open"}
    for (cell, measure), (forked, new), answer in zip(
        cells, samples, judge(questions), strict=True
    ):
        yield (
            *(*cell, measure, f"{median(forked):.4g}", f"{median(new):.4g}"),
            f"{answer.estimate:.3f}",
            f"{answer.low:.3f} to {answer.high:.3f}",
            words[answer.verdict],
        )


TITLES = ("data", "solver", "measure", "forked", "new", "ratio", "interval", f"within {MARGIN:g}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print the results."""
    parser = argparse.ArgumentParser(description="Forked processes against new ones.")
    parser.add_argument("--datasets", default="", help="names of data sets (default: random rows)")
    parser.add_argument("--solvers", default="dcd,sgd-s", help="names of solvers (%(default)s)")
    parser.add_argument("--pairs", type=int, default=20, help="pairs per cell (%(default)s)")
    parser.add_argument("--epochs", type=float, default=10.0, help="epochs per run (%(default)g)")
    parser.add_argument("--rows", type=int, default=20_000, help="random rows (%(default)s)")
    parser.add_argument("--shared", action="store_true", help="shared processes against own ones")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        datasets: list[Any] = [name for name in options.datasets.split(",") if name]
        if not datasets:
            write_data(Path(temporary) / "rows.libsvm", options.rows)
            datasets = [{"path": str(Path(temporary) / "rows.libsvm")}]
        wanted = sweep(datasets, options.solvers.split(","), options.epochs, options.pairs)
        runs = plan_runs(wanted, prepare(wanted, Reporter(), Options()))
        found = pairs_of(runs, Store(Path(temporary) / "results"), options.shared)
    print(align(TITLES, list(rows(found))))
    print(f"\n{time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
