"""Inject faults into sweeps, and compare the results with those of an undisturbed sweep.

Each command injects one kind of fault, at random moments from a seed, and prints its findings, one
per line. It exits with code 1 if a finished run is lost, if an incomplete file is read, or if the
final numbers differ from those of the undisturbed sweep in anything but times.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pandas as pd

from svmbench.data.cache import verify
from svmbench.errors import DataError
from svmbench.harness.trace import read_trace
from svmbench.records.read import read_results
from svmbench.records.states import FAULTS, RERUN
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.plug_in import GROUP

Target = Literal["parent", "launcher", "worker", "all"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TARGETS: tuple[Target, ...] = ("parent", "launcher", "worker", "worker", "all")

#: Share of the faults that wait for a worker: on a busy machine most of the time is startup.
AT_WORK = 0.75

#: Variable that marks every process of a trial, to find those that outlive it.
MARK = "SVMBENCH_FAULTS_TRIAL"

#: Seconds after which a process that should have ended counts as left alive.
PATIENCE = 10.0

#: The sweep has no time limit that could end a run at a random moment. It has one problem and no
#: plots, so that an interrupted sweep ends soon.
CONFIG = """\
version: 1
name: faults
datasets: [{datasets}]
loss: hinge
lambda: [1e-2]
solvers: [{solvers}]
stop: {{accuracy: [1e-3], max_epochs: 60, time_limit: 24h}}
repeats: {repeats}
plots: []
reference: {{gap: 1e-8, time_limit: 24h}}
"""
EVERY_KIND = "auto, pegasos, sgd-r, sgd-s, sgd-m, svmasgd, sgd-qn, dcd, sdca, ocas, svmperf, ipm"
SMALL = {"datasets": "tiny-sparse", "solvers": "dcd, sgd-s, ocas", "repeats": 2}


# ------------------------------------------------------------------ findings


@dataclass
class Findings:
    """Results of a trial: figures to print, and violations.

    Parameters
    ----------
    faults : Counter
        Number of faults, by kind and target.
    kept : dict of str to str
        Hash of each finished run's file, by its path.
    wrong : list of str
        Violations, one line each.
    codes : Counter
        Exit codes of the started processes.
    tables : dict of Path to str
        Hashes of the tables of runs at their last reading.
    before : int
        Number of finished runs in earlier, completed sweeps.
    """

    faults: Counter[str] = field(default_factory=Counter)
    kept: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    tables: dict[Path, str] = field(default_factory=dict)
    before: int = 0

    def expect(self, holds: bool, what: str) -> None:
        """Record a violation unless ``holds``."""
        if not holds:
            self.wrong.append(what)

    def look(self, root: Path) -> None:
        """Read everything below a results folder, and record incomplete or lost files."""
        for path in sorted(root.rglob("runs/*.jsonl")):
            found, known = _sha256(path), self.kept.get(str(path))
            if known is not None:
                self.expect(found == known, f"changed: {path}")
                continue
            trace = read_trace(path)
            self.expect(trace is not None and bool(trace.end), f"torn: {path}")
            if trace is not None and trace.state not in (*FAULTS, *RERUN):
                self.kept[str(path)] = _sha256(path)
        self.wrong += [f"lost: {path}" for path in self.kept if not Path(path).exists()]
        for table in root.rglob("runs.csv"):
            found = _sha256(table) + _sha256(table.with_name("traces.csv"))
            if self.tables.get(table) != found:
                self._look_at_tables(table.parent)
                self.tables[table] = found
        for path in root.rglob("parts/*.json"):
            with suppress(FileNotFoundError):
                json.loads(path.read_text())

    def _look_at_tables(self, folder: Path) -> None:
        try:
            results = read_results(folder)
        except DataError as error:
            self.wrong.append(f"unreadable: {error}")
            return
        listed = results.runs[~results.runs["state"].isin(("skipped", *RERUN, *FAULTS))]
        for name, state, primal in zip(
            listed["id"], listed["state"], listed["primal"], strict=True
        ):
            trace = read_trace(folder / "runs" / f"{name}.jsonl")
            same = trace is not None and trace.state == state and trace.points
            if not same or trace is None or trace.points[-1]["primal"] != primal:
                self.wrong.append(f"listed, and not so: {folder} {name}")
        if set(listed["id"]) - set(results.traces["id"]):
            self.wrong.append(f"runs without their traces: {folder}")

    def keep(self, paths: Iterable[str]) -> None:
        """Record which of the files that are to stay as they are have changed or gone."""
        for path in paths:
            found = _sha256(Path(path))
            self.expect(found == self.kept.setdefault(path, found), f"changed: {path}")
        self.wrong += [f"lost: {path}" for path in self.kept if not Path(path).exists()]

    def report(self, what: str, **facts: object) -> None:
        """Print all results, and exit with code 1 if there is a violation."""
        lines: dict[str, object] = {}
        if self.faults:
            lines["faults"] = self.faults.total()
            lines |= {f"  {name}": count for name, count in sorted(self.faults.items())}
        lines["exit codes"] = ", ".join(f"{n} x {code}" for code, n in sorted(self.codes.items()))
        lines |= {name.replace("_", " "): fact for name, fact in facts.items()}
        lines["finished runs seen"] = self.before + len(self.kept)
        for name in ("lost", "changed", "torn", "unreadable"):
            lines[name] = sum(line.startswith(name) for line in self.wrong)
        lines["promises broken"] = len(self.wrong)
        click.echo(what)
        for name, fact in lines.items():
            click.echo(f"  {name}: {fact}")
        for line in dict.fromkeys(self.wrong):
            click.echo(f"  broken: {line}")
        if self.wrong:
            sys.exit(1)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def differences(folder: Path, reference: Path) -> list[str]:
    """Differences of the numbers of two results folders, except times, one line each."""
    found = []
    for name in ("runs.csv", "traces.csv", "tables/objective.csv", "tables/epochs.csv"):
        left, right = (_timeless(path / name) for path in (folder, reference))
        if list(left.columns) != list(right.columns) or len(left) != len(right):
            found.append(f"{name}: {left.shape} and {right.shape}")
            continue
        found += [
            f"{name}: column {column!r} differs in {int((left[column] != right[column]).sum())}"
            for column in left
            if not left[column].equals(right[column])
        ]
    return found


def _timeless(path: Path) -> pd.DataFrame:
    """A table as text, without columns that depend on a clock or on the machine's state."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    chance = (
        *("involuntary_switches", "load_average", "peak_memory_bytes", "started", "disturbed"),
        "node",  # of a cluster, that has carried the run out
    )
    return table[[c for c in map(str, table) if "seconds" not in c and c not in chance]]


