"""What a caller of a sweep says and is told: how runs are made, how far it is, what came of it."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from svmbench.harness.plan import Cell, Run
from svmbench.records.states import FAULTS

#: Share of the time to the deadline that the optima still to be certified may take.
REFERENCE_SHARE = 0.4

#: Numbers of the repeats that cells are to have; other cells keep what they have.
RepeatsOf = Mapping[Cell, Collection[int]]


@dataclass
class Outcome:
    """What came of a sweep.

    Attributes
    ----------
    folder : Path
    made, reused : int
        Runs made now, and runs found finished.
    states : Counter
        End states of the runs that are there, and of those ``skipped`` and ``spared``.
    left : int
        Runs that every cell is to have and that were not made for lack of time; a later call
        makes them.
    optional : int
        Runs of further repeats, up to the sweep's ``at_most``, that nobody has asked for.
    damaged, missing : int
        Runs that were there before and are made again: the file has been changed, or is gone.
    interrupted : bool
    """

    folder: Path
    made: int = 0
    reused: int = 0
    states: Counter[str] = field(default_factory=Counter)
    left: int = 0
    optional: int = 0
    damaged: int = 0
    missing: int = 0
    interrupted: bool = False

    @property
    def faulty(self) -> bool:
        """Whether a run failed, ran out of memory or was ended from outside."""
        return any(self.states[state] for state in (*FAULTS, "interrupted"))


class Reporter:
    """Receives the progress of a sweep; the base class is silent."""

    def stage(self, text: str) -> None:
        """Something before or after the runs has begun or been found."""

    def detail(self, text: str) -> None:
        """How far the stage is; of interest only while it lasts."""

    def begin(self, total: int, reused: int) -> None:
        """The plan stands: ``total`` runs, of which ``reused`` are finished already."""

    def grow(self, runs: int) -> None:
        """So many more runs are to be made than was said before; fewer where negative."""

    def run_begins(self, run: Run) -> None:
        """A worker starts."""

    def run_ends(self, run: Run, state: str) -> None:
        """A run ended, was skipped or was spared."""


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
        Repeats that every cell is to have now; the sweep's ``at_least`` unless given.
    repeats_of : mapping of cell to collection of int, optional
        Numbers of the repeats that single cells are to have now, from 0; the other cells keep
        what they have. A cell is a data set's label, a lambda and a solver's label.
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
    repeats_of: RepeatsOf | None = None
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

    def wants(self, run: Run, at_least: int) -> bool:
        """Whether a run is to be made now, in a sweep of so many repeats at least."""
        if self.repeats_of is not None:
            return run.repeat in self.repeats_of.get(run.cell, ())
        return run.repeat < (at_least if self.repeats is None else self.repeats)
