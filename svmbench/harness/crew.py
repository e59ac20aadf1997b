"""Has runs carried out, several at a time if asked, and learns what affects those that follow."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Literal

from svmbench.durable import is_own_file
from svmbench.harness.assignment import own_solvers
from svmbench.harness.options import Options, Outcome, Reporter
from svmbench.harness.place import Node, NodeLostError, Seat
from svmbench.harness.plan import Cell, Run
from svmbench.harness.processes import Worker
from svmbench.harness.store import Store
from svmbench.harness.supervise import make_run
from svmbench.harness.trace import Trace, read_trace
from svmbench.records.values import moment_in

#: An interrupted block is resumed unless its last run is older than this.
RESUMABLE = timedelta(hours=1)

BlockKey = tuple[str, float, int]

#: Least time limit, in seconds, that a relative limit may set: below it start-up noise dominates.
LEAST_LIMIT = 1.0

#: Runs that take less than so many seconds share processes; those of unknown length do, too.
BRIEF_SECONDS = 1.0

#: Seconds that starting a worker takes, until the first runs show it.
START = 0.2

#: If the wall time of a run is at least this multiple of its processor time, meeting the time limit
#: says nothing about the solver, and its repeats are run.
STALLED = 2.0

#: A short ladder begins so many rungs below the lowest rung that reached the loosest accuracy in
#: the first repeat that did. In a ladder of tolerances, that is four times that rung's tolerance.
RUNGS_BELOW = 2


class Crew:
    """Has the runs of a plan carried out at ``options.where``.

    - ``found``: when each run that was finished before had started, by its id.
    - ``stopped``: ids of the runs that had been stopped from outside before, or are lost.
    """

    def __init__(
        self, runs: Sequence[Run], store: Store, reporter: Reporter, options: Options
    ) -> None:
        self.outcome = Outcome(store.folder)
        self.skipped: set[str] = set()
        self._store = store
        self._reporter = reporter
        self._place = options.where
        self._keep_weights = options.keep_weights
        self._hung: set[Cell] = set()
        self._limited: set[tuple[object, ...]] = set()
        self._converged: set[tuple[object, ...]] = set()
        self._tops: dict[tuple[object, ...], int] = {}
        self._short = options.short_ladders
        self._reached: dict[Cell, tuple[int, int]] = {}
        self._best: dict[tuple[str, float], float] = {}
        self._seconds: dict[Cell, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._starts: list[float] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._nodes: dict[BlockKey, dict[str, str | None]] = defaultdict(dict)
        self._waiting: list[list[Run]] = []  # what nobody has begun yet, in the order of starts
        self._broken: set[BlockKey] = set()
        self._deadline = self._end = math.inf
        self.found: dict[str, datetime] = {}
        for run in runs if not options.fresh else ():
            trace = store.finished(run, options.retry_faults, options.keep_weights)
            # Traces are not kept: all of them together may be large.
            if trace is not None and not store.is_outdated(run, trace):
                self.found[run.id] = moment_in(trace.header["started"])
                self._learn(run, trace)
        self._announced: set[str] = set()
        self._lost: frozenset[str] = frozenset()
        if not options.fresh:
            lost = {run.id: store.loss(run) for run in runs if run.id not in self.found}
            self._lost = frozenset(name for name, loss in lost.items() if loss is not None)
            counts = Counter(lost.values())
            self.outcome.damaged, self.outcome.missing = counts["damaged"], counts["missing"]
        self.pending = {run.id: run for run in runs if run.id not in self.found}
        self.stopped = self._lost | {
            name
            for name, run in self.pending.items()
            if (found := store.read(run)) is not None and found.state == "interrupted"
        }
        self.outcome.reused = len(self.found)

    def possible(self) -> list[Run]:
        """The pending runs that the finished ones give no reason to leave out."""
        return [
            run
            for run in self.pending.values()
            if self._not_to_be_made(run) is None and not self.hangs(run.cell)
        ]

    def announce(self, wanted: Callable[[Run], bool]) -> int:
        """Announce the possible runs among the wanted ones, for the reporter's number of runs."""
        before = len(self._announced)
        self._announced |= {run.id for run in self.possible() if wanted(run)}
        return len(self._announced) - before

    @property
    def announced(self) -> set[str]:
        """Ids of the announced runs that have not ended yet."""
        return self._announced & self.pending.keys()

    def hangs(self, cell: Cell) -> bool:
        """Whether a run of a cell hung in this call, which then makes no other run of it."""
        return cell in self._hung

    def renew(self, runs: Mapping[str, Run]) -> None:
        """Replace the pending runs that have the same ids."""
        self.pending = {name: runs.get(name, run) for name, run in self.pending.items()}

    def seconds(self, cell: Cell) -> float | None:
        """Mean seconds of a cell's finished repeats, with their starts; None without any."""
        if self.is_out_of_time(cell):
            return 0.0
        of_repeat = self._seconds.get(cell)
        if not of_repeat:
            return None
        start = fmean(self._starts) if self._starts else START
        return fmean(sum(runs) + start * len(runs) for runs in of_repeat.values())

    def _is_brief(self, cell: Cell) -> bool:
        """Whether the finished runs of a cell, if any, took little time without their starts."""
        return all(sum(runs) < BRIEF_SECONDS for runs in self._seconds.get(cell, {}).values())

    def is_out_of_time(self, cell: Cell, horizon: float | None = None) -> bool:
        """Whether further runs of a cell, with one of its horizons if it has any, are skipped."""
        place = (*cell, horizon)
        return place in self._limited and place not in self._converged

    def know(self, run: Run, trace: Trace) -> None:
        """Remember where a run was carried out, which may be one that others are to be beside."""
        self._nodes[block_of(run)][run.id] = trace.header.get("node")

    def skip(self, wanted: Callable[[Run], bool]) -> None:
        """Skip those of the wanted pending runs whose cell is out of time; run nothing."""
        for run in list(self.pending.values()):
            if wanted(run) and self._not_to_be_made(run) == "skipped":
                self._leave(run, "skipped")

    def torn(self, runs: Sequence[Run], nodes: Collection[str | None]) -> set[str]:
        """Ids of finished runs of blocks that no node here (None: this machine) can complete."""
        begun = [self._nodes[block] for block in set(map(block_of, runs))]
        return {
            name
            for made in begun
            if len(set(made.values())) > 1 or not set(made.values()) <= set(nodes)
            for name in made
        }

    def work(
        self, runs: Sequence[Run], deadline: float | None, end: float | None
    ) -> tuple[set[BlockKey], set[BlockKey]]:
        """Have runs carried out; return the blocks that lost their node, and those not begun."""
        seats = self._place.seats()
        # A node is handed out whole blocks, and only it those that it has begun.
        groups: dict[object, list[Run]] = defaultdict(list)
        for run in runs:
            groups[run.id if self._place.nodes is None else block_of(run)].append(run)
        self._waiting, self._broken = list(groups.values()), set()
        self._deadline = math.inf if deadline is None else deadline
        self._end = math.inf if end is None else end
        self._own = own_solvers(self.pending.values())
        with ThreadPoolExecutor(len(seats)) as pool:
            try:
                tasks = [pool.submit(self._work_on, seat) for seat in seats]
                while wait(tasks, timeout=0.5).not_done:
                    pass  # a wait without a timeout would not notice Ctrl-C everywhere
            except BaseException:  # an interruption, or no more threads
                self._stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for task in tasks:
            task.result()
        if self._stop.is_set():
            return set(), set()
        return self._broken, {block_of(group[0]) for group in self._waiting}

    def _next(self, node: str | None) -> Sequence[Run]:
        """The next runs for a node, or for this machine (None); none if there are no more."""
        for at, group in enumerate(self._waiting):
            if node is None or set(self._nodes[block_of(group[0])].values()) <= {None, node}:
                return self._waiting.pop(at)
        return ()

    def _work_on(self, seat: Seat) -> None:
        try:
            with seat() as worker:
                if isinstance(worker, Worker):
                    worker.expect(self._own)
                self._take_turns(worker)
        except NodeLostError as error:  # the other nodes go on
            with self._lock:
                self._reporter.stage(str(error))
        except BaseException:
            self._stop.set()  # a full disk, for example, is full for all
            raise

    def _take_turns(self, worker: Worker | Node) -> None:
        node = worker.name if isinstance(worker, Node) else None
        while not self._stop.is_set():
            with self._lock:
                runs = self._next(node)
            if not runs:
                return
            try:
                for run in runs:
                    self._take_turn(run, worker)
            except NodeLostError:
                with self._lock:
                    self._broken.add(block_of(runs[0]))
                raise

    def _take_turn(self, run: Run, worker: Worker | Node) -> None:
        """Have a run carried out, unless there is a reason not to."""
        if self._stop.is_set():
            return
        with self._lock:
            unmade = self._not_to_be_made(run)
            if unmade is not None:
                self._leave(run, unmade)
                return
            if run.instance.hurried or time.monotonic() >= self._deadline:
                return
            if self.hangs(run.cell):  # a later call makes them
                return
            limit = self._time_limit(run)
            brief = self._is_brief(run.cell)
            self._reporter.run_begins(run)
        if isinstance(worker, Node):
            worker.prepare(run.instance, self._stop, self._end)
        begun = time.monotonic()
        trace = make_run(
            run, self._store, limit, self._stop, self._end, self._keep_weights, worker, brief
        )
        taken = time.monotonic() - begun
        with self._lock:
            if trace is not None:
                if run.id not in self._announced:
                    self._reporter.grow(1)
                self.outcome.made += 1
                del self.pending[run.id]
                self._learn(run, trace, taken)
                self._reporter.run_ends(run, trace.state)

    def _not_to_be_made(self, run: Run) -> Literal["spared", "skipped"] | None:
        if run.rung is not None and not (
            self._bottom(run) <= run.rung <= self._tops.get((*run.cell, run.repeat), run.rung)
        ):
            return "spared"
        return "skipped" if self.is_out_of_time(run.cell, run.horizon) else None

    def _bottom(self, run: Run) -> int:
        """The lowest rung of a run's ladder that is made, unless it was made before and is lost."""
        first, rung = self._reached.get(run.cell, (run.repeat, 0))
        short = self._short and run.repeat > first and run.id not in self._lost
        return max(0, rung - RUNGS_BELOW) if short else 0

    def _leave(self, run: Run, state: Literal["spared", "skipped"]) -> None:
        self.outcome.states[state] += 1
        del self.pending[run.id]
        if state == "skipped":
            self.skipped.add(run.id)
            self._end_ladder(run)  # higher rungs would take even longer
        if run.id in self._announced:
            self._reporter.grow(-1)

    def _learn(self, run: Run, trace: Trace, taken: float | None = None) -> None:
        """Remember how a run ended, and the seconds it took if it was run now."""
        self.outcome.states[trace.state] += 1
        self.know(run, trace)
        elapsed, known = _elapsed(trace), trace.end.get("elapsed_seconds") is not None
        if taken is not None and known:
            self._starts.append(max(0.0, taken - elapsed))
            self.outcome.starting += self._starts[-1]
        # Of a run that was killed, nobody knows what was its start.
        seconds = elapsed if taken is None or known else taken
        self._seconds[run.cell][run.repeat].append(seconds)
        if taken is not None and trace.end.get("hung"):
            self._hung.add(run.cell)
        if trace.state == "time_limit" and not _stalled(trace):
            self._limited.add((*run.cell, run.horizon))
        if trace.state == "converged":
            self._converged.add((*run.cell, run.horizon))
        self._learn_rung(run, trace)
        tightest = min(run.stop.accuracy, default=0.0)
        measured = (point for point in trace.reached if point["accuracy"] is not None)
        times = [point["wall"] for point in measured if point["accuracy"] <= tightest]
        if times:
            problem = run.cell[:2]
            self._best[problem] = min(times[0], self._best.get(problem, math.inf))
        if times or trace.state != "converged" or _overran(trace):
            self._end_ladder(run)

    def _learn_rung(self, run: Run, trace: Trace) -> None:
        """Remember the lowest rung of the first repeat that reaches the loosest accuracy."""
        loosest = max(run.stop.accuracy, default=0.0)
        found = (point["accuracy"] for point in trace.reached)
        if run.rung is not None and any(a is not None and a <= loosest for a in found):
            this = run.repeat, run.rung
            self._reached[run.cell] = min(this, self._reached.get(run.cell, this))

    def _end_ladder(self, run: Run) -> None:
        """Skip all rungs of the repeat above this one."""
        if run.rung is not None:
            repeat = (*run.cell, run.repeat)
            self._tops[repeat] = min(run.rung, self._tops.get(repeat, run.rung))

    def _time_limit(self, run: Run) -> float:
        """The run's time limit in seconds: the sweep's, or its multiple of the best time so far."""
        relative, best = run.stop.relative_limit, self._best.get(run.cell[:2])
        if relative is None or best is None:
            return run.stop.time_limit
        return min(run.stop.time_limit, max(relative * best, LEAST_LIMIT))