# ------------------------------------------------------------------ processes


@dataclass
class Place:
    """The folder of a trial, with a cache, a configuration and results.

    Parameters
    ----------
    root : Path
    program : tuple of str
        What Python executes as svmbench.
    """

    root: Path
    program: tuple[str, ...] = ("-m", "svmbench")

    @property
    def results(self) -> Path:
        """The folder of results."""
        return self.root / "results"

    @property
    def config(self) -> Path:
        """The configuration."""
        return self.root / "faults.yaml"

    @property
    def cache(self) -> Path:
        """The cache."""
        return self.root / "cache"

    def write_config(self, **facts: Any) -> None:
        """Write the configuration of the sweep."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.config.write_text(CONFIG.format(**facts))

    def environment(self, **more: str) -> dict[str, str]:
        """Environment variables of the started processes."""
        return os.environ | {"SVMBENCH_CACHE": str(self.cache), MARK: str(self.root)} | more

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start svmbench in a separate process group; without arguments it runs the sweep."""
        chosen = arguments or self.sweep
        return subprocess.Popen(
            [sys.executable, "-P", *self.program, *chosen],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self.environment(**more),
            start_new_session=True,
            text=True,
        )

    @property
    def sweep(self) -> tuple[str, ...]:
        """The command that runs the sweep."""
        return ("run", str(self.config), "--out", str(self.results), "--offline", "--quiet")

    def run(self, *arguments: str, **more: str) -> tuple[int, str]:
        """Run svmbench to its end; return its exit code and standard error."""
        process = self.start(*arguments, **more)
        complaints = process.communicate()[1]
        return process.returncode, complaints

    def left_alive(self) -> list[int]:
        """Ids of the trial's processes that are still alive."""
        return marked(str(self.root))


