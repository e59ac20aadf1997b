"""Counts false alarms and finds of ``svmbench compare``.

Runs one sweep again and again, in which dcd takes part under two labels and a third time
slowed by a known share, and counts what the comparisons say: any difference
between the two equal labels is a false alarm, "slower" for the third is a find.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from svmbench.cli.columns import align
from svmbench.config import Sweep
from svmbench.harness.run import run_sweep
from svmbench.problem import Problem
from svmbench.report.comparison import Comparison, Metric, Side, compare
from svmbench.report.read import read_results
from svmbench.solvers import registry
from svmbench.solvers.dual.dcd import Dcd

#: Share of its processor time that the slowed solver takes on top.
EXTRA = 0.2

PLAIN, AGAIN, SLOWED = "dcd", "dcd-again", "dcd-slowed"
METRICS: tuple[Metric, ...] = ("seconds", "cpu_seconds")


class SlowedDcd(Dcd):
    """Dcd that goes on working for nothing once it has taken its steps."""

    name = SLOWED
    summary = "dcd that takes a fifth more processor time, to be found out"
    source = "ours"

    def start(self, problem: Problem, seed: int) -> None:
        """Start, and a fifth more."""
        with _prolonged():
            super().start(problem, seed)

    def advance(self, steps: int) -> None:
        """Advance, and a fifth more."""
        with _prolonged():
            super().advance(steps)


@contextmanager
def _prolonged() -> Iterator[None]:
    begun = time.process_time()
    yield
    ended = time.process_time()
    until = ended + EXTRA * (ended - begun)
    while time.process_time() < until:
        pass


def write_data(path: Path) -> None:
    """Write rows on which dcd takes some tens of milliseconds: 20 000 rows, 30 of 500 columns."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=500)
    lines = []
    for _ in range(20_000):
        columns = np.sort(rng.choice(500, size=30, replace=False))
        values = rng.normal(size=30)
        score = hidden[columns] @ values + 4.0 * rng.normal()
        pairs = " ".join(f"{j + 1}:{x:.3f}" for j, x in zip(columns, values, strict=True))
        lines.append(f"{1 if score > 0 else -1} {pairs}\n")
    path.write_text("".join(lines), encoding="ascii")


@contextmanager
def plugged_in(folder: Path) -> Iterator[None]:
    """Install `SlowedDcd` as a package would, for this process and its workers."""
    metadata = folder / "slowed-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: slowed\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        f"[{registry.GROUP}]\n{SLOWED} = check_compare:SlowedDcd\n"
    )
    places = [str(folder), str(Path(__file__).resolve().parent)]
    path, variable = list(sys.path), os.environ.get("PYTHONPATH")
    sys.path[:0] = places
    os.environ["PYTHONPATH"] = os.pathsep.join([*places, *filter(None, [variable])])
    registry.solvers.cache_clear()
    try:
        yield
    finally:
        sys.path[:] = path
        if variable is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = variable
        registry.solvers.cache_clear()


def sweep(data: Path, repeats: int) -> Sweep:
    """The sweep that is run every time."""
    return Sweep.model_validate(
        {
            "version": 1,
            "name": "check-compare",
            "datasets": [{"path": str(data)}],
            "lambda": [1e-4],
            "solvers": ["dcd", {"name": "dcd", "label": AGAIN}, SLOWED],
            "stop": {"accuracy": [1e-1, 1e-2, 1e-3], "max_epochs": 300, "time_limit": 30.0},
            "repeats": repeats,
            "reference": {"gap": 1e-6},
        }
    )


def said(folder: Path, other: str, metric: Metric, margin: float) -> Comparison:
    """What a comparison of plain dcd with another label says."""
    results = read_results(folder)
    return compare(Side(results, PLAIN), Side(results, other), metric, margin)


HEADER = ("metric", "beyond", "A/A: false alarms", "ratios", "slowed: found", "in cells", "ratios")


def report(folders: list[Path], metric: Metric, margin: float) -> tuple[str, ...]:
    """One row: on how many pages there were false alarms and finds, and what the ratios were."""
    same = [said(folder, AGAIN, metric, margin) for folder in folders]
    slow = [said(folder, SLOWED, metric, margin) for folder in folders]
    alarms = sum(any(c.verdict in ("slower", "faster") for c in page.cells) for page in same)
    found = sum(bool(page.regressions) for page in slow)
    cells = [cell for page in slow for cell in page.cells]
    return (
        metric,
        f"{margin:g}",
        f"{alarms} of {len(same)} pages",
        _spread(same),
        f"{found} of {len(slow)} pages",
        f"{sum(cell.verdict == 'slower' for cell in cells)} of {len(cells)}",
        _spread(slow),
    )


def _spread(pages: list[Comparison]) -> str:
    ratios = [cell.ratio.estimate for page in pages for cell in page.cells]
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    """Run the experiment and print what came of it."""
    parser = argparse.ArgumentParser(description="False alarms and finds of svmbench compare.")
    parser.add_argument("--times", type=int, default=20, help="sweeps to run (%(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="repeats of each (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder in which the results are left")
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        os.environ["SVMBENCH_CACHE"] = str(place / "cache")
        data = place / "rows.libsvm"
        write_data(data)
        with plugged_in(place / "installed"):
            folders = []
            for number in range(options.times):
                folder = (options.keep or place) / f"sweep-{number}"
                run_sweep(sweep(data, options.repeats), folder)
                folders.append(folder)
                print(f"{number + 1} of {options.times} sweeps", file=sys.stderr, flush=True)
        rows = [report(folders, *case) for case in itertools.product(METRICS, (1.05, 1.0))]
    print(align(HEADER, rows))
    print(
        f"{options.repeats} repeats a sweep, slowed by {100 * EXTRA:.0f} %; "
        f"{time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main()
