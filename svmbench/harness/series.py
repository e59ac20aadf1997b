"""Runs many sweeps within one time budget, and spends the remaining time on open questions.

docs/measuring.md ("How a budget is spent") has the order. A sweep may start runs until its share of
the remaining budget is spent: a fraction proportional to the square root of the number of runs it
lacks, so that a slow sweep does not keep the others from their first numbers. Time that it leaves
over goes to those cut short, in a second round.

A run in progress when the budget ends is abandoned. A later call finds the finished runs and adds
the missing ones.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from operator import add
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from svmbench.config import Sweep, dump_sweep
from svmbench.data.dataset import scale_in
from svmbench.durable import is_own_file
from svmbench.errors import ConfigError, DataError
from svmbench.harness.doubts import Batch, Doubt, Open, batches, priced
from svmbench.harness.environment import fingerprint
from svmbench.harness.options import Options, Outcome, Reporter
from svmbench.harness.plan import Cell, for_each_horizon
from svmbench.harness.sources import Source
from svmbench.harness.store import config_in, listed_in
from svmbench.harness.sweeps import OpenSweep
from svmbench.records.states import RERUN
from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver

__all__ = ["Doubt", "Open", "PlannedSweep", "Result", "Spent", "run_series"]

#: Rounds in which the first repeats, and those up to ``at_least``, run within shares of the time;
#: each continues the sweeps that the one before has cut short.
ROUNDS = 2

#: The repeats of a round take at least this multiple of the time that asking the questions took,
#: if there are enough of them.
PATIENCE = 20.0

#: A round takes at most this share of the time that is left, so that a question which lacks a
#: repeat or two after it still gets them.
SHARE_OF_REST = 0.25

#: A question is given up after so many rounds in a row that added no pair to it.
VAIN_ROUNDS = 2

#: A question in a series: its key and its words, as several may be about the same cells.
_Question = tuple[tuple[int, frozenset[Cell]], str]

Phase = Literal["first", "at_least", "doubts"]


#: What differs between a run's build and the present one, by its key; the first counts.
_CHANGED = {
    "source_sha256": "with other sources of their solvers",
    "flags": "compiled with other flags",
    "compiler": "compiled by another compiler",
    "libraries": "with other versions of NumPy or SciPy",
}


@dataclass(frozen=True)
class PlannedSweep:
    """One sweep of a series, such as a paper's."""

    # paper, item, name: keys of the paper and of its item, and of the sweep within the item; a
    # sweep of its own has no paper
    paper: str
    item: str
    name: str
    sweep: Sweep  # as the item describes it, at the requested size
    folder: Path  # of its results
    sources: tuple[Source, ...]  # one per data set
    offline: bool = True  # do not look for its data on the network
    # fingerprint of the machine that carries out its runs; empty for this machine
    machine: str = ""

    @property
    def title(self) -> str:
        return f"{self.paper}/{self.item}: {self.name}" if self.paper else self.name

    @property
    def place(self) -> str:
        """The beginning of messages about it; empty for a sweep of its own."""
        return f"{self.paper}/{self.item}, {self.name}: " if self.paper else ""

    def about(self, datasets: Collection[str]) -> PlannedSweep:
        """The sweep on these data sets, and on those that its folder has results of."""
        listed = listed_in(self.folder)
        kept = {*datasets, *(() if listed is None else listed["dataset"])}
        sources = tuple(source for source in self.sources if source.dataset.label in kept)
        return replace(self, sweep=_on(self.sweep, kept), sources=sources)

    @cached_property
    def runnable(self) -> Sweep | None:
        """The sweep on the data sets that are available; None if none is."""
        here = tuple(source.dataset for source in self.sources if not source.unavailable)
        return self.sweep.model_copy(update={"datasets": here}) if here else None

    @property
    def stand_ins(self) -> dict[str, float]:
        """Scales by the labels of those data sets that are stand-ins."""
        return {
            source.dataset.label: source.scale
            for source in self.sources
            if source.scale is not None and not source.unavailable
        }

    @property
    def problems(self) -> int:
        """Number of its problems: available data sets times regularisation constants."""
        constants = len(self.sweep.lambdas or self.sweep.C or ())
        return constants * sum(not source.unavailable for source in self.sources)

    @property
    def cells(self) -> int:
        return self.problems * len(self.sweep.solvers)

    @cached_property
    def runs_a_repeat(self) -> int:
        """Runs of one repeat of every cell, all horizons counted."""
        solvers, stop = self.sweep.solvers, self.sweep.stop
        return self.problems * sum(len(for_each_horizon(solver, stop)) for solver in solvers)

    @property
    def runs(self) -> int:
        return self.runs_a_repeat * self.sweep.at_least

    @property
    def most_runs(self) -> int:
        """Runs if no question about the sweep is ever decided."""
        return self.runs_a_repeat * self.sweep.at_most

    @property
    def found(self) -> int:
        """Runs that are finished in its folder, as far as its files show without the data."""
        return len(self._found)

    def missing(self, repeats: int) -> int:
        """Missing runs of the first ``repeats`` repeats."""
        return max(0, self.runs_a_repeat * repeats - sum(at < repeats for at in self._found))

    @property
    def unused(self) -> Counter[str]:
        """Finished runs of this sweep in its folder that it would not find, by the reason."""
        return Counter(why for _, why in self._finished if why)

    @cached_property
    def _found(self) -> list[int]:
        """Repeats of the runs that are found."""
        return [repeat for repeat, why in self._finished if not why]

    @cached_property
    def _finished(self) -> list[tuple[int, str]]:
        """Repeats of the listed runs, each with why the run does not count; empty if it does."""
        counted = self._listed()
        if counted is None:
            return []
        of_scale = {
            source: scale_in(source) if stand_in else None
            for source, stand_in in set(
                zip(counted["data_source"], counted["stand_in"], strict=True)
            )
        }

        def why(run: str, dataset: str, source: str, state: str) -> str:
            if of_scale[source] != self.stand_ins.get(dataset):
                return "on other rows"
            return "" if state == "skipped" else self._why_not(run)

        columns = (counted[name] for name in ("id", "dataset", "data_source", "state"))
        reasons = (why(*row) for row in zip(*columns, strict=True))
        return list(zip(map(int, counted["repeat"]), reasons, strict=True))

    def _why_not(self, run: str) -> str:
        path = self.folder / "runs" / f"{run}.jsonl"
        return _why_not(path, self.machine or fingerprint())

    @property
    def outdated(self) -> bool:
        """Whether its folder holds runs that it would not find, or that are gone."""
        counted = self._listed()
        if counted is None:
            return (self.folder / "runs.csv").exists()
        return len(counted) != self.found

    def _listed(self) -> pd.DataFrame | None:
        """The runs that runs.csv lists; None if it cannot be read, or is of another sweep."""
        text, table = config_in(self.folder), listed_in(self.folder)
        if self.runnable is None or table is None:
            return None
        # With --only, the sweep was on some of its data sets.
        here = self.runnable, _on(self.runnable, set(table["dataset"]))
        same = any(text == dump_sweep(sweep) for sweep in here if sweep.datasets)
        return table[~table["state"].isin(RERUN)] if same else None

    @property
    def longest(self) -> float:
        missing = self.missing(self.sweep.at_least)
        references = self.problems * self.sweep.reference.time_limit if missing else 0.0
        return missing * self.sweep.stop.time_limit + references


