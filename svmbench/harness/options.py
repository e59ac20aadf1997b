"""What a caller passes to a sweep and gets back: options, progress and outcome."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from svmbench.harness.place import Place
from svmbench.harness.plan import Cell, Run
from svmbench.records.states import FAULTS

#: Share of the time to the deadline for the optima that are still to be certified.
REFERENCE_SHARE = 0.4

#: Numbers of the repeats that cells should have; other cells keep what they have.
RepeatsOf = Mapping[Cell, Collection[int]]


@dataclass
class Outcome:
    folder: Path = Path()  # of one sweep
    made: int = 0  # made, reused: new runs, and runs that were found finished
    reused: int = 0
    # end states of the existing runs, and of those ``skipped`` and ``spared``
    states: Counter[str] = field(default_factory=Counter)
    # runs that every cell should have and for which there was no time; a later call runs them
    left: int = 0
    # damaged, missing: runs that existed before and are rerun: the file has been changed, or is
    # gone
    damaged: int = 0
    missing: int = 0
    starting: float = 0.0  # seconds that starting the processes of the new runs took

    @property
    def faulty(self) -> bool:
        """Whether a run failed, ran out of memory or was stopped from outside."""
        return any(self.states[state] for state in (*FAULTS, "interrupted"))

    def add(self, other: Outcome) -> None:
        """Count another sweep's runs, too."""
        for name in ("made", "reused", "states", "left", "damaged", "missing", "starting"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Reporter:
    """Receives the progress of a sweep; the base class is silent."""

    def stage(self, text: str) -> None:
        """Something before or after the runs has started or been found."""

    def detail(self, text: str) -> None:
        """How far the stage is; of interest only while it lasts."""

    def begin(self, total: int, reused: int) -> None:
        """The plan is complete: ``total`` runs, of which ``reused`` are finished already."""

    def grow(self, runs: int) -> None:
        """There are this many more runs than announced before; fewer if negative."""

    def run_begins(self, run: Run) -> None:
        """A worker starts."""

    def run_ends(self, run: Run, state: str) -> None:
        """A run that a worker carried out has ended."""


@dataclass(frozen=True)
class Options:
    """How the runs of a sweep are executed; only `jobs` and `place` change what a run measures."""

    offline: bool = False  # do not look for data on the network
    fresh: bool = False  # rerun everything
    retry_faults: bool = False  # rerun what failed or ran out of memory
    # shell patterns; run only what matches one by data set, solver, label, lambda or C, or by
    # DATASET/LAMBDA/LABEL. None: all runs.
    only: tuple[str, ...] = ()
    jobs: int = 1  # runs at a time. If there is more than one, they are marked as contended.
    # scale of the data sets' stand-ins, which are then used instead; by label if only some are to
    # be replaced
    stand_in: float | Mapping[str, float] | None = None
    # moment of the monotonic clock after which no run starts. References get a share of the time
    # until then; if that cuts one short, the runs that are measured against it wait too.
    deadline: float | None = None
    # moment at which a run still in progress is abandoned, as if it had not been started
    end: float | None = None
    # repeats that every cell should have now; the sweep's ``at_least`` unless given
    repeats: int | None = None
    # numbers of the repeats that single cells should have now, from 0; the other cells keep what
    # they have. A cell is a data set's label, a lambda and a solver's label.
    repeats_of: RepeatsOf | None = None
    # keep the final weights of each run beside its trace. Runs without them are rerun.
    keep_weights: bool = False
    # rerun everything for a data set, a λ and a repeat if one of these runs has to be rerun that is
    # not merely missing since an interruption (`svmbench.harness.crew`)
    whole_blocks: bool = False
    # begin the ladders of later repeats near the first rung that reached the sweep's loosest
    # accuracy before. Otherwise every ladder begins with its lowest rung.
    short_ladders: bool = False
    # where the runs are carried out; on this machine unless given, and then `jobs` counts
    place: Place | None = None

    @property
    def where(self) -> Place:
        return Place(self.jobs) if self.place is None else self.place

    def scale_of(self, label: str) -> float | None:
        """Scale of the stand-in for the data set of that label; None for the set itself."""
        if isinstance(self.stand_in, Mapping):
            return self.stand_in.get(label)
        return self.stand_in

    def seconds_each(self, count: int) -> float:
        """Seconds that each of ``count`` references may take."""
        if self.deadline is None:
            return math.inf
        return max(0.0, REFERENCE_SHARE * (self.deadline - time.monotonic()) / count)

    def wants(self, run: Run, at_least: int) -> bool:
        """Whether a run should run now, in a sweep of at least that many repeats."""
        if self.repeats_of is not None:
            return run.repeat in self.repeats_of.get(run.cell, ())
        return run.repeat < (at_least if self.repeats is None else self.repeats)
