"""Kill or stop the nodes and the planner of a sweep over a cluster, at random moments.

The nodes are processes of this machine, each with a cache of its own; one of them has a nanny.
Each command prints its findings, one per line. It exits with code 1 if a result is lost, doubled or
torn, if runs that are compared come from different nodes, if a process is left behind, or if the
final numbers differ from those of an undisturbed sweep in anything but times.
"""

from __future__ import annotations

import math
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pandas as pd
from distributed import Client
from faults import (
    KEEP,
    MARK,
    PATIENCE,
    SEED,
    SMOKE,
    Findings,
    Place,
    children,
    differences,
    marked,
    trial,
    words,
)

from svmbench.harness.trace import Trace, read_trace
from svmbench.records.states import FAULTS, RERUN

NAMES = ("a", "b", "with-nanny")

#: What happens, more often to nodes than to the planner.
TARGETS = ("node", "node", "node", "planner")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM)

#: A planner that waits for no further nodes: all of them are there when it starts.
PLANNER = """
from svmbench.__main__ import main
from svmbench.harness.cluster import place
place.SETTLING = 0.1
main("svmbench")
"""

#: Most seconds for which a link is cut: less than Dask's timeout, or more.
CUT = 60.0

#: Share of the faults that wait for a run in progress: the planner needs seconds to begin.
AT_WORK = 0.8

#: Most seconds after which a killed node is started again.
PAUSE = 3.0

#: Seconds in which the processes of a cluster have to start on a busy machine.
STARTING = 120.0

#: The node that has a network of its own where there is one, and the addresses of both sides; the
#: block is reserved for documentation and tests.
AWAY = "b"
HERE, THERE = "198.51.100.1", "198.51.100.2"

#: Seconds in which a partition has to be noticed and said, and how a planner says it.
NOTICED = 40.0
SAID = f"node {AWAY}: "

#: A sweep for comparing places: one that takes longer. The first repeat is made alone, and the
#: others are enough for all nodes.
ADULT = {"datasets": "adult", "solvers": "auto, dcd, sgd-s, sgd-m, pegasos", "repeats": 7}

#: How the planner may end although nobody has sent it a signal: too many nodes died.
GIVEN_UP = ("no node is left", "nodes were lost while they carried it out")

FULL = {
    "datasets": "tiny-sparse, tiny-dense",
    "solvers": "auto, dcd, sgd-s, pegasos, ocas",
    "repeats": 6,
}
SMALL = FULL | {"datasets": "tiny-sparse", "solvers": "dcd, sgd-s", "repeats": 4}

#: The end of what the planner says of nodes that die while it asks what they are.
WARNING = "it is left out"

#: A data set, a lambda and a repeat.
Block = tuple[str, float, int]


# ------------------------------------------------------------------ a cluster


