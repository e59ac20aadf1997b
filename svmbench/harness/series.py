"""Runs many sweeps within one time budget, and spends the remaining time on open questions.

docs/measuring.md ("How a budget is spent") has the order. A sweep may start runs until its share of
the remaining budget is spent: a fraction proportional to the square root of the number of runs it
lacks, so that a slow sweep does not keep the others from their first numbers. Time that it leaves
over goes to those after it, and to those cut short in a second round.

A run in progress when the budget ends is abandoned. A later call finds the finished runs and adds
the missing ones.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass, field, replace
from itertools import zip_longest
from operator import add
from typing import Any, Literal

from svmbench.errors import DataError
from svmbench.harness.doubts import Batch, Doubt, Open, batches, first_repeats, priced
from svmbench.harness.options import Options, Outcome, Reporter
from svmbench.harness.plan import Cell
from svmbench.harness.planned_sweep import PlannedSweep
from svmbench.harness.sweeps import OpenSweep

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
class Result:
    # by the sweep's place in the sequence
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # why a sweep could not be run, one line each
    # runs of the sweeps for which no time was left, by the sweep's place
    unreached: dict[int, int] = field(default_factory=dict)
    spent: dict[int, Spent] = field(default_factory=dict)  # seconds by the sweep's place
    asking: float = 0.0  # seconds that asking the questions took
    # questions that were open when they were last asked
    open: list[Open] = field(default_factory=list)
    interrupted: bool = False

    @property
    def made(self) -> int:
        return sum(outcome.made for outcome in self.outcomes.values())

    @property
    def reused(self) -> int:
        return sum(outcome.reused for outcome in self.outcomes.values())

    @property
    def damaged(self) -> int:
        """Runs repeated because their file had been changed."""
        return sum(outcome.damaged for outcome in self.outcomes.values())

    @property
    def missing(self) -> int:
        """Runs repeated because their file was gone."""
        return sum(outcome.missing for outcome in self.outcomes.values())

    @property
    def left(self) -> int:
        """Runs that every cell should have and for which there was no time."""
        left = sum(outcome.left for outcome in self.outcomes.values())
        return left + sum(self.unreached.values())

    @property
    def faulty(self) -> bool:
        """Whether a run failed, ran out of memory or was stopped from outside."""
        return any(outcome.faulty for outcome in self.outcomes.values())

    @property
    def starting(self) -> float:
        """Seconds that starting the processes of the runs took, which `spent` includes."""
        return sum(outcome.starting for outcome in self.outcomes.values())

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
            series.make_first_repeats()
            series.make_repeats_at_least()
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
        self._in_vain: set[tuple[int, frozenset[Cell]]] = set()
        self._pairs_before: dict[_Question, int] = {}
        self._unserved = Counter[_Question]()
        self._unreadable: set[int] = set()
        self._stack = ExitStack()

    def __enter__(self) -> _Series:
        return self

    def __exit__(self, *details: Any) -> None:
        self._stack.__exit__(*details)
        self.result.outcomes = {at: each.outcome for at, each in self._open_sweeps.items()}

    def announce(self) -> None:
        """Tell the reporter how many runs there are; a single sweep's are known once it is open."""
        if self._late:
            return
        runnable = [at for at, planned in enumerate(self._sweeps) if planned.runnable is not None]
        found = 0 if self._options.fresh else sum(self._sweeps[at].found for at in runnable)
        self._reporter.begin(sum(map(self._lacking, runnable)) + found, found)

    # --- the repeats that every cell has ---------------------------------------------

    def make_first_repeats(self) -> None:
        """Open the sweeps in their order, and run the first repeat of every cell."""
        waiting = [at for at, planned in enumerate(self._sweeps) if planned.runnable is not None]
        for _ in range(ROUNDS):
            for turn, at in enumerate(waiting):
                if self._over():
                    if at not in self._open_sweeps:
                        self.result.unreached[at] = self._lacking(at)
                    continue
                deadline = None
                if self._end is not None:
                    weights = [math.sqrt(self._lacking(other, 1)) for other in waiting[turn:]]
                    deadline = _deadline(self._end, weights)
                self._turn(at, "first", deadline, Options(repeats=1))
                if at in self._open_sweeps:
                    self._open_sweeps[at].publish()
            waiting = [at for at in waiting if at in self._open_sweeps and self._lacking(at, 1)]
            if not waiting or self._end is None:
                return

    def make_repeats_at_least(self) -> None:
        """Run the further repeats that every cell should have, one of every sweep at a time."""
        for _ in range(ROUNDS):
            lacking = {at: count for at in self._open_sweeps if (count := self._lacking(at))}
            if not lacking or self._over():
                return
            share = self._shares({at: math.sqrt(count) for at, count in lacking.items()})
            most = max(self._sweeps[at].sweep.at_least for at in lacking)
            # A single sweep orders its own repeats.
            for level in range(1, most + 1) if len(lacking) > 1 else [most]:
                for at in lacking:
                    repeats = min(level, self._sweeps[at].sweep.at_least)
                    if self._lacking(at, repeats) and share[at] > 0.0 and not self._over():
                        deadline = None if self._end is None else time.monotonic() + share[at]
                        share[at] -= self._turn(at, "at_least", deadline, Options(repeats=repeats))
            if self._end is None:
                return

    def _shares(self, weights: Mapping[int, float]) -> dict[int, float]:
        """Seconds of the remaining time that each sweep may take, by its weight."""
        if self._end is None:
            return dict.fromkeys(weights, math.inf)
        left, total = self._end - time.monotonic(), sum(weights.values())
        return {at: left * weight / total for at, weight in weights.items()}

    # --- those that questions need ---------------------------------------------------

    def decide(self, ask: Callable[[], Sequence[Doubt]]) -> None:
        """Run repeats of the cells that open questions are about, while there are any to run."""
        while not self._over():
            took = self._ask(ask)
            todo = [
                each
                for each in self.result.open
                if each.seconds is not None and each.doubt.key not in self._in_vain
            ]
            if not todo:
                return
            turn = min(each.doubt.turn for each in todo)
            todo = [each for each in todo if each.doubt.turn == turn]
            needed = sum(each.seconds or 0.0 for each in todo)
            time_for_all = self._end is None or time.monotonic() + needed <= self._end
            waiting = batches(todo, self._open_sweeps, time_for_all)
            self._make(self._round(waiting, self._length_of_round(took)))
        self._ask(ask)

    def _length_of_round(self, asking: float) -> float:
        """Seconds of repeats to run before the questions are asked again, which takes a while."""
        if self._end is None:
            return PATIENCE * asking
        left = self._end - time.monotonic()
        return min(PATIENCE * asking, max(asking, SHARE_OF_REST * left))

    def _round(self, waiting: Iterable[Batch], enough: float) -> list[Batch]:
        """The first of the batches, until they are expected to take that many seconds.

        Batches with a cell in common would ask for the same repeats: the later one has to wait.
        The last batch is cut to the repeats that fit, but has at least one.
        """
        chosen, taken = [], set[tuple[int, Cell]]()
        for batch in waiting:
            cells = {(batch.sweep, at) for at in batch.repeats_of}
            if taken & cells:
                continue
            taken |= cells
            batch, seconds = first_repeats(batch, enough, self._open_sweeps[batch.sweep].seconds)
            chosen.append(batch)
            enough -= seconds
            if enough <= 0.0:
                break
        return chosen

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

    def _make(self, chosen: Sequence[Batch]) -> None:
        """Run the repeats of batches by turns: those of different batches can share a launcher."""
        wanted = [(batch, Options(repeats_of=batch.repeats_of)) for batch in chosen]
        lacking = [self._open_sweeps[batch.sweep].lacking(options) for batch, options in wanted]
        announced = (self._open_sweeps[batch.sweep].announce(options) for batch, options in wanted)
        self._reporter.grow(sum(announced))
        for batch, options in _by_turns(chosen):
            if self._over():
                return
            self._turn(batch.sweep, "doubts", self._end, options)
        if self._over():
            return
        for (batch, options), before in zip(wanted, lacking, strict=True):
            if self._open_sweeps[batch.sweep].lacking(options) >= before:
                # Its cells are skipped, or wait for their optimum: asking again changes nothing.
                self._in_vain |= {doubt.key for doubt in batch.served}
            else:
                for doubt in batch.served:
                    self._pairs_before[doubt.key, doubt.text] = doubt.pairs

    # --- turns -----------------------------------------------------------------------

    def _over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def _lacking(self, at: int, repeats: int | None = None) -> int:
        """Missing runs of a sweep's first repeats, ``at_least`` unless given."""
        planned = self._sweeps[at]
        repeats = planned.sweep.at_least if repeats is None else repeats
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


def _by_turns(chosen: Sequence[Batch]) -> Iterator[tuple[Batch, Options]]:
    """One repeat of every batch, then the next one, until all have been wanted."""
    for turn in zip_longest(*(batch.numbers for batch in chosen)):
        for batch, number in zip(chosen, turn, strict=True):
            if number is not None:
                cells = {cell: [number] for cell in batch.cells_of(number)}
                yield batch, Options(repeats_of=cells)


def _deadline(end: float, weights: Sequence[float]) -> float:
    """When the first of these sweeps has used its share of the time to the end."""
    now, total = time.monotonic(), sum(weights)
    # A sweep that seems to be finished still gets something, in case a file is damaged.
    share = max(weights[0], 0.1) / max(total, 0.1)
    return now + min(1.0, share) * (end - now)