def marked(text: str) -> list[int]:
    """Ids of the processes with that mark."""
    mark = f"{MARK}={text}".encode()
    return [pid for pid in _processes() if mark in words(pid, "environ")]


def _processes() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def words(pid: int, what: Literal["environ", "cmdline"]) -> list[bytes]:
    """The environment of a process, or its command line; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes().split(b"\0")
    except OSError:
        return []


def launchers_of(parent: int) -> list[int]:
    """Ids of the parent's launchers."""
    return [pid for pid in _started_by(parent) if _is_launcher(pid)]


def workers_of(parent: int) -> list[int]:
    """Ids of the parent's processes for runs or measurements."""
    started = _started_by(parent)
    direct = [pid for pid in started if not _is_launcher(pid)]
    return [*direct, *(run for pid in started if _is_launcher(pid) for run in _started_by(pid))]


def _started_by(parent: int) -> list[int]:
    """Ids of those children of a process that execute a module of svmbench."""
    return [pid for pid in children(parent) if {b"-P", b"-m"} <= set(words(pid, "cmdline"))]


def children(parent: int) -> list[int]:
    """Ids of the children of a process."""
    return [pid for pid in _processes() if _parent_of(pid) == parent]


def _is_launcher(pid: int) -> bool:
    return b"svmbench.harness.launcher" in words(pid, "cmdline")