@dataclass
class Spent:
    # on loading its data, certifying its optima and reading what was there before
    preparing: float = 0.0
    # first, at_least, doubts: on first repeats, on those up to ``at_least``, and on open questions
    first: float = 0.0
    at_least: float = 0.0
    doubts: float = 0.0

    @property
    def seconds(self) -> float:
        return float(sum(astuple(self)))

    def __add__(self, other: Spent) -> Spent:
        return Spent(*map(add, astuple(self), astuple(other)))


@dataclass
class Result(Outcome):
    faults: list[str] = field(default_factory=list)  # why a sweep could not be run, one line each
    spent: dict[int, Spent] = field(default_factory=dict)  # seconds by the sweep's place
    asking: float = 0.0  # seconds that asking the questions took
    # questions that were open when they were last asked
    open: list[Open] = field(default_factory=list)
    interrupted: bool = False

    @property
    def total(self) -> Spent:
        """Seconds spent on all sweeps."""
        return sum(self.spent.values(), Spent())


def run_series(
    sweeps: Sequence[PlannedSweep],
    reporter: Reporter,
    options: Options | None = None,
    *,
    budget: float | None = None,
    doubts: Callable[[], Sequence[Doubt]] | None = None,
) -> Result:
    """Run what the sweeps lack, then what decides the questions about them.

    ``doubts`` reads the sweeps' tables, which are up to date, and returns the open questions.
    """
    end = None if budget is None else time.monotonic() + budget
    series = _Series(sweeps, reporter, options or Options(), end)
    series.announce()
    with series:
        try:
            series.make_repeats()
            if doubts is not None:
                series.decide(doubts)
        except KeyboardInterrupt:
            series.result.interrupted = True
    return series.result


