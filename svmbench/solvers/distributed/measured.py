"""Rounds of the methods on shards, as `scripts/distributed/rounds.py` has measured them."""

from __future__ import annotations

from typing import NamedTuple


class MeasuredRounds(NamedTuple):
    """What a run took until its relative gap was within the target, or until it was given up.

    Parameters
    ----------
    method, data : str
        A solver and a data set of the catalogue, its rows scaled to length 1.
    lam : float
        lambda.
    shards : int
    target : float
        Relative gap.
    reached : bool
        Whether it was within the target.
    rounds, steps : int
        Times that all shards were asked; iterations.
    reads : float
        Entries read by all shards, over the number of stored entries.
    changed : float
        Rows whose products were added to or taken from the curvature, over the number of rows.
    """

    method: str
    data: str
    lam: float
    shards: int
    target: float
    reached: bool
    rounds: int
    steps: int
    reads: float
    changed: float


RUNS: tuple[MeasuredRounds, ...] = ()