def _parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@contextmanager
def trial(keep: Path | None) -> Iterator[Path]:
    """A folder for a trial, on the disk of temporary files."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def in_peace(root: Path, **facts: Any) -> Place:
    """Run the undisturbed sweep."""
    place = Place(root / "peace")
    place.write_config(**facts)
    code, complaints = place.run()
    if code != 0:
        raise click.ClickException(f"the undisturbed sweep ended with {code}: {complaints}")
    return place


# ------------------------------------------------------------------ kills


@dataclass
class Killer:
    """Sends signals to a trial's processes at random moments, until there are enough faults.

    Parameters
    ----------
    place : Place
    command : tuple of str
        Command to run repeatedly.
    wanted : int
        Number of faults.
    interval : float
        Most seconds between two faults.
    seed : int
    until : float
        Time of the monotonic clock after which there are no more faults.
    """

    place: Place
    command: tuple[str, ...]
    wanted: int
    interval: float
    seed: int
    until: float = math.inf
    findings: Findings = field(default_factory=Findings)
    starts: int = 0
    early: int = 0
    done: list[Path] = field(default_factory=list)

    def work(self) -> None:
        """Start and interrupt the command repeatedly; then let it complete."""
        rng = random.Random(self.seed)
        while self._goes_on():
            before = self.findings.faults.total()
            if self._hit_one(rng) == 0 and self.findings.faults.total() == before:
                self._put_aside()
        self._complete()

    def _goes_on(self) -> bool:
        return self.findings.faults.total() < self.wanted and time.monotonic() < self.until

    def _put_aside(self) -> None:
        """Move a sweep that completed before the last fault aside, and start a new one."""
        folder = self.place.results.with_name(f"results-{len(self.done) + 1}")
        self.place.results.rename(folder)
        self.done.append(folder)
        self.findings.before += len(self.findings.kept)
        self.findings.kept.clear()

    def _hit_one(self, rng: random.Random) -> int:
        """Follow one process from its start to its end, and return its exit code."""
        process = self.place.start(*self.command)
        self.starts += 1
        sent: list[signal.Signals] = []
        while self._goes_on():
            if rng.random() < AT_WORK:
                _wait_until(lambda: bool(workers_of(process.pid)) or process.poll() is not None)
            try:
                process.wait(rng.uniform(0.0, self.interval))
                break
            except subprocess.TimeoutExpired:
                number, target = rng.choice(SIGNALS), rng.choice(TARGETS)
                if self._hit(process, number, target) and target not in ("launcher", "worker"):
                    sent.append(number)
                self.findings.look(self.place.results)
                if signal.SIGKILL in sent:
                    break
        complaints = process.communicate()[1]
        self._judge(process.returncode, sent, complaints)
        return process.returncode

    def _hit(self, process: subprocess.Popen[str], number: signal.Signals, target: Target) -> bool:
        workers, launchers = workers_of(process.pid), launchers_of(process.pid)
        victims = {
            "parent": [process.pid],
            "launcher": launchers,
            "worker": workers,
            "all": [process.pid, *launchers, *workers],
        }
        if process.poll() is not None or not victims[target]:
            return False
        for pid in victims[target]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        self.findings.faults[f"{number.name} to {target}"] += 1
        if self.findings.faults.total() % 20 == 0:
            click.echo(f"{self.findings.faults.total()} of {self.wanted} faults", err=True)
        return True

    def _judge(self, code: int, sent: list[signal.Signals], complaints: str) -> None:
        """Check that a process and its workers ended as they should."""
        findings = self.findings
        findings.codes[code] += 1
        until = time.monotonic() + PATIENCE
        while self.place.left_alive() and time.monotonic() < until:
            time.sleep(0.02)
        for pid in self.place.left_alive():
            findings.wrong.append(f"left alive: {b' '.join(words(pid, 'cmdline')).decode()}")
        findings.look(self.place.results)
        if code in (-signal.SIGINT, -signal.SIGTERM) and -code in sent:
            self.early += 1  # Python was still starting or ending, outside our code
            return
        right = {0, 1}
        if sent:
            right.add(130)
        if signal.SIGKILL in sent:
            right.add(-signal.SIGKILL)
        findings.expect(code in right, f"exit code {code} after {sent}: {complaints}")
        if code == 130:
            findings.expect(complaints == "svmbench: interrupted\n", f"not one line: {complaints}")

    def _complete(self) -> None:
        """Let the command complete; it repeats runs that a signal ended."""
        for more in ((), (), ("--retry-failed",)):
            code, complaints = self.place.run(*self.command, *more)
            self.findings.codes[code] += 1
            self.findings.look(self.place.results)
            if code == 0:
                return
        self.findings.wrong.append(f"does not complete ({code}): {complaints}")


def _states(folder: Path) -> str:
    counts = Counter(pd.read_csv(folder / "runs.csv")["state"])
    return ", ".join(f"{count} {state}" for state, count in counts.most_common())


def _said(different: list[str]) -> str:
    return "; ".join(different) or "none but times"


# ------------------------------------------------------------------ commands

SEED = click.option("--seed", default=1, show_default=True, help="Seed of moments and choices.")
KEEP = click.option("--keep", type=click.Path(path_type=Path), help="Folder to keep.")
SMOKE = click.option("--smoke", is_flag=True, help="A small test of the script.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Inject faults into sweeps, and compare the results with those of an undisturbed sweep."""


