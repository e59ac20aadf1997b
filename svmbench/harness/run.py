"""Makes the runs of a sweep, one worker process after another, and keeps what they did."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Literal

from svmbench.config import Sweep, dump_sweep
from svmbench.data.dataset import Dataset
from svmbench.data.load import load
from svmbench.errors import ConfigError, DataError
from svmbench.harness.blocks import block_of, forget, torn
from svmbench.harness.environment import environment
from svmbench.harness.plan import Instance, Run, plan_runs
from svmbench.harness.store import Store
from svmbench.harness.supervise import Worker, make_run
from svmbench.harness.trace import Trace
from svmbench.memory import require_memory
from svmbench.problem import Problem
from svmbench.records.states import FAULTS
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.registry import find_solver

#: Least time limit, in seconds, that a relative limit may set: below it start-up noise rules.
LEAST_LIMIT = 1.0

#: How many times a run's processor time its wall time is from which on meeting the time limit says
#: nothing about the solver, so that its repeats are made.
STALLED = 2.0

#: Vectors of d doubles that certifying an optimum takes at a time, and with an l1 ball; the weights
#: of each optimum are kept besides.
VECTORS, VECTORS_IN_BALL = 5, 8

#: What to do where weights do not fit into the memory.
MORE_ROOM = (
    "if many features have no entry, leave them out with the transform compact-columns;"
    " else free memory, or take fewer data sets and values of lambda at a time"
)

#: Share of the time to the deadline that the optima still to be certified may take.
REFERENCE_SHARE = 0.4


@dataclass
class Outcome:
    """What came of a sweep.

    Attributes
    ----------
    folder : Path
    made, reused : int
        Runs made now, and runs found finished.
    states : Counter
        End states over all runs of the plan, ``skipped`` and ``spared`` among them.
    left : int
        Runs not made for lack of time; a later call makes them.
    postponed : int
        Those of them that are of repeats beyond the ones that were to be made.
    damaged, missing : int
        Runs that were there before and are made again: the file has been changed, or is gone.
    interrupted : bool
    """

    folder: Path
    made: int = 0
    reused: int = 0
    states: Counter[str] = field(default_factory=Counter)
    left: int = 0
    postponed: int = 0
    damaged: int = 0
    missing: int = 0
    interrupted: bool = False

    @property
    def faulty(self) -> bool:
        """Whether a run failed, ran out of memory or was ended from outside."""
        return any(self.states[state] for state in (*FAULTS, "interrupted"))


class Reporter:
    """What `run_sweep` tells of its progress; the base class is silent."""

    def stage(self, text: str) -> None:
        """Something before or after the runs has begun or been found."""

    def detail(self, text: str) -> None:
        """How far the stage is; of interest only while it lasts."""

    def begin(self, total: int, reused: int) -> None:
        """The plan stands: ``total`` runs, of which ``reused`` are finished already."""

    def run_begins(self, run: Run) -> None:
        """A worker starts."""

    def run_ends(self, run: Run, state: str) -> None:
        """A run ended, was skipped or was spared."""


def prepare(
    sweep: Sweep, reporter: Reporter, options: Options, certify: bool = True
) -> list[Instance]:
    """Load the data sets of a sweep and certify the optimum of each of its problems.

    Parameters
    ----------
    sweep : Sweep
    reporter : Reporter
    options : Options
    certify : bool
        False for a dry run: the instances then have no reference.
    """
    instances = []
    for dataset in sweep.datasets:
        reporter.stage(f"data {dataset.label}")
        loaded = load(
            dataset.source, offline=options.offline, stand_in=options.scale_of(dataset.label)
        )
        for lam in sweep.lambdas_for(loaded.train.n_samples):
            problem = _problem(sweep, loaded.train, lam)
            instances.append(
                Instance(problem, loaded.test, loaded.train_path, loaded.test_path, None)
            )
    if not certify:
        return instances
    _require_room(instances)
    return [
        _certified(instance, sweep, reporter, options.seconds_each(len(instances) - number))
        for number, instance in enumerate(instances)
    ]


def _require_room(instances: Sequence[Instance]) -> None:
    """Refuse weights of more features than there is memory for, before any is taken."""
    kept = sum(8 * instance.problem.data.n_features for instance in instances)
    for instance in instances:
        problem, data = instance.problem, instance.problem.data
        vectors = VECTORS if problem.constraint == "none" else VECTORS_IN_BALL
        require_memory(
            kept + 8 * vectors * data.n_features,
            f"data set {data.name}: training on {data.n_features:,} features",
            MORE_ROOM,
        )


def _certified(instance: Instance, sweep: Sweep, reporter: Reporter, allowed: float) -> Instance:
    """The instance with its reference, for which at most so many seconds are allowed."""
    problem, asked = instance.problem, sweep.reference
    what = f"reference {problem.data.name}, λ = {problem.lam:g}"
    reporter.stage(what)
    limit = min(asked.time_limit, allowed)
    try:
        reference = certified_optimum(problem, asked.gap, limit, partial(_tell_gap, reporter, what))
    except MemoryError as error:
        raise DataError(
            f"data set {problem.data.name}: certifying an optimum of"
            f" {problem.data.n_features:,} features takes too much memory ({error}); {MORE_ROOM}"
        ) from None
    short = "" if reference.gap <= asked.gap else " (asked for more)"
    reporter.stage(f"{what}: certified to {reference.gap:.1e}{short}")
    hurried = reference.gap > asked.gap and limit < asked.time_limit
    return replace(instance, reference=reference, hurried=hurried)


def _problem(sweep: Sweep, data: Dataset, lam: float) -> Problem:
    radius = math.inf if sweep.constraint is None else sweep.constraint.l1
    try:
        return Problem(data, lam, sweep.loss.loss, sweep.bias, radius)
    except ValueError as error:
        raise DataError(f"data set {data.name}: {error}") from error


def _tell_gap(reporter: Reporter, what: str, gap: float) -> None:
    reporter.detail(f"{what}: gap {gap:.1e}")


@dataclass(frozen=True)
class Options:
    """How the runs of a sweep are made; none of it changes what a run measures but ``jobs``.

    Parameters
    ----------
    offline : bool
        Do not look for data on the network.
    fresh : bool
        Make all runs again.
    retry_faults : bool
        Make runs again that failed or ran out of memory.
    only : tuple of str
        Shell patterns; make only runs that match one by data set, solver, label or lambda,
        or by all of them as DATASET/LAMBDA/LABEL. None: all runs.
    jobs : int
        Runs made at a time. More than one and they are marked as contended.
    stand_in : float or mapping of str to float, optional
        Scale of the data sets' stand-ins, to be used in their place; by label where only some
        are to be.
    deadline : float, optional
        Moment of the monotonic clock from which on no run is begun. References have a share
        of the time to it, and where that cuts one short, the runs held against it wait too.
    end : float, optional
        Moment at which a run still under way is given up, as if it had not been begun.
    repeats : int, optional
        Make only so many repeats now and leave the others.
    keep_weights : bool
        Keep the weights each run ends with beside its trace. Runs made without are made again.
    whole_blocks : bool
        Make all runs of a data set, a λ and a repeat again where one of them has to be that is
        not merely missing since an interruption (`svmbench.harness.blocks`).
    """

    offline: bool = False
    fresh: bool = False
    retry_faults: bool = False
    only: tuple[str, ...] = ()
    jobs: int = 1
    stand_in: float | Mapping[str, float] | None = None
    deadline: float | None = None
    end: float | None = None
    repeats: int | None = None
    keep_weights: bool = False
    whole_blocks: bool = False

    def scale_of(self, label: str) -> float | None:
        """Scale of the stand-in for the data set of that label; None for the set itself."""
        if isinstance(self.stand_in, Mapping):
            return self.stand_in.get(label)
        return self.stand_in

    def seconds_each(self, count: int) -> float:
        """What each of so many references may take."""
        if self.deadline is None:
            return math.inf
        return max(0.0, REFERENCE_SHARE * (self.deadline - time.monotonic()) / count)


def run_sweep(
    sweep: Sweep,
    folder: Path,
    reporter: Reporter | None = None,
    options: Options | None = None,
) -> Outcome:
    """Make every run of a sweep that is not finished yet, and write its tables of numbers.

    Parameters
    ----------
    sweep : Sweep
    folder : Path
        The results folder.
    reporter : Reporter, optional
    options : Options, optional

    Raises
    ------
    DataError
        When a data set cannot be had.
    ConfigError
        When another process is writing to the folder, or no run is left by ``only``.
    """
    reporter, options = reporter or Reporter(), options or Options()
    store = Store(folder)
    with store.locked():
        instances = prepare(sweep, reporter, options)
        runs = plan_runs(sweep, instances, contended=options.jobs > 1)
        chosen = [run for run in runs if _matches(run, options.only)]
        if not chosen:
            raise ConfigError(f"--only {' '.join(options.only)}: matches no run; see --dry-run")
        if options.whole_blocks:
            _clear_torn_blocks(sweep, runs, folder, options)
        crew = Crew(chosen, store, reporter, options)
        store.write_environment(dump_sweep(sweep), environment())
        try:
            crew.work()
        except KeyboardInterrupt:
            crew.outcome.interrupted = True
        store.export(runs, frozenset(crew.skipped))
    return crew.outcome


def _clear_torn_blocks(sweep: Sweep, runs: Sequence[Run], folder: Path, options: Options) -> None:
    """Remove what was made of the blocks that have to be made again as a whole."""
    # Both look at the folder as it is now; the sweep's own are to see it as it is left.
    store = Store(folder)
    crew = Crew(runs, store, Reporter(), options)
    void = {block_of(run) for run in runs} if options.fresh else None
    if void is None:
        same = store.config() == dump_sweep(sweep)
        void = torn(crew.finished, crew.wanted(), store, changed=not same)
    if void:
        forget([run for run in runs if block_of(run) in void], store)
        store.export(runs, frozenset(crew.skipped))


def _matches(run: Run, patterns: tuple[str, ...]) -> bool:
    dataset, lam, label = run.cell
    names = (dataset, run.solver.name, label, f"{lam:g}", f"{dataset}/{lam:g}/{label}")
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class Crew:
    """Makes runs, ``options.jobs`` at a time, and remembers what bears on the next ones.

    Parameters
    ----------
    runs : sequence of Run
        In the order they are to be begun.
    store : Store
    reporter : Reporter
    options : Options

    Attributes
    ----------
    outcome : Outcome
    skipped : set of str
        Ids of runs not made, because their cell had met its time limit before.
    finished : list of (Run, Trace)
        What was there before.

    A run is spared, and leaves no trace at all, when a lower rung of its solver's ladder has
    ended the repeat: by the tightest accuracy, or by anything but its own horizon.
    """

    def __init__(
        self, runs: Sequence[Run], store: Store, reporter: Reporter, options: Options
    ) -> None:
        self.outcome = Outcome(store.folder)
        self.skipped: set[str] = set()
        self._store = store
        self._reporter = reporter
        self._jobs = options.jobs
        self._out_of_time: set[tuple[object, ...]] = set()
        self._tops: dict[tuple[object, ...], int] = {}
        self._best: dict[tuple[str, float], float] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._deadline = math.inf if options.deadline is None else options.deadline
        self._end = math.inf if options.end is None else options.end
        self._repeats = math.inf if options.repeats is None else options.repeats
        self._keep_weights = options.keep_weights
        self.finished: list[tuple[Run, Trace]] = []
        for run in runs if not options.fresh else ():
            trace = store.finished(run, options.retry_faults, options.keep_weights)
            if trace is not None:
                self.finished.append((run, trace))
        done = {run.id for run, _ in self.finished}
        if not options.fresh:
            lost = Counter(store.loss(run) for run in runs if run.id not in done)
            self.outcome.damaged, self.outcome.missing = lost["damaged"], lost["missing"]
        self._missing = [run for run in runs if run.id not in done]
        self._todo = iter(self._missing)
        reporter.begin(len(runs), len(done))
        for run, trace in self.finished:
            self._learn(run, trace)
        self.outcome.reused = len(done)

    def wanted(self) -> list[Run]:
        """The missing runs that there is reason to make, as far as the finished ones tell."""
        return [
            run
            for run in self._missing
            if self._not_to_be_made(run) is None and not find_solver(run.solver.name).missing()
        ]

    def work(self) -> None:
        """Make the runs; an interruption ends the workers and is raised again."""
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                tasks = [pool.submit(self._work_on) for _ in range(self._jobs)]
                while not all(task.done() for task in tasks):
                    time.sleep(0.02)  # a wait without an end would not hear of Ctrl-C
            except KeyboardInterrupt:
                self._stop.set()
                raise
        for task in tasks:
            task.result()

    def _work_on(self) -> None:
        try:
            with Worker() as worker:
                self._take_turns(worker)
        except BaseException:
            self._stop.set()  # a full disk, say, is full for all
            raise

    def _take_turns(self, worker: Worker) -> None:
        while not self._stop.is_set():
            with self._lock:
                run = next(self._todo, None)
                if run is None:
                    return
                unmade = self._not_to_be_made(run)
                if unmade is None and self._to_be_left(run):
                    continue
                limit = self._time_limit(run)
                if unmade is None:
                    self._reporter.run_begins(run)
            if unmade is None:
                trace = make_run(
                    run, self._store, limit, self._stop, self._end, self._keep_weights, worker
                )
            with self._lock:
                if unmade is not None:
                    self._leave(run, unmade)
                elif trace is None:
                    self.outcome.left += 1
                else:
                    self.outcome.made += 1
                    self._learn(run, trace)
                    self._reporter.run_ends(run, trace.state)

    def _to_be_left(self, run: Run) -> bool:
        """Whether a run is for a later call, and if so count it."""
        postponed = run.repeat >= self._repeats
        late = run.instance.hurried or time.monotonic() >= self._deadline
        self.outcome.postponed += postponed
        self.outcome.left += postponed or late
        return postponed or late

    def _not_to_be_made(self, run: Run) -> Literal["spared", "skipped"] | None:
        if run.rung is not None and run.rung > self._tops.get((*run.cell, run.repeat), run.rung):
            return "spared"
        return "skipped" if (*run.cell, run.horizon) in self._out_of_time else None

    def _leave(self, run: Run, state: Literal["spared", "skipped"]) -> None:
        self.outcome.states[state] += 1
        if state == "skipped":
            self.skipped.add(run.id)
            self._end_ladder(run)  # dearer rungs would take longer yet
        self._reporter.run_ends(run, state)

    def _learn(self, run: Run, trace: Trace) -> None:
        self.outcome.states[trace.state] += 1
        if trace.state == "time_limit" and not _stalled(trace):
            self._out_of_time.add((*run.cell, run.horizon))
        tightest = min(run.stop.accuracy, default=0.0)
        arrived = (p for p in trace.points if p["accuracy"] is not None)
        times = [point["wall"] for point in arrived if point["accuracy"] <= tightest]
        if times:
            problem = run.cell[:2]
            self._best[problem] = min(times[0], self._best.get(problem, math.inf))
        if times or trace.state != "converged" or _overran(trace):
            self._end_ladder(run)

    def _end_ladder(self, run: Run) -> None:
        """Have no rung of the repeat made above this one."""
        if run.rung is not None:
            repeat = (*run.cell, run.repeat)
            self._tops[repeat] = min(run.rung, self._tops.get(repeat, run.rung))

    def _time_limit(self, run: Run) -> float:
        """The run's time limit in seconds: the sweep's, or its multiple of the best so far."""
        relative, best = run.stop.relative_limit, self._best.get(run.cell[:2])
        if relative is None or best is None:
            return run.stop.time_limit
        return min(run.stop.time_limit, max(relative * best, LEAST_LIMIT))


def _stalled(trace: Trace) -> bool:
    """Whether it met its limit because the machine stood still or was at other work."""
    last = trace.points[-1] if trace.points else {"wall": 0.0, "cpu": 0.0}
    met = last["wall"] >= trace.header.get("time_limit", math.inf)  # it was not killed
    return bool(met and last["wall"] > STALLED * last["cpu"])


def _overran(trace: Trace) -> bool:
    """Whether it came to its horizon, but beyond the time limit: in one step, say."""
    limit = trace.header.get("time_limit", math.inf)
    return bool(trace.points) and trace.points[-1]["wall"] > limit
