"""The work of one stage, counted towards another's."""

from __future__ import annotations

from typing import NamedTuple

from svmbench.kernels.counters import Counters


class Counts(NamedTuple):
    """The counters of a kernel at one moment."""

    presentations: int
    updates: int
    nonzeros: int


NO_WORK = Counts(0, 0, 0)


def counts(state: Counters) -> Counts:
    """The current values of these counters."""
    return Counts(state.presentations, state.updates, state.nonzeros)


def add_work(counters: Counters, state: Counters, before: Counts = NO_WORK) -> None:
    """Add to ``counters`` what ``state`` has counted since ``before``."""
    counters.presentations += state.presentations - before.presentations
    counters.updates += state.updates - before.updates
    counters.nonzeros += state.nonzeros - before.nonzeros