@main.command()
@click.option("--times", default=200, show_default=True, help="Number of faults.")
@click.option("--interval", default=1.0, show_default=True, help="Most seconds between two.")
@click.option("--minutes", default=math.inf, help="Minutes after which there are no more.")
@click.option("--repeats", default=5, show_default=True, help="Repeats of each of 12 solvers.")
@SEED
@SMOKE
@KEEP
def kills(
    times: int,
    interval: float,
    minutes: float,
    repeats: int,
    seed: int,
    smoke: bool,
    keep: Path | None,
) -> None:
    """SIGKILL, SIGTERM and SIGINT to the sweep, a worker, or both, at random moments."""
    facts: dict[str, Any] = {
        "datasets": "tiny-sparse",
        "solvers": EVERY_KIND,
        "repeats": repeats,
    }
    if smoke:
        facts, times = SMALL, min(times, 6)
    with trial(keep) as root:
        peace = in_peace(root, **facts)
        place = Place(root / "killed")
        place.write_config(**facts)
        until = time.monotonic() + 60.0 * minutes
        killer = Killer(place, place.sweep, times, interval, seed, until)
        killer.work()
        folders = [*killer.done, place.results]
        different = [line for folder in folders for line in differences(folder, peace.results)]
        killer.findings.wrong += different
        code, complaints = place.run("report", str(place.results))
        killer.findings.expect(code == 0, f"report: {complaints}")
        killer.findings.report(
            f"kills, seed {seed}",
            started=killer.starts,
            ended_by_a_signal_outside_our_code=killer.early,
            sweeps_brought_to_their_end=len(folders),
            runs=_states(place.results),
            differences=_said(different),
        )


@main.command()
@click.option("--times", default=5, show_default=True, help="Number of faults.")
@click.option("--interval", default=8.0, show_default=True, help="Most seconds between two.")
@click.argument("command", type=click.Choice(["papers", "bench"]))
@SEED
@KEEP
def reuse(command: str, times: int, interval: float, seed: int, keep: Path | None) -> None:
    """The same for svmbench papers or svmbench bench, which use the same store of runs."""
    with trial(keep) as root:
        place = Place(root)
        commands = {
            "papers": ("papers", "sgd-laboratory/primal-dual", "--budget", "40s"),
            "bench": ("bench", "smoke"),
        }
        full = (*commands[command], "--out", str(place.results), "--quiet")
        killer = Killer(place, full, times, interval, seed)
        killer.work()
        page = place.results / "index.html"
        killer.findings.expect(page.exists(), "no page")
        killer.findings.report(f"{command}, seed {seed}", started=killer.starts)


@main.command()
@click.option("--times", default=20, show_default=True, help="Number of kills.")
@click.option("--rows", default=20_000, show_default=True, help="Rows of the text.")
@SEED
@KEEP
def caches(times: int, rows: int, seed: int, keep: Path | None) -> None:
    """SIGKILL while rows and a reference are computed and cached."""
    rng = random.Random(seed)
    with trial(keep) as root:
        text = root / "rows.libsvm"
        write_rows(text, rows)
        facts = {"datasets": f"{{path: {text}}}", "solvers": "dcd", "repeats": 1}
        begun = time.monotonic()
        peace = in_peace(root, **facts)
        span = time.monotonic() - begun
        findings = Findings()
        place = Place(root / "killed")
        for _ in range(times):
            shutil.rmtree(place.cache, ignore_errors=True)
            place.write_config(**facts)
            process = place.start()
            with suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0.1 * span, span))
            if process.poll() is None:
                process.kill()
                findings.faults["SIGKILL to parent"] += 1
            process.communicate()
            findings.codes[process.returncode] += 1
            _look_at_cache(place.cache, findings)
            shutil.rmtree(place.results, ignore_errors=True)
            findings.kept.clear()
        code, complaints = place.run()
        findings.expect(code == 0, complaints)
        findings.look(place.results)
        different = differences(place.results, peace.results)
        findings.wrong += different
        findings.report(f"caches, seed {seed}", differences=_said(different))