class Cluster:
    """A scheduler and its nodes.

    Parameters
    ----------
    root : Path
        Folder for their caches, local folders and logs.
    away : Namespace, optional
        Where the node `AWAY` is; all others are beside the planner.
    """

    def __init__(self, root: Path, away: Namespace | None = None) -> None:
        self.root, self.away = root, away
        host = "127.0.0.1" if away is None else HERE
        self.address = str(root / "scheduler.json")
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}
        root.mkdir(parents=True)
        self._scheduler = self._started("scheduler", "scheduler", "--host", host, "--port", "0")

    def start_missing(self) -> None:
        """Start the nodes that have ended, and wait until the scheduler knows them all."""
        for name in NAMES:
            if name not in self.nodes or self.nodes[name].poll() is not None:
                self.start(name)
        with suppress(click.ClickException):
            wait_until(self._complete, STARTING / 2, "")
        # A worker of Dask whose link was cut may give its scheduler up, and yet not end.
        for name in set(NAMES) - self._known():
            self.start(name)
        wait_until(self._complete, STARTING, "the nodes do not come")

    def start(self, name: str) -> None:
        """Start a node."""
        self.end_of(name)
        self.nodes[name] = self._started(
            name,
            "worker",
            *("--name", name, "--nthreads", "1", "--local-directory", str(self.root / name)),
            *(("--host", self._host_of(name)) if self.away else ()),
            *(() if name == "with-nanny" else ("--no-nanny",)),
        )

    def _host_of(self, name: str) -> str:
        return THERE if name == AWAY else HERE

    def _started(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        prefix = self.away.prefix if self.away and name == AWAY else ()
        mine = {"SVMBENCH_CACHE": str(self.root / f"cache-{name}"), MARK: self._mark(name)}
        where = ["--scheduler-file", self.address, "--no-dashboard"]
        with (self.root / f"{name}.log").open("a") as log:
            return subprocess.Popen(
                [*prefix, sys.executable, "-P", "-m", "dask", *words, *where],
                env=os.environ | mine,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _mark(self, name: str) -> str:
        return str(self.root / f"processes-of-{name}")

    def _complete(self) -> bool:
        return self._known() == set(NAMES)

    def _known(self) -> set[str]:
        if not Path(self.address).exists():
            return set()
        with Client(scheduler_file=self.address, set_as_default=False, timeout=STARTING) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"]
        return {str(each["name"]) for each in workers.values()}

    def processes(self, name: str) -> list[int]:
        """Ids of a node's processes, those of its runs included."""
        return marked(self._mark(name))

    def worker(self, name: str) -> list[int]:
        """Id of the process that talks to the scheduler: a nanny's child, else the node itself."""
        pid = self.nodes[name].pid
        if name != "with-nanny":
            return [pid]
        return [each for each in children(pid) if b"spawn_main" in b"".join(words(each, "cmdline"))]

    def runs(self) -> list[Path]:
        """The traces of runs in progress."""
        return [path for name in NAMES for path in (self.root / name).rglob("*.part")]

    def end_of(self, name: str) -> None:
        """End a node with all its processes."""
        send(self.processes(name), signal.SIGKILL)
        if name in self.nodes:
            self.nodes[name].wait()

    def end(self) -> None:
        """End everything."""
        for name in NAMES:
            self.end_of(name)
        self._scheduler.kill()
        self._scheduler.wait()


@contextmanager
def cluster_in(root: Path, away: Namespace | None = None) -> Iterator[Cluster]:
    """A cluster with all its nodes."""
    cluster = Cluster(root, away)
    try:
        cluster.start_missing()
        yield cluster
    finally:
        cluster.end()


class Namespace:
    """A network of its own for a node, joined to this machine's by a cable that can be pulled.

    Its commands need root and the program ``ip``. It is a context manager.
    """

    def __init__(self) -> None:
        self._name, self._cable = f"svmbench-{os.getpid()}", f"svmb{os.getpid()}"

    @property
    def prefix(self) -> tuple[str, ...]:
        """Words before a command that is to be executed there."""
        return ("ip", "netns", "exec", self._name)

    def __enter__(self) -> Namespace:
        other = f"{self._cable}x"
        _ip("netns", "add", self._name)
        try:
            _ip("link", "add", self._cable, "type", "veth", "peer", "name", other)
            _ip("link", "set", other, "netns", self._name)
            _ip("addr", "add", f"{HERE}/24", "dev", self._cable)
            self.join()
            for words in (
                ("addr", "add", f"{THERE}/24", "dev", other),
                ("link", "set", other, "up"),
                ("link", "set", "lo", "up"),
            ):
                _ip("netns", "exec", self._name, "ip", *words)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(click.ClickException):
            _ip("link", "del", self._cable)
        _ip("netns", "del", self._name)

    def part(self) -> None:
        """Pull the cable: what is sent is lost, and nobody is told."""
        _ip("link", "set", self._cable, "down")

    def join(self) -> None:
        """Plug the cable in."""
        _ip("link", "set", self._cable, "up")


def _ip(*words: str) -> None:
    try:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise click.ClickException(f"ip: {error.strerror}") from None
    if done.returncode:
        raise click.ClickException(f"ip {' '.join(words)}: {done.stderr.strip()}")


def send(pids: list[int], number: signal.Signals) -> bool:
    """Send a signal to processes; whether there were any."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return bool(pids)


def wait_until(holds: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise click.ClickException(otherwise)
        time.sleep(0.05)


# ------------------------------------------------------------------ promises


@dataclass
class Promises:
    """What is observed of a results folder: complete blocks stay as they are.

    A block that loses its node is begun again by another one, so only the runs of complete blocks
    are kept for good.

    Parameters
    ----------
    folder : Path
    findings : Findings
    runs_a_block : int
    """

    folder: Path
    findings: Findings
    runs_a_block: int
    complete: set[Block] = field(default_factory=set)

    def look(self) -> None:
        """Read all traces, and note what is lost, doubled, torn or mixed."""
        blocks: dict[Block, dict[str, Trace]] = {}
        for path in sorted((self.folder / "runs").glob("*.jsonl")):
            trace = read_trace(path)
            if not path.exists():
                continue  # its block was begun again meanwhile
            whole = trace is not None and bool(trace.end)
            self.findings.expect(whole, f"torn: {path}")
            if trace is not None and whole and trace.state not in (*FAULTS, *RERUN):
                head = trace.header
                block = (
                    str(head["dataset"]),
                    float(head["problem"]["lambda"]),
                    int(head["repeat"]),
                )
                blocks.setdefault(block, {})[str(path)] = trace
        for block, traces in blocks.items():
            labels = Counter(str(trace.header["label"]) for trace in traces.values())
            for label, count in labels.items():
                self.findings.expect(count == 1, f"doubled: {block} {label}")
            if len(labels) == self.runs_a_block:
                nodes = {trace.header.get("node") for trace in traces.values()}
                self.findings.expect(len(nodes) == 1, f"mixed: {block} of {nodes}")
                self.complete.add(block)
        for block in self.complete - set(blocks):
            self.findings.expect(False, f"lost: {block}")
        self.findings.keep(path for block in self.complete for path in blocks.get(block, ()))


@dataclass
class Trial:
    """A sweep that is disturbed until there were enough faults.

    Parameters
    ----------
    cluster : Cluster
    place : Place
    peace : Path
        Results of the undisturbed sweep.
    facts : dict
        Of the sweep's configuration.
    seed : int
    """

    cluster: Cluster
    place: Place
    peace: Path
    facts: dict[str, Any]
    seed: int
    findings: Findings = field(default_factory=Findings)
    sweeps: int = 0
    starts: int = 0
    different: list[str] = field(default_factory=list)
    sent: dict[int, signal.Signals] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self._begin()

    def _begin(self) -> None:
        runs = len(self.facts["solvers"].split(","))
        self.promises = Promises(self.place.results, self.findings, runs)

    @property
    def faults(self) -> int:
        """Number of faults so far."""
        return self.findings.faults.total()

    def work(self, times: int, interval: float, disturb: Callable[[Planner], None]) -> None:
        """Start the planner again and again, until there were enough faults; then let it finish."""
        while self.faults < times and not self.findings.wrong:
            planner = self.started()
            while planner.poll() is None and self.faults < times:
                if self.random.random() < AT_WORK:
                    self._wait_for_a_run(planner)
                with suppress(subprocess.TimeoutExpired):
                    planner.wait(self.random.uniform(0.0, interval))
                    break
                disturb(planner)
                self.promises.look()
            if self.ended(planner) == 0:
                self._compare()
        for _ in range(3):
            if not self.place.results.exists():
                return
            if self.ended(self.started()) == 0:
                self._compare()
        self.findings.expect(not self.place.results.exists(), "does not complete")

    def _wait_for_a_run(self, planner: Planner) -> None:
        def begins() -> bool:
            return bool(self.cluster.runs()) or planner.poll() is not None

        wait_until(begins, STARTING, "no run begins")

    def started(self) -> Planner:
        """A planner, with all nodes there."""
        self.cluster.start_missing()
        self.starts += 1
        return self.place.start(*self.place.sweep, "--cluster", self.cluster.address)

    def ended(self, planner: Planner) -> int:
        """Wait for a planner's end, judge it and return its exit code."""
        said = planner.communicate()[1]
        code, sent = planner.returncode, self.sent.pop(planner.pid, None)
        self.findings.codes[code] += 1
        right = {0}
        if sent is not None:
            right |= {130, -sent}
        if any(text in said for text in GIVEN_UP):
            right.add(1)
        self.findings.expect(code in right, f"exit code {code} after {sent}: {said}")
        lines = [line for line in said.splitlines() if not line.endswith(WARNING)]
        self.findings.expect(len(lines) <= 1, f"not one line: {said}")
        self.cluster.start_missing()  # the trace of a killed node's run is removed at its start
        until = time.monotonic() + PATIENCE
        while (self.cluster.runs() or self.place.left_alive()) and time.monotonic() < until:
            time.sleep(0.05)
        self.findings.expect(not self.cluster.runs(), "left: a run without a planner")
        self.findings.expect(not self.place.left_alive(), "left alive: a process of the planner")
        self.promises.look()
        return code

    def hit(self, planner: Planner, number: signal.Signals) -> None:
        """Send the planner a signal."""
        self.sent[planner.pid] = number
        planner.send_signal(number)
        self.findings.faults[f"{number.name} to the planner"] += 1

    def _compare(self) -> None:
        """Compare a finished sweep with the undisturbed one, and put it aside."""
        self.sweeps += 1
        found = differences(self.place.results, self.peace)
        self.different += found
        self.findings.wrong += found
        self.findings.before += len(self.findings.kept)
        self.findings.kept.clear()
        self.place.results.rename(self.place.results.with_name(f"results-{self.sweeps}"))
        self._begin()


Planner = subprocess.Popen[str]


def planned_in(root: Path) -> Place:
    """A folder whose sweeps have a `PLANNER`."""
    return Place(root, ("-c", PLANNER))


@contextmanager
def disturbed(
    keep: Path | None, seed: int, smoke: bool, away: Namespace | None = None
) -> Iterator[Trial]:
    """A trial on a cluster on which the sweep was carried out undisturbed before."""
    facts: dict[str, Any] = SMALL if smoke else FULL
    with trial(keep) as root, cluster_in(root / "cluster", away) as cluster:
        places = planned_in(root / "peace"), planned_in(root / "disturbed")
        for place in places:
            place.write_config(**facts)
        peace, place = places
        code, said = peace.run(*peace.sweep, "--cluster", cluster.address)
        if code != 0:
            raise click.ClickException(f"the undisturbed sweep ended with {code}: {said}")
        yield Trial(cluster, place, peace.results, facts, seed)


def report(what: str, found: Trial) -> None:
    """Print the findings, and exit with code 1 if a promise was broken."""
    wrong = found.findings.wrong
    found.findings.report(
        f"{what}, seed {found.seed}",
        planners_started=found.starts,
        sweeps_brought_to_their_end=found.sweeps,
        doubled=sum(line.startswith("doubled") for line in wrong),
        blocks_of_several_nodes=sum(line.startswith("mixed") for line in wrong),
        differences="; ".join(found.different) or "none but times",
    )


# ------------------------------------------------------------------ commands


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Kill or stop the nodes and the planner of a sweep over a cluster."""


@main.command()
@click.option("--times", default=30, show_default=True, help="Number of faults.")
@click.option("--interval", default=4.0, show_default=True, help="Most seconds between two.")
@click.option("--links", is_flag=True, help="Cut the link to a node, too. Needs root.")
@SEED
@SMOKE
@KEEP
def kills(
    times: int, interval: float, links: bool, seed: int, smoke: bool, keep: Path | None
) -> None:
    """SIGKILL and SIGTERM to nodes, with or without their nanny, and to the planner."""
    with (
        Namespace() if links else nullcontext() as away,
        disturbed(keep, seed, smoke, away) as found,
    ):
        cluster, rng = found.cluster, found.random
        targets = TARGETS if away is None else (*TARGETS, "link")

        def disturb(planner: Planner) -> None:
            number, target = rng.choice(SIGNALS), rng.choice(targets)
            if target == "planner":
                found.hit(planner, number)
                planner.wait()
                return
            if target == "link":
                assert away is not None
                away.part()
                with suppress(subprocess.TimeoutExpired):
                    planner.wait(rng.uniform(0.0, CUT))
                away.join()
                found.findings.faults[f"link to {AWAY}"] += 1
                return
            name = rng.choice(NAMES)
            whole = name == "with-nanny" and rng.random() < 0.5
            victims = [cluster.nodes[name].pid] if whole else cluster.worker(name)
            if send(victims, number):
                found.findings.faults[f"{number.name} to {'the nanny' if whole else name}"] += 1
            with suppress(subprocess.TimeoutExpired):
                planner.wait(rng.uniform(0.0, PAUSE))
            if whole or name != "with-nanny":
                cluster.start(name)

        found.work(times, interval, disturb)
        report("kills", found)


@main.command()
@click.option("--times", default=6, show_default=True, help="Number of faults.")
@click.option("--interval", default=4.0, show_default=True, help="Most seconds between two.")
@click.option("--longest", default=60.0, show_default=True, help="Most seconds of a stop.")
@SEED
@SMOKE
@KEEP
def stops(
    times: int, interval: float, longest: float, seed: int, smoke: bool, keep: Path | None
) -> None:
    """SIGSTOP and later SIGCONT to a node: its process alone, or with those of its runs."""
    with disturbed(keep, seed, smoke) as found:
        cluster, rng = found.cluster, found.random

        def disturb(planner: Planner) -> None:
            name = rng.choice(NAMES)
            whole = rng.random() < 0.5
            victims = cluster.processes(name) if whole else cluster.worker(name)
            send(victims, signal.SIGSTOP)
            try:
                with suppress(subprocess.TimeoutExpired):
                    planner.wait(rng.uniform(0.0, longest))
            finally:
                send(victims, signal.SIGCONT)
            found.findings.faults[f"to {'a node and its runs' if whole else 'a node'}"] += 1

        found.work(times, interval, disturb)
        report("stops", found)


@main.command()
@SMOKE
@KEEP
def partition(smoke: bool, keep: Path | None) -> None:
    """Cut a node off in the middle of a run, which the others have to repeat. Needs root."""
    facts: dict[str, Any] = SMALL if smoke else FULL
    findings = Findings()
    with trial(keep) as root, Namespace() as away, cluster_in(root / "cluster", away) as cluster:
        peace, place = planned_in(root / "peace"), planned_in(root / "parted")
        for each in (peace, place):
            each.write_config(**facts)
        code, said = peace.run(*peace.sweep, "--cluster", cluster.address)
        findings.expect(code == 0, f"the undisturbed sweep ended with {code}: {said}")
        loud = [word for word in place.sweep if word != "--quiet"]
        planner = place.start(*loud, "--cluster", cluster.address)

        def runs() -> list[Path]:
            return [path for path in cluster.runs() if (cluster.root / AWAY) in path.parents]

        wait_until(lambda: bool(runs()) or planner.poll() is not None, STARTING, "no run begins")
        away.part()
        begun = time.monotonic()
        findings.faults["partition"] += 1
        assert planner.stderr is not None
        line = next((line.strip() for line in planner.stderr if SAID in line), "")
        noticed = time.monotonic() - begun
        findings.expect(bool(line) and noticed <= NOTICED, f"said after {noticed:.0f} s: {line!r}")
        wait_until(lambda: not runs(), STARTING, "the run of the node that was cut off goes on")
        idle = time.monotonic() - begun
        planner.stderr.read()
        findings.codes[planner.wait()] += 1
        findings.expect(planner.returncode == 0, f"exit code {planner.returncode}")
        away.join()
        found = differences(place.results, peace.results)
        findings.wrong += found
        findings.report(
            "partition",
            said=line,
            seconds_until_it_was_said=f"{noticed:.1f}",
            seconds_until_the_node_was_idle=f"{idle:.1f}",
            differences="; ".join(found) or "none but times",
        )


@main.command()
@click.option("--turns", default=1, show_default=True, help="Number of sweeps at either place.")
@SMOKE
@KEEP
def same(turns: int, smoke: bool, keep: Path | None) -> None:
    """Compare a sweep on three nodes with one without a cluster, in its numbers and times.

    The two places take turns, each first in every other turn, because a busy machine changes times.
    """
    facts: dict[str, Any] = SMALL if smoke else ADULT
    findings = Findings()
    ratios: dict[str, list[float]] = defaultdict(list)
    nodes: Counter[str] = Counter()
    different: list[str] = []
    with trial(keep) as root, cluster_in(root / "cluster") as cluster:
        here, there = Place(root / "here"), planned_in(root / "there")
        # As many runs at a time on both sides, so that they disturb each other as much.
        sides = (here, "--jobs", str(len(NAMES))), (there, "--cluster", cluster.address)
        for turn in range(turns):
            for place, *more in sides[:: 1 if turn % 2 == 0 else -1]:
                place.write_config(**facts)
                code, said = place.run(*place.sweep, "--fresh", *more)
                findings.codes[code] += 1
                findings.expect(code == 0, f"exit code {code}: {said}")
            different += differences(there.results, here.results)
            took_part = Counter(map(str, pd.read_csv(there.results / "runs.csv")["node"]))
            findings.expect(
                smoke or len(took_part) == len(NAMES), f"not all nodes took part: {took_part}"
            )
            nodes.update(took_part)
            for label, ratio in _ratios(there.results, here.results).items():
                ratios[label].append(ratio)
        findings.wrong += different
        findings.report(
            "same",
            runs_of_the_nodes=", ".join(f"{name} {count}" for name, count in nodes.items()),
            **{f"processor_time_of_{label}": _spread(found) for label, found in ratios.items()},
            differences="; ".join(different) or "none but times",
        )


def _spread(found: list[float]) -> str:
    """Median of some ratios, and the least and the largest if there are several."""
    middle = f"{statistics.median(found):.3f}"
    return f"{middle} ({min(found):.3f} to {max(found):.3f})" if len(found) > 1 else middle


def _ratios(one: Path, other: Path) -> dict[str, float]:
    """Geometric mean of the ratios of runs' processor times, by solver and over all."""
    by = ["dataset", "lambda", "label", "repeat"]
    tables = [pd.read_csv(each / "runs.csv").set_index(by) for each in (one, other)]
    logs = (tables[0]["train_cpu_seconds"] / tables[1]["train_cpu_seconds"]).map(math.log)
    means = {str(label): mean for label, mean in logs.groupby("label").mean().items()}
    return {label: math.exp(mean) for label, mean in (means | {"all": logs.mean()}).items()}


if __name__ == "__main__":
    main()
