"""Error rate of ``svmbench compare`` on this machine, idle and next to busy processes.

The script repeats one sweep in which the same solver runs under several labels, and once more with
a planted share of additional processor time. Any two of the equal labels make a page on which every
verdict of a difference is false (A/A). Each of them with the slowed solver makes a page with a true
difference (A/B). Pages resampled from all blocks of a condition show how many repeats are needed.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from svmbench.cli.columns import align
from svmbench.config import Sweep
from svmbench.data.dataset import FloatArray
from svmbench.errors import ConfigError
from svmbench.evidence import (
    LEVEL,
    Question,
    RatioEvidence,
    judge,
    log_ratios,
    unpaired,
    verdicts,
)
from svmbench.harness.sweeps import run_sweep
from svmbench.problem import Problem
from svmbench.records.read import Results, read_results
from svmbench.report.comparison import Comparison, Side, compare
from svmbench.report.comparison.judge import region
from svmbench.report.pairing import ASSUMED_SHIFT, DAY_SCATTER
from svmbench.solvers import registry
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.plug_in import GROUP

#: Share of processor time that the slowed solver adds; the variable passes it to the workers.
VARIABLE, EXTRA = "SVMBENCH_NOISE_EXTRA", 0.05

SLOWED = "dcd-slowed"
METRICS: tuple[str, ...] = ("seconds", "cpu_seconds")
ACCURACIES = (3e-2, 1e-2, 3e-3)

#: Factors that do not count as a difference: none, and a margin for differences of 5 %.
MARGINS = (1.0, 1.02)

#: Numbers of repeats of resampled pages, and the number of pages.
REPEATS, DRAWN = (7, 10, 15, 20, 25), 400


class SlowedDcd(Dcd):
    """Dcd that wastes processor time after its steps."""

    name = SLOWED
    summary = "dcd with some additional processor time, as a planted difference"
    source = "ours"

    def start(self, problem: Problem, seed: int) -> None:
        """Start, and waste some time."""
        with prolonged():
            super().start(problem, seed)

    def advance(self, steps: int) -> None:
        """Advance, and waste some time."""
        with prolonged():
            super().advance(steps)


@contextmanager
def prolonged() -> Iterator[None]:
    """Extend the block by the planted share of its processor time."""
    begun = time.process_time()
    yield
    ended = time.process_time()
    until = ended + float(os.environ.get(VARIABLE, EXTRA)) * (ended - begun)
    while time.process_time() < until:
        pass


@contextmanager
def busy(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep ``count`` processors busy while the block runs."""
    command = [sys.executable, "-S", "-c", "while True: pass"]
    hogs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield hogs
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


@contextmanager
def plugged_in(folder: Path) -> Iterator[None]:
    """Install `SlowedDcd` as a plug-in, for this process and its workers."""
    metadata = folder / "slowed-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: slowed\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        f"[{GROUP}]\n{SLOWED} = {Path(__file__).stem}:SlowedDcd\n"
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


def write_data(path: Path, m: int) -> None:
    """Write m rows with 30 of 500 columns; dcd takes two tenths of a second on 20 000."""
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=500)
    lines = []
    for _ in range(m):
        columns = np.sort(rng.choice(500, size=30, replace=False))
        values = rng.normal(size=30)
        score = hidden[columns] @ values + 4.0 * rng.normal()
        pairs = " ".join(f"{j + 1}:{x:.3f}" for j, x in zip(columns, values, strict=True))
        lines.append(f"{1 if score > 0 else -1} {pairs}\n")
    path.write_text("".join(lines), encoding="ascii")


def sweep(data: Path, equal: Sequence[str], repeats: int) -> Sweep:
    """The repeated sweep: dcd under each of the equal labels, and the slowed dcd."""
    return Sweep.model_validate(
        {
            "version": 1,
            "name": "noise",
            "datasets": [{"path": str(data)}],
            "lambda": [1e-5],
            "solvers": [*({"name": "dcd", "label": label} for label in equal), SLOWED],
            "stop": {"accuracy": list(ACCURACIES), "max_epochs": 1000, "time_limit": 3600.0},
            "repeats": repeats,
            "reference": {"gap": 1e-6},
        }
    )


# ---------------------------------------------------------------- verdicts


@dataclass(frozen=True)
class Condition:
    """The sweeps under one condition.

    Parameters
    ----------
    name : str
    results : list of Results
    equal : list of str
        The labels of the same solver.
    """

    name: str
    results: list[Results]
    equal: list[str]

    def pages(self, metric: str, margin: float, planted: bool) -> list[Comparison]:
        """The comparisons: of equal labels, or of each with the slowed one."""
        pairs = [(one, SLOWED) for one in self.equal]
        if not planted:
            pairs = list(itertools.combinations(self.equal, 2))
        return [
            compare(Side(results, one), Side(results, other), metric, margin)
            for results in self.results
            for one, other in pairs
        ]

    def samples(self, metric: str) -> FloatArray:
        """Blocks by label (the slowed one last) by accuracy."""
        columns = [f"{metric}_to_{accuracy!r}" for accuracy in ACCURACIES]
        blocks = []
        for results in self.results:
            runs = results.runs.assign(**{c: pd.to_numeric(results.runs[c]) for c in columns})
            for _, block in runs.groupby("repeat"):
                table = block.set_index("label")[columns].loc[[*self.equal, SLOWED]]
                blocks.append(table.fillna(np.inf).to_numpy(dtype=np.float64))
        return np.array(blocks)