def _look_at_cache(cache: Path, findings: Findings) -> None:
    """Check that every file under its final name is complete."""
    for entry in cache.glob("datasets/[!.]*"):
        try:
            verify(entry)
        except DataError as error:
            findings.wrong.append(f"torn: {error}")
    for path in cache.glob("references/[!.]*"):
        try:
            with np.load(path, allow_pickle=False) as stored:
                findings.expect(bool(np.isfinite(stored["alpha"]).all()), f"torn: {path}")
        except (OSError, ValueError, KeyError) as error:
            findings.wrong.append(f"torn: {path} ({error})")


def write_rows(path: Path, count: int) -> None:
    """Write ``count`` rows with 20 of 300 columns, labelled by a hyperplane with noise."""
    rng = np.random.default_rng(1)
    plane = rng.normal(size=300)
    with path.open("w", encoding="ascii") as file:
        for _ in range(count):
            columns = np.sort(rng.choice(300, size=20, replace=False))
            values = rng.normal(size=20)
            sign = 1 if plane[columns] @ values + 4.0 * rng.normal() > 0 else -1
            pairs = (f"{j + 1}:{x:.3f}" for j, x in zip(columns, values, strict=True))
            file.write(f"{sign} {' '.join(pairs)}\n")


@main.command("two-runs")
@SMOKE
@KEEP
def two_runs(smoke: bool, keep: Path | None) -> None:
    """Two sweeps in one folder, and a sweep after a killed one."""
    facts = SMALL if smoke else SMALL | {"repeats": 6}
    with trial(keep) as root:
        peace, findings = in_peace(root, **facts), Findings()
        place = Place(root / "shared")
        place.write_config(**facts)
        first = place.start()
        _wait_until(lambda: _holder(place) == first.pid or first.poll() is not None)
        code, complaints = place.run()
        findings.codes[code] += 1
        said = complaints.count("\n") == 1 and f"process {first.pid};" in complaints
        findings.expect(code == 2 and said, f"the second: {code}, {complaints}")
        findings.look(place.results)
        first.kill()
        findings.faults["SIGKILL to parent"] += 1
        first.communicate()
        findings.codes[first.returncode] += 1
        findings.expect(_holder(place) == first.pid, "the killed one left no lock")
        together = [place.start(), place.start()]
        codes = sorted((process.communicate(), process.returncode)[1] for process in together)
        findings.codes.update(codes)
        # One may end before the other starts, which then finds all runs finished.
        findings.expect(codes in ([0, 2], [0, 0]), f"both at once: {codes}")
        findings.look(place.results)
        different = differences(place.results, peace.results)
        findings.wrong += different
        findings.report("two runs in one folder", differences=_said(different))


def _holder(place: Place) -> int | None:
    try:
        return int((place.results / ".lock").read_text())
    except (OSError, ValueError):
        return None


def _wait_until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.1)


@main.command("clock-jump")
@SMOKE
@KEEP
def clock_jump(smoke: bool, keep: Path | None) -> None:
    """A wall clock with another offset, of up to ten years, at every call."""
    facts = SMALL if smoke else SMALL | {"solvers": EVERY_KIND}
    with trial(keep) as root:
        jumping = _jumping_clock(root)
        if jumping is None:
            click.echo("clock-jump: skipped, no C compiler or no such preloading here")
            return
        peace, findings = in_peace(root, **facts), Findings()
        place = Place(root / "jumping")
        place.write_config(**facts)
        begun = time.monotonic()
        code, complaints = place.run(LD_PRELOAD=str(jumping))
        taken = time.monotonic() - begun
        findings.codes[code] += 1
        findings.expect(code == 0, complaints)
        findings.look(place.results)
        runs = pd.read_csv(place.results / "runs.csv")
        seconds = runs["train_seconds"]
        findings.expect(bool(seconds.between(0.0, taken).all()), "impossible times")
        different = differences(place.results, peace.results)
        findings.wrong += different
        findings.report(
            "clock that jumps",
            dates=f"{min(runs['started'])[:10]} to {max(runs['started'])[:10]}",
            longest_training=f"{max(seconds):.2g} s",
            differences=_said(different),
        )