def _elapsed(trace: Trace) -> float:
    """Seconds that a run took with its evaluation, as far as its trace shows."""
    elapsed = trace.end.get("elapsed_seconds")
    if elapsed is not None:
        return float(elapsed)
    # A worker that was killed could not record it.
    return float(trace.points[-1]["wall"]) if trace.points else 0.0


def _stalled(trace: Trace) -> bool:
    """Whether it met its limit because the machine stood still or was busy with other work."""
    last = trace.points[-1] if trace.points else {"wall": 0.0, "cpu": 0.0}
    met = last["wall"] >= _limit(trace)  # it was not killed
    return bool(met and last["wall"] > STALLED * last["cpu"])


def _overran(trace: Trace) -> bool:
    """Whether it reached its horizon, but beyond the time limit: in a single step, for example."""
    return bool(trace.points) and trace.points[-1]["wall"] > _limit(trace)


def _limit(trace: Trace) -> float:
    """Its time limit in seconds, +inf if its header has none."""
    limit = trace.header.get("time_limit")
    return math.inf if limit is None else float(limit)


# --- blocks: a data set, a λ and a repeat, with all solvers ------------------------

# Their runs can be compared pair by pair because they were executed together: `plan_runs`
# interleaves them, so that the machine's momentary state affects all solvers alike. Runs that are
# added to a block later, on another day say, lack that property.