def said(condition: Condition, metric: str, margin: float) -> tuple[str, ...]:
    """One row: the numbers of pages with verdicts, and the range of the ratios."""
    same = condition.pages(metric, margin, planted=False)
    slow = condition.pages(metric, margin, planted=True)
    faster = sum(any(c.conclusion == "faster" for c in page.cases) for page in same)
    either = sum(any(c.conclusion in ("slower", "faster") for c in page.cases) for page in same)
    found = sum(bool(page.regressions) for page in slow)
    ratios = [case.answer.estimate for page in slow for case in page.cases]
    return (
        condition.name,
        metric,
        f"{margin:g}",
        f"{faster} of {len(same)}",
        f"{either} of {len(same)}",
        f"{found} of {len(slow)}",
        f"{np.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
    )


SAID = ("condition", "metric", "beyond", "A/A faster", "A/A any", "A/B found", "A/B ratios")


def scatter(condition: Condition, metric: str) -> str:
    """Standard deviation of the log-ratio of two equal runs of a block, and its robust estimate."""
    samples = np.log(condition.samples(metric)[:, :-1])
    pairs = itertools.combinations(range(samples.shape[1]), 2)
    ratios = np.concatenate([(samples[:, i] - samples[:, j]).ravel() for i, j in pairs])
    # They are equal for a normal distribution; a large difference indicates heavy tails.
    middle = np.median(np.abs(ratios)) / 0.6745
    return f"{100 * ratios.std():.1f} % ({100 * middle:.1f} %)"


# ---------------------------------------------------------------- resampled pages


def drawn(
    samples: FloatArray, repeats: int, margin: float, planted: bool, rng: np.random.Generator
) -> bool:
    """Whether a page of ``repeats`` random blocks with random labels has a verdict.

    For equal labels, this is any difference; otherwise, it is that the slowed one is slower.
    """
    blocks = rng.choice(len(samples), repeats, replace=False)
    labels = [rng.choice(samples.shape[1] - 1, 2, replace=False) for _ in range(repeats)]
    a = samples[blocks, [label[0] for label in labels]]
    b = samples[blocks, -1] if planted else samples[blocks, [label[1] for label in labels]]
    questions = [
        Question(log_ratios(a[:, k].tolist(), b[:, k].tolist()), *region(margin))
        for k in range(a.shape[1])
    ]
    different = [answer for answer in judge(questions) if answer.verdict == "does not hold"]
    return any(answer.estimate > 1 or not planted for answer in different)


def enough(condition: Condition, metric: str, margin: float, count: int) -> Iterator[str]:
    """A row of percentages: for each number of repeats, those of false pages and of finds."""
    samples = condition.samples(metric)
    rng = np.random.default_rng(1)
    yield from (condition.name, metric, scatter(condition, metric), f"{margin:g}")
    for repeats in REPEATS:
        if repeats > len(samples):
            yield "–"
            continue
        shares = [
            np.mean([drawn(samples, repeats, margin, planted, rng) for _ in range(count)])
            for planted in (False, True)
        ]
        yield " / ".join(f"{100 * share:.1f}" for share in shares)


ENOUGH = ("condition", "metric", "scatter", "beyond", *(f"{n} repeats" for n in REPEATS))


def pairs_to_find(scatter: float, factor: float, count: int = 200, most: int = 1000) -> int:
    """Number of pairs that find a factor above 1 four times in five, without a margin.

    Parameters
    ----------
    scatter : float
        Standard deviation of the log-ratio of two equal runs of a pair.
    factor : float
    count : int
        Simulated cases, each on its own page.
    most : int
        Most pairs per cell.
    """
    rng = np.random.default_rng(1)
    logs = rng.normal(math.log(factor), scatter, (count, most))
    needed = math.log(2 / LEVEL)
    first = [int(np.argmax(RatioEvidence(row).path(0.0, 1.0) >= needed)) + 1 for row in logs]
    return math.ceil(np.quantile(first, 0.8))


# ---------------------------------------------------------------- two days

#: Cells, repeats and scatter of a run on the simulated pages.
CELLS, SITTING, SCATTER = 4, 15, 0.02

#: Factor beyond which a simulated difference counts.
BEYOND = 1.05


