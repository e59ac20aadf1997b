"""Runs a sweep in worker processes, and stores the results."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from svmbench.config import Sweep, dump_sweep
from svmbench.config.dataset_spec import DatasetSpec
from svmbench.config.stop import SweepReference
from svmbench.data.cache import require_sound
from svmbench.data.dataset import Dataset
from svmbench.data.load import Loaded, load
from svmbench.durable import write_text
from svmbench.errors import ConfigError, DataError
from svmbench.harness.crew import BlockKey, Crew, block_of, forget, torn
from svmbench.harness.only import chosen_runs
from svmbench.harness.options import Options, Outcome, RepeatsOf, Reporter
from svmbench.harness.place import NodeLostError
from svmbench.harness.plan import Cell, Instance, Origin, Run, plan_runs
from svmbench.harness.store import Store, config_in
from svmbench.memory import require_memory
from svmbench.problem import Problem
from svmbench.records.spelling import short
from svmbench.reference.optimum import Reference, certified_optimum
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver
from svmbench.solvers.work_folder import remove_abandoned

#: Vectors of d doubles that are needed at a time to certify an optimum: without and with an l1
#: ball. The weights of each optimum are kept in addition.
VECTORS, VECTORS_IN_BALL = 5, 8

#: Vectors of m doubles, at least: the dual variables, their order, norms of rows and margins.
ROW_VECTORS = 4

#: What to do if the weights do not fit into memory.
MORE_ROOM = (
    "if many features have no entry, drop them with the transform compact-columns;"
    " else free memory, or use fewer data sets and values of lambda at a time"
)

#: Nodes that may be lost with the same block before the sweep is given up.
MOST_LOST = 3

__all__ = ["OpenSweep", "Options", "Outcome", "RepeatsOf", "Reporter", "prepare"]


def prepare(sweep: Sweep, reporter: Reporter, options: Options) -> list[Instance]:
    """Load the data sets of a sweep and certify the optimum of each of its problems."""
    posed = []
    for dataset in sweep.datasets:
        loaded = _loaded(dataset, reporter, options)
        lambdas = sweep.lambdas_for(loaded.train.n_samples)
        posed += [(dataset, loaded, _problem(sweep, loaded.train, lam)) for lam in lambdas]
    _require_room([problem for *_, problem in posed])
    instances = []
    for number, (dataset, loaded, problem) in enumerate(posed):
        allowed = options.seconds_each(len(posed) - number)
        reference, hurried = _certified(problem, sweep.reference, reporter, allowed)
        scale = options.scale_of(dataset.label)
        instances.append(
            Instance(
                problem,
                loaded.test,
                loaded.train_path,
                loaded.test_path,
                reference,
                hurried=hurried,
                origin=None if dataset.path is not None else Origin(dataset.source, scale),
            )
        )
    return instances


def _loaded(dataset: DatasetSpec, reporter: Reporter, options: Options) -> Loaded:
    """The rows of a data set, which are those that were stored."""
    reporter.stage(f"data {dataset.label}")
    scale = options.scale_of(dataset.label)
    loaded = load(dataset.source, offline=options.offline, stand_in=scale)
    for path in filter(None, (loaded.train_path, loaded.test_path)):
        require_sound(path)
    return loaded


def _require_room(problems: Sequence[Problem]) -> None:
    """Refuse rows, or features with their weights, that memory cannot hold, before any is used."""
    kept = sum(8 * problem.data.n_features for problem in problems)
    kept_rows = sum(8 * problem.data.n_samples for problem in problems)
    for problem in problems:
        data = problem.data
        vectors = VECTORS if problem.constraint == "none" else VECTORS_IN_BALL
        require_memory(
            kept + 8 * vectors * data.n_features,
            f"data set {data.name}: training on {data.n_features:,} features",
            MORE_ROOM,
        )
        # Rows that were read from the disk again and again would measure the disk.
        require_memory(
            data.mapped_bytes
            + kept
            + kept_rows
            + 8 * (data.n_features + ROW_VECTORS * data.n_samples),
            f"data set {data.name}: measuring on {data.n_samples:,} rows",
            "take fewer rows; svmbench train takes rows that do not fit",
        )


def _certified(
    problem: Problem, asked: SweepReference, reporter: Reporter, allowed: float
) -> tuple[Reference, bool]:
    """The reference of a problem, and whether less time than asked for kept it from its gap."""
    what = f"reference {problem.data.name}, λ = {short(problem.lam)}"
    reporter.stage(what)
    limit = min(asked.time_limit, allowed)
    try:
        reference = certified_optimum(
            problem, asked.gap, limit, lambda gap: reporter.detail(f"{what}: gap {gap:.1e}")
        )
    except MemoryError as error:
        raise DataError(
            f"data set {problem.data.name}: certifying an optimum of {problem.data.n_features:,}"
            f" features needs too much memory ({str(error) or 'no memory left'}); {MORE_ROOM}"
        ) from None
    more = "" if reference.gap <= asked.gap else " (asked for more)"
    reporter.stage(f"{what}: certified to {reference.gap:.1e}{more}")
    return reference, reference.gap > asked.gap and reference.sought < asked.time_limit


def _problem(sweep: Sweep, data: Dataset, lam: float) -> Problem:
    radius = math.inf if sweep.constraint is None else sweep.constraint.l1
    try:
        return Problem(data, lam, sweep.loss.loss, sweep.bias, radius)
    except ValueError as error:
        raise DataError(f"data set {data.name}: {error}") from error


class OpenSweep:
    """An open sweep: its data are loaded, its optima certified, its folder locked.

    It can be run in any number of turns, each of which costs little more than its runs.

    - ``options``: while it is open, except the repeats, ``deadline`` and ``end``, which each turn
      sets itself; ``deadline`` limits the first search for optima.
    - ``preparing``: seconds spent on opening it and on continuing the search for optima.
    """

    def __init__(self, sweep: Sweep, folder: Path, reporter: Reporter, options: Options) -> None:
        self.sweep = sweep
        self._reporter = reporter
        self._options = options
        self._store = Store(folder)
        self._unpublished = True
        self.preparing = 0.0
        begun = time.monotonic()
        with ExitStack() as stack:
            stack.enter_context(self._store.locked())
            instances = prepare(sweep, reporter, options)
            place = options.where
            order = self._store.order
            self._runs = plan_runs(sweep, instances, place.contended, place.machine, order)
            chosen = chosen_runs(sweep, self._runs, options.only)
            if options.whole_blocks:
                _clear_torn_blocks(sweep, self._runs, folder, options)
            if options.fresh and place.nodes is not None:
                forget(chosen, self._store)  # a block that is torn is not to find its old runs
            self._chosen = frozenset(run.id for run in chosen)
            self._crew = self._hire(options)
            self._found = frozenset(self._crew.found)
            before, ids = self._store.skipped_before, {run.id for run in chosen}
            self._skipped_before = frozenset() if options.fresh else before & ids
            # Runs that `only` leaves out stay as they are.
            self._skipped_elsewhere = {
                run.id
                for run in self._runs
                if run.id in before - ids and self._store.finished(run) is None
            }
            self._skip()
            write_text(folder / "config.yaml", dump_sweep(sweep))
            self._place, self._recorded = place, False
            if not self._store.environment:
                self._record_environment()
            self._lock = stack.pop_all()
        self._cells = _by_cell(self._runs)
        self.preparing = time.monotonic() - begun

    def __enter__(self) -> OpenSweep:
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        if any(spec.name == ForeignProgram.name for spec in self.sweep.solvers):
            remove_abandoned()
        with self._lock:
            if error is None or isinstance(error, KeyboardInterrupt):
                self.publish()

    @property
    def outcome(self) -> Outcome:
        outcome, least = self._crew.outcome, self.sweep.at_least
        outcome.left = sum(run.repeat < least for run in self._crew.possible())
        return outcome

    @property
    def cells(self) -> Collection[Cell]:
        return self._cells.keys()

    def lacking(self, options: Options) -> int:
        """The number of possible runs that these options ask for."""
        return len(self._possible(options))

    def announce(self, options: Options) -> int:
        """The number of runs that `lacking` counts and that were not announced before."""
        return self._crew.announce(lambda run: self._wants(run, options))

    def seconds(self, cell: Cell) -> float:
        """Seconds that one more repeat of a cell is expected to take."""
        known = self._crew.seconds(cell)
        return self.sweep.stop.time_limit if known is None else known

    def is_out_of_time(self, cell: Cell) -> bool:
        """Whether further repeats of a cell would be skipped, or left to a later call."""
        return self._crew.is_out_of_time(cell) or self._crew.hangs(cell)

    def free_repeats(self, cells: Collection[Cell]) -> list[int]:
        """Numbers of the repeats for which none of these cells has a run, ascending."""
        pending = self._crew.pending
        free = (
            {
                repeat
                for repeat, ids in self._cells[cell].items()
                if all(each in pending for each in ids)
            }
            for cell in cells
        )
        return sorted(set.intersection(*free))

    def make(self, options: Options) -> None:
        """Run what the options ask for and is not finished; an interruption keeps what is."""
        wanted = self._wanted(options)
        if not wanted:
            return
        if self._go_on_with_references(wanted, options):
            wanted = self._wanted(options)
        if self._possible(options):
            self._record_environment()
        self._unpublished = True
        lost = Counter[BlockKey]()
        while wanted:
            wanted = self._whole(wanted)  # this may replace the crew
            broken, left = self._crew.work(wanted, options.deadline, options.end)
            lost.update(broken)
            _require_nodes_to_survive(lost)
            # A block that is left to an absent node may lack nothing but what is spared.
            wanted = self._wanted(options) if broken else self._possible(options) if left else []

    def _hire(self, options: Options) -> Crew:
        """A crew for the chosen runs, which knows where the others were carried out."""
        chosen = [run for run in self._runs if run.id in self._chosen]
        crew = Crew(chosen, self._store, self._reporter, options)
        for run in self._runs:
            if run.id not in self._chosen:
                trace = self._store.finished(run)
                if trace is not None and not self._store.is_outdated(run, trace):
                    crew.know(run, trace)
        return crew

    def _whole(self, wanted: list[Run]) -> list[Run]:
        """The wanted runs, with those of their blocks that another machine has to begin again."""
        again = self._torn(wanted)
        if not again:
            return wanted
        if not again <= self._chosen:
            raise ConfigError(
                f"{min(again - self._chosen)} was carried out by a node, or a machine, that is not"
                " here, and its block would be divided among two; leave --only out, so that the"
                " block is begun again, or start that node"
            )
        forget([run for run in self._runs if run.id in again], self._store)
        before, ids = self._crew.outcome, {run.id for run in wanted}
        announced = self._crew.announced
        self._crew = self._hire(replace(self._options, fresh=False))
        self._crew.announce(lambda run: run.id in announced)
        after, kept = self._crew.outcome, len(self._found.intersection(self._crew.found))
        after.made, after.reused = len(self._crew.found) - kept, kept
        after.damaged, after.missing = before.damaged, before.missing
        after.starting = before.starting
        return [run for run in self._crew.pending.values() if run.id in ids | again]

    def _torn(self, wanted: list[Run]) -> set[str]:
        """Ids of the finished runs of the blocks that are to be begun again."""
        nodes, ids = self._options.where.nodes, {run.id for run in wanted}
        # A rung that is spared adds nothing to a block.
        adding = [run for run in self._crew.possible() if run.id in ids]
        if nodes is not None:
            # If no node is left, a finished run is kept: its node may come back.
            return self._crew.torn(adding, nodes) if nodes else set()
        # Nor does a program that is not here add anything to a node's block.
        adding = [run for run in adding if not find_solver(run.solver.name).missing()]
        return self._crew.torn(adding, (None,))

    def _wanted(self, options: Options) -> list[Run]:
        pending = self._crew.pending.values()
        return [run for run in pending if self._wants(run, options)]

    def _possible(self, options: Options) -> list[Run]:
        return [run for run in self._crew.possible() if self._wants(run, options)]

    def _wants(self, run: Run, options: Options) -> bool:
        """Whether to run it now: what the options ask for, and then what was stopped earlier."""
        least = self.sweep.at_least
        if options.wants(run, least):
            return True
        # A repeat that was run for a question would otherwise stay interrupted, or lost, for good.
        every = options.repeats_of is None and (options.repeats is None or options.repeats >= least)
        return every and run.id in self._crew.stopped

    def _go_on_with_references(self, wanted: Sequence[Run], options: Options) -> bool:
        """Continue the search for optima that a deadline cut short and that runs wait for."""
        hurried = list(dict.fromkeys(run.instance for run in wanted if run.instance.hurried))
        begun = time.monotonic()
        for number, old in enumerate(hurried):
            allowed = options.seconds_each(len(hurried) - number)
            asked = self.sweep.reference
            reference, still = _certified(old.problem, asked, self._reporter, allowed)
            new = replace(old, reference=reference, hurried=still)
            self._runs = [
                replace(run, instance=new) if run.instance is old else run for run in self._runs
            ]
        if hurried:
            self._crew.renew({run.id: run for run in self._runs})
            self.preparing += time.monotonic() - begun
        return bool(hurried)

    def publish(self) -> None:
        """Write the tables of numbers if there are new results since the last time."""
        if self._unpublished:
            self._skip()
            self._store.export(self._runs, frozenset(self._crew.skipped | self._skipped_elsewhere))
            self._unpublished = False

    def _record_environment(self) -> None:
        """State the machine once, as the first runs find it; without new runs it stays as it is."""
        if not self._recorded:
            self._store.write_environment(self._place.environment())
            self._recorded = True

    def _skip(self) -> None:
        """Skip repeats of cells that are out of time: those that every cell has, and earlier ones.

        If questions decide the number of repeats, the second counts among those of every cell: that
        it is skipped tells the questions that there will be no more.
        """
        least, before = self.sweep.at_least, self._skipped_before
        if self.sweep.at_most > least:
            least = max(least, 2)
        self._crew.skip(lambda run: run.repeat < least or run.id in before)


def _require_nodes_to_survive(lost: Counter[BlockKey]) -> None:
    """Refuse to give a block to yet another node if it has ended several."""
    for (dataset, lam, repeat), times in lost.items():
        if times >= MOST_LOST:
            raise NodeLostError(
                f"{dataset}, λ = {short(lam)}, repeat {repeat}: {times} nodes were lost while they"
                " carried it out; find out why (memory?), then give the same command again"
            )


def _by_cell(runs: Sequence[Run]) -> dict[Cell, dict[int, list[str]]]:
    """Ids of the runs of each cell, by repeat."""
    found: dict[Cell, dict[int, list[str]]] = {}
    for run in runs:
        found.setdefault(run.cell, {}).setdefault(run.repeat, []).append(run.id)
    return found


def _clear_torn_blocks(sweep: Sweep, runs: Sequence[Run], folder: Path, options: Options) -> None:
    """Remove the runs of the blocks that have to be rerun as a whole."""
    # Both look at the folder as it is now; the sweep's own must see it as it is left.
    store = Store(folder)
    crew = Crew(runs, store, Reporter(), options)
    void = {block_of(run) for run in runs} if options.fresh else None
    if void is None:
        same = config_in(folder) == dump_sweep(sweep)
        wanted = [
            run
            for run in crew.possible()
            if run.repeat < sweep.at_least and not find_solver(run.solver.name).missing()
        ]
        void = torn(runs, crew.found, wanted, store, changed=not same)
    if void:
        forget([run for run in runs if block_of(run) in void], store)
        kept = {run.id for run in runs if block_of(run) not in void}
        store.export(runs, store.skipped_before & kept)