class _Series:
    """The open sweeps, and what they have received; leaving the context closes them."""

    def __init__(
        self,
        sweeps: Sequence[PlannedSweep],
        reporter: Reporter,
        options: Options,
        end: float | None,
    ) -> None:
        self.result = Result()
        self._sweeps = sweeps
        self._reporter = reporter
        self._options = options
        self._late = bool(options.only) or len(sweeps) == 1
        self._end = end
        self._open_sweeps: dict[int, OpenSweep] = {}
        self._pairs_before: dict[_Question, int] = {}
        self._unserved = Counter[_Question]()
        self._unreadable: set[int] = set()
        self._stack = ExitStack()

    def __enter__(self) -> _Series:
        return self

    def __exit__(self, *details: Any) -> None:
        self._stack.__exit__(*details)
        for each in self._open_sweeps.values():
            self.result.add(each.outcome)

    def announce(self) -> None:
        """Tell the reporter how many runs there are; a single sweep's are known once it is open."""
        if self._late:
            return
        runnable = [at for at, planned in enumerate(self._sweeps) if planned.runnable is not None]
        found = 0 if self._options.fresh else sum(self._sweeps[at].found for at in runnable)
        self._reporter.begin(sum(map(self._lacking, runnable)) + found, found)

    # --- the repeats that every cell has ---------------------------------------------

    def make_repeats(self) -> None:
        """Run the first repeat of every cell of every sweep, then the others that all should have.

        Sweeps are opened in their order, and take turns from then on.
        """
        waiting = [at for at, planned in enumerate(self._sweeps) if planned.runnable is not None]
        self._make_up_to(waiting, [1], "first")
        unreached = [at for at in waiting if at not in self._open_sweeps]
        self.result.left = sum(self._lacking(at) for at in unreached if at not in self._unreadable)
        waiting = [at for at in self._open_sweeps if self._lacking(at)]
        most = max((self._sweeps[at].sweep.at_least for at in waiting), default=1)
        # A single sweep orders its own repeats.
        levels = range(1, most + 1) if len(waiting) > 1 else [most]
        self._make_up_to(waiting, levels, "at_least")

    def _make_up_to(self, waiting: Sequence[int], levels: Sequence[int], phase: Phase) -> None:
        """Run one number of repeats after the other, each sweep within its share of the time."""
        for _ in range(ROUNDS):
            share = self._shares(waiting, levels[-1])
            for level in levels:
                for at in waiting:
                    if share[at] <= 0.0 or self._over():
                        continue
                    repeats = min(level, self._sweeps[at].sweep.at_least)
                    if at not in self._open_sweeps or self._lacking(at, repeats):
                        deadline = self._deadline(share[at], share.values())
                        share[at] -= self._turn(at, phase, deadline, Options(repeats=repeats))
                    if phase == "first" and at in self._open_sweeps:
                        self._open_sweeps[at].publish()
            waiting = [at for at in self._open_sweeps if self._lacking(at, levels[-1])]
            if not waiting or self._end is None:
                return

    def _shares(self, waiting: Sequence[int], repeats: int) -> dict[int, float]:
        """Seconds of the remaining time that each sweep may take, by the runs that it lacks."""
        if self._end is None:
            return dict.fromkeys(waiting, math.inf)
        # A sweep that seems to be finished still gets something, in case a file is damaged.
        weights = {at: max(math.sqrt(self._lacking(at, repeats)), 0.1) for at in waiting}
        left, total = self._end - time.monotonic(), sum(weights.values())
        return {at: left * weight / total for at, weight in weights.items()}

    def _deadline(self, share: float, shares: Iterable[float]) -> float | None:
        """When a share is used up; what others took beyond theirs is missing to all in proportion.

        The first sweep's data, for example, may take long to load.
        """
        if self._end is None:
            return None
        now, total = time.monotonic(), sum(each for each in shares if each > 0.0)
        return now + share * min(1.0, (self._end - now) / total)

    # --- those that questions need ---------------------------------------------------

    def decide(self, ask: Callable[[], Sequence[Doubt]]) -> None:
        """Run repeats of the cells that open questions are about, while there are any to run."""
        while not self._over():
            took = self._ask(ask)
            todo = [each for each in self.result.open if each.seconds is not None]
            if not todo:
                return
            turn = min(each.doubt.turn for each in todo)
            todo = [each for each in todo if each.doubt.turn == turn]
            needed = sum(each.seconds or 0.0 for each in todo)
            time_for_all = self._end is None or time.monotonic() + needed <= self._end
            self._make(batches(todo, self._open_sweeps, time_for_all), self._length_of_round(took))
        self._ask(ask)

    def _length_of_round(self, asking: float) -> float:
        """Seconds of repeats to run before the questions are asked again, which takes a while."""
        if self._end is None:
            return PATIENCE * asking
        left = self._end - time.monotonic()
        return min(PATIENCE * asking, max(asking, SHARE_OF_REST * left))

    def _ask(self, ask: Callable[[], Sequence[Doubt]]) -> float:
        """Ask the questions; return the seconds that took, with those to write the tables."""
        begun = time.monotonic()
        for open_sweep in self._open_sweeps.values():
            open_sweep.publish()
        self.result.open = [self._priced(doubt) for doubt in ask()]
        took = time.monotonic() - begun
        self.result.asking += took
        return took

    def _priced(self, doubt: Doubt) -> Open:
        """The question with its price; without one if `VAIN_ROUNDS` rounds running made no pair."""
        question = doubt.key, doubt.text
        before = self._pairs_before.pop(question, None)
        if before is not None:
            self._unserved[question] = self._unserved[question] + 1 if doubt.pairs <= before else 0
        if self._unserved[question] >= VAIN_ROUNDS:
            return Open(doubt, None, "information")
        return priced(doubt, self._open_sweeps)

    def _make(self, waiting: Iterable[Batch], seconds: float) -> None:
        """Run the first of the batches for some seconds, but one repeat at least.

        One repeat of each is made, then the next one: those of different batches can share a
        launcher. Batches with a cell in common would ask for the same repeats: the later one has to
        wait.
        """
        chosen, taken, enough = list[Batch](), set[tuple[int, Cell]](), seconds
        for batch in waiting:
            cells = {(batch.sweep, at) for at in batch.repeats_of}
            if not taken & cells:
                taken |= cells
                chosen.append(batch)
                enough -= batch.seconds
                if enough <= 0.0:
                    break
        end = time.monotonic() + seconds
        for turn in zip_longest(*(batch.turns() for batch in chosen)):
            for batch, repeats_of in zip(chosen, turn, strict=True):
                if repeats_of is not None:
                    options = Options(repeats_of=repeats_of)
                    self._reporter.grow(self._open_sweeps[batch.sweep].announce(options))
                    self._turn(batch.sweep, "doubts", self._end, options)
                    if self._over():
                        return
                    for doubt in batch.served:
                        self._pairs_before[doubt.key, doubt.text] = doubt.pairs
                    if time.monotonic() >= end:
                        return

    # --- turns -----------------------------------------------------------------------

    def _over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def _lacking(self, at: int, repeats: int | None = None) -> int:
        """Missing runs of a sweep's first repeats, ``at_least`` unless given."""
        planned = self._sweeps[at]
        repeats = min(repeats or planned.sweep.at_least, planned.sweep.at_least)
        if at in self._open_sweeps:
            return self._open_sweeps[at].lacking(Options(repeats=repeats))
        return planned.runs_a_repeat * repeats if self._options.fresh else planned.missing(repeats)

    def _turn(self, at: int, phase: Phase, deadline: float | None, wanted: Options) -> float:
        """Run a part of a sweep, which is opened if necessary; return the seconds that took."""
        begun = time.monotonic()
        spent = self.result.spent.setdefault(at, Spent())
        options = replace(wanted, deadline=deadline, end=self._end)
        prepared = self._open_sweeps[at].preparing if at in self._open_sweeps else 0.0
        try:
            open_sweep = self._open(at, options)
            if open_sweep is not None:
                open_sweep.make(options)
        finally:
            took = time.monotonic() - begun
            there = at in self._open_sweeps
            preparing = self._open_sweeps[at].preparing - prepared if there else took
            spent.preparing += preparing
            setattr(spent, phase, getattr(spent, phase) + took - preparing)
        return took

    def _open(self, at: int, options: Options) -> OpenSweep | None:
        """The open sweep; None if its data are not available."""
        planned = self._sweeps[at]
        if at in self._unreadable:
            return None
        if at in self._open_sweeps:
            self._reporter.detail(planned.title)
            return self._open_sweeps[at]
        assert planned.runnable is not None
        expected = 0 if self._late else self._lacking(at)
        self._reporter.stage(planned.title)
        of_sweep = replace(
            self._options,
            offline=planned.offline,
            stand_in=planned.stand_ins,
            deadline=options.deadline,
            end=options.end,
        )
        try:
            open_sweep = OpenSweep(planned.runnable, planned.folder, self._reporter, of_sweep)
        except DataError as error:
            # One set that cannot be read must not keep the other sweeps from their numbers.
            self.result.faults.append(f"{planned.place}{error}")
            self._unreadable.add(at)
            self._reporter.grow(-expected)
            return None
        self._open_sweeps[at] = self._stack.enter_context(open_sweep)
        announced = open_sweep.announce(Options(repeats=planned.sweep.at_least))
        if self._late:
            found = open_sweep.outcome.reused
            self._reporter.begin(announced + found, found)
        else:
            self._reporter.grow(announced - expected)
        return open_sweep


def _on(sweep: Sweep, datasets: Collection[str]) -> Sweep:
    kept = tuple(data for data in sweep.datasets if data.label in datasets)
    return sweep.model_copy(update={"datasets": kept})


def _why_not(path: Path, machine: str) -> str:
    """Why a run does not count on that machine with the present build; empty if it does."""
    if not is_own_file(path):
        return "that cannot be read"
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        solver = find_solver(header["solver"])
        parameters = checked(solver.schema, header["parameters"])
        built, recorded = solver.build_with(parameters), header["build"]
        if header["machine"] != machine:
            return "on another machine"
        if recorded == built:
            return ""
        changed = (why for key, why in _CHANGED.items() if recorded.get(key) != built.get(key))
        return next(changed, _CHANGED["source_sha256"])
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError, ConfigError):
        return "that cannot be read"