def false_pages(count: int, common: bool, rng: np.random.Generator) -> tuple[float, float]:
    """Simulate two folders of equal versions from days with different levels.

    Parameters
    ----------
    count : int
        Pages.
    common : bool
        Whether all cases share a day's level; otherwise each has its own.
    rng : Generator

    Returns
    -------
    as_pairs, as_days : float
        Share of pages with a false difference: if repeats with the same number count as pairs,
        and with the treatment of different times by `svmbench compare`.
    """
    said = np.zeros((count, 2))
    for page in range(count):
        levels = rng.normal(0.0, DAY_SCATTER, (2, 1 if common else CELLS))
        runs = np.exp(rng.normal(0.0, SCATTER, (2, CELLS, SITTING)) + levels[:, :, None])
        cases = list(zip(*runs.tolist(), strict=True))
        pairs = [Question(log_ratios(a, b), *region(BEYOND)) for a, b in cases]
        days = [unpaired(a, b, ASSUMED_SHIFT, *region(BEYOND)) for a, b in cases]
        said[page] = ["does not hold" in verdicts(asked) for asked in (pairs, days)]
    as_pairs, as_days = said.mean(axis=0)
    return float(as_pairs), float(as_days)


def days(count: int) -> Iterator[tuple[str, ...]]:
    """A row for each way in which days can differ: percent of pages with a false difference."""
    rng = np.random.default_rng(2)
    for name, common in (("of the machine", True), ("of each cell", False)):
        shares = false_pages(count, common, rng)
        yield (name, *(f"{100 * share:.1f}" for share in shares))


DAYS = ("level of a day", "taken for pairs, %", "as different times, %")


# ---------------------------------------------------------------- the experiment


def hogs(condition: str) -> int:
    """Number of busy processes of a condition: quiet, hog, hog2, hog3, ..."""
    match = re.fullmatch(r"quiet|hog(\d*)", condition)
    if match is None:
        raise ConfigError(f"--conditions {condition}: not 'quiet', 'hog' or 'hogN'")
    return 0 if condition == "quiet" else int(match.group(1) or 1)


def measured(
    options: argparse.Namespace, conditions: Mapping[str, int], equal: list[str], temporary: Path
) -> list[Condition] | None:
    """Run the sweeps of every condition, or read finished ones; None if the user stops them.

    Parameters
    ----------
    options : Namespace
        Those of the command.
    conditions : mapping of str to int
        Busy processes by condition.
    equal : list of str
        Labels of the equal solvers.
    temporary : Path
        A folder that will be removed.
    """
    place = options.keep or temporary
    place.mkdir(parents=True, exist_ok=True)
    os.environ["SVMBENCH_CACHE"] = str(place / "cache")
    data = place / "rows.libsvm"
    write_data(data, options.rows)
    found = []
    with plugged_in(temporary / "installed"):
        for name, count in conditions.items():
            found.append(Condition(name, [], equal))
            for number in range(options.pages):
                folder = place / f"{name}-{number}"
                with busy(count):
                    outcome = run_sweep(sweep(data, equal, options.repeats), folder)
                if outcome.interrupted:
                    return None
                found[-1].results.append(read_results(folder))
                print(f"{name}: {number + 1} of {options.pages}", file=sys.stderr, flush=True)
    return found


def command_line() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(description="False and missed verdicts of svmbench compare.")
    parser.add_argument(
        "--conditions", default="quiet,hog", help="list of quiet, hog, hogN (%(default)s)"
    )
    parser.add_argument("--pages", type=int, default=3, help="sweeps per condition (%(default)s)")
    parser.add_argument("--repeats", type=int, default=15, help="repeats per sweep (%(default)s)")
    parser.add_argument("--equal", type=int, default=4, help="equal labels (%(default)s)")
    parser.add_argument("--extra", type=float, default=EXTRA, help="planted share (%(default)s)")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the data (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for the results; reuses finished ones")
    parser.add_argument(
        "--days", type=int, metavar="PAGES", help="only simulate PAGES pages of two days each"
    )
    parser.add_argument("--smoke", action="store_true", help="a second of everything")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment and print the results."""
    parser = command_line()
    options = parser.parse_args(arguments)
    if options.days:
        print(align(DAYS, list(days(options.days))))
        return 0
    if options.smoke:
        options.pages, options.repeats, options.equal, options.rows = 1, 2, 2, 500
    try:
        conditions = {name: hogs(name) for name in options.conditions.split(",")}
    except ConfigError as error:
        parser.error(str(error))
    os.environ[VARIABLE] = repr(options.extra)
    equal = [f"dcd-{number + 1}" for number in range(options.equal)]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        found = measured(options, conditions, equal, Path(temporary))
    if found is None:
        return 130
    cases = list(itertools.product(found, METRICS, MARGINS))
    print(
        f"planted: {100 * options.extra:g} %; pages of {options.repeats} repeats and "
        f"{len(ACCURACIES)} cases\n"
    )
    print(align(SAID, [said(*case) for case in cases]))
    count = 10 if options.smoke else DRAWN
    print(
        f"\n{count} pages drawn anew: % of A/A pages that say anything / of A/B pages that find "
        "it\n"
    )
    print(align(ENOUGH, [tuple(enough(*case, count)) for case in cases]))
    print(f"\n{time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