def block_of(run: Run) -> BlockKey:
    """Data set, λ and repeat of a run."""
    return *run.cell[:2], run.repeat


def torn(
    runs: Sequence[Run],
    found: Mapping[str, datetime],
    wanted: Sequence[Run],
    store: Store,
    changed: bool,
) -> set[BlockKey]:
    """The blocks that would mix old and new runs; if it has ``changed``, a run may be new."""
    last: dict[BlockKey, datetime] = {}
    for run in runs:
        if run.id in found:
            block, started = block_of(run), found[run.id]
            last[block] = max(started, last.get(block, started))
    now, before = datetime.now(UTC), _by_name(store)
    return {
        block
        for run in wanted
        for block in [block_of(run)]
        if block in last
        and (changed or now - last[block] > RESUMABLE or _has_ended(run, store, before))
    }


def forget(runs: Sequence[Run], store: Store) -> None:
    """Remove the traces of runs, and those of the same runs with other facts."""
    before = _by_name(store)
    for run in runs:
        for path in _traces(run, before):
            path.unlink(missing_ok=True)


def _has_ended(run: Run, store: Store, before: Mapping[str, list[Path]]) -> bool:
    """Whether a run of this name has ended: also with another id, faulty, damaged or removed."""
    others = any(path != store.path(run) for path in _traces(run, before))
    if others or store.loss(run) is not None:
        return True
    trace = read_trace(store.path(run))
    # A solver that was not installed has an ended trace too: its block was executed without it.
    return trace is not None and bool(trace.end) and trace.state != "interrupted"


def _by_name(store: Store) -> dict[str, list[Path]]:
    """The traces by the readable part of their names, without the hash of the facts."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in store.runs.glob("*.jsonl"):
        found[path.stem.rpartition("-")[0]].append(path)
    return found


def _traces(run: Run, before: Mapping[str, list[Path]]) -> list[Path]:
    """The traces of a run, also with other facts."""
    return [path for path in before.get(run.id.rpartition("-")[0], ()) if _may_be_of(path, run)]


def _may_be_of(path: Path, run: Run) -> bool:
    """Whether a trace is one of the run's cell: names write some labels, and some λ, alike."""
    if not is_own_file(path):
        return True
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        return (header["dataset"], header["problem"]["lambda"], header["label"]) == run.cell
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return True