JUMPING_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

/* Up to ten years either way, another offset at every call. */
static long jump(long now)
{
    static unsigned calls;
    unsigned x = (unsigned)now * 2654435761u + 40503u * __sync_add_and_fetch(&calls, 1);
    x ^= x >> 15; x *= 2246822519u; x ^= x >> 13;
    return (long)(x % 630720000u) - 315360000L;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, at);
    if (clock == CLOCK_REALTIME) at->tv_sec += jump(at->tv_nsec);
    return code;
}

int gettimeofday(struct timeval *at, void *zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def _jumping_clock(folder: Path) -> Path | None:
    """A library that makes the wall clock jump when preloaded; None if it does not work."""
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(JUMPING_CLOCK)
    if not compiled(source, library):
        return None
    said = said_with(library, "import time; print(abs(time.time() - time.time()))").stdout
    return library if said and float(said) > 86400.0 else None


def compiled(source: Path, library: Path) -> bool:
    """Compile a library that is to be preloaded; whether there is a compiler that can."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return False
    command = [compiler, "-shared", "-fPIC", "-w", "-O1", "-o", str(library), str(source), "-ldl"]
    return subprocess.run(command, capture_output=True).returncode == 0


def said_with(library: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Execute a program of Python with the library preloaded."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
    )


class Greedy(Dcd):
    """Allocates a gigabyte with its first step, and keeps it."""

    name = "greedy"
    summary = "dcd that allocates a gigabyte, to exceed the memory limit"
    source = "ours"

    def advance(self, steps: int) -> None:
        """Allocate it, and advance."""
        self.taken = np.ones(1 << 27)
        super().advance(steps)


@main.command()
@KEEP
def memory(keep: Path | None) -> None:
    """A solver that exceeds the memory limit, among others."""
    facts = SMALL | {"repeats": 1}
    with trial(keep) as root:
        peace, findings = in_peace(root, **facts), Findings()
        place = Place(root / "greedy")
        place.write_config(**facts | {"solvers": f"greedy, {SMALL['solvers']}"})
        text = place.config.read_text()
        place.config.write_text(text.replace("stop: {", "stop: {memory_limit: 256MiB, "))
        metadata = root / "installed" / "greedy-1.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 1\n")
        (metadata / "entry_points.txt").write_text(f"[{GROUP}]\ngreedy = faults:Greedy\n")
        places = (metadata.parent, Path(__file__).resolve().parent)
        code, complaints = place.run(PYTHONPATH=os.pathsep.join(map(str, places)))
        findings.codes[code] += 1
        findings.expect(code == 1, f"{code}: {complaints}")
        findings.look(place.results)
        runs = pd.read_csv(place.results / "runs.csv").set_index("solver")
        findings.expect(bool(runs.loc["greedy", "state"] == "out_of_memory"), "greedy won")
        others = pd.read_csv(peace.results / "runs.csv").set_index("solver")
        for column in ("state", "presentations", "primal", "accuracy"):
            same = runs.loc[others.index, column].equals(others[column])
            findings.expect(same, f"the others differ in {column}")
        findings.report("memory limit", runs=_states(place.results))


# ------------------------------------------------------------------ disks


def mounted(*arguments: str) -> bool:
    """Run mount, and return whether it succeeded."""
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


@contextmanager
def own_disk(keep: Path | None) -> Iterator[Path | None]:
    """A small disk in memory that only this process and its children see; None without rights."""
    if "SVMBENCH_FAULTS_MOUNTS" not in os.environ:
        again = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
        if shutil.which("unshare") is None or subprocess.run([*again, "true"]).returncode != 0:
            yield None
            return
        done = subprocess.run(
            [*again, sys.executable, *sys.argv], env=os.environ | {"SVMBENCH_FAULTS_MOUNTS": "1"}
        )
        sys.exit(done.returncode)
    with trial(keep) as root:
        disk = root / "disk"
        disk.mkdir()
        if not mounted("-t", "tmpfs", "-o", "size=1m", "none", str(disk)):
            yield None
            return
        try:
            yield root
        finally:
            subprocess.run(["umount", str(disk)], capture_output=True)


@main.command("disk-full")
@SMOKE
@KEEP
def disk_full(smoke: bool, keep: Path | None) -> None:
    """Results and cache on a disk that is full at later and later moments, then has room."""
    facts = SMALL if smoke else SMALL | {"repeats": 6}
    sizes = ("48k", "160k") if smoke else ("16k", "32k", "64k", "96k", "128k", "192k", "320k")
    with own_disk(keep) as root:
        if root is None:
            click.echo("disk-full: skipped, no right to mount a disk here")
            return
        peace, findings = in_peace(root, **facts), Findings()
        place = Place(root / "disk" / "place")
        place.write_config(**facts)
        for size in sizes:
            findings.expect(
                mounted("-o", f"remount,size={size}", str(root / "disk")), f"no disk of {size}"
            )
            code, complaints = place.run()
            findings.codes[code] += 1
            findings.look(place.results)
            if code == 0:
                continue
            findings.faults["full disk"] += 1
            one_line = complaints.count("\n") == 1 and "make room" in complaints
            findings.expect(code in (2, 3) and one_line, f"{size}: {code}, {complaints}")
        findings.expect(mounted("-o", "remount,size=64m", str(root / "disk")), "no more room")
        code, complaints = place.run()
        findings.codes[code] += 1
        findings.expect(code == 0, complaints)
        findings.look(place.results)
        different = differences(place.results, peace.results)
        findings.wrong += different
        findings.report("full disk", differences=_said(different))


@main.command("read-only")
@SMOKE
@KEEP
def read_only(smoke: bool, keep: Path | None) -> None:
    """Results on a disk that is read-only before, during and after the sweep; then writable."""
    facts = SMALL if smoke else SMALL | {"repeats": 6}
    with own_disk(keep) as root:
        if root is None:
            click.echo("read-only: skipped, no right to mount a disk here")
            return
        peace, findings = in_peace(root, **facts), Findings()
        disk = root / "disk"
        findings.expect(mounted("-o", "remount,size=64m", str(disk)), "no room")
        place = Place(disk / "place")
        place.write_config(**facts)

        def refused(*arguments: str) -> None:
            code, complaints = place.run(*arguments)
            findings.codes[code] += 1
            one_line = complaints.count("\n") == 1 and "cannot be written" in complaints
            findings.expect(code == 2 and one_line, f"{arguments}: {code}, {complaints}")

        with _closed(disk, findings):
            refused("run", str(place.config), "--out", str(disk / "results"), "--offline")
        process = place.start()
        _wait_until(lambda: any(place.results.glob("runs/*.jsonl")) or process.poll() is not None)
        process.terminate()
        process.communicate()
        findings.codes[process.returncode] += 1
        with _closed(disk, findings):
            findings.look(place.results)
            refused(*place.sweep)
        code, complaints = place.run()
        findings.codes[code] += 1
        findings.expect(code == 0, complaints)
        with _closed(disk, findings):
            refused("report", str(place.results))
        findings.look(place.results)
        different = differences(place.results, peace.results)
        findings.wrong += different
        findings.report("closed disk", differences=_said(different))


@contextmanager
def _closed(disk: Path, findings: Findings) -> Iterator[None]:
    findings.expect(mounted("-o", "remount,ro", str(disk)), "not closed")
    findings.faults["closed disk"] += 1
    yield
    findings.expect(mounted("-o", "remount,rw", str(disk)), "not open again")


if __name__ == "__main__":
    main()
