"""What a run's limits and its start allow to say: targets met at once, and targets never met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from svmbench.claims.measured import MeasuredRow
from svmbench.records.measures import Asked
from svmbench.records.samples import Pairs
from svmbench.records.states import LIMITED, in_words


def says_nothing(rows: Iterable[MeasuredRow], asked: Asked) -> str:
    """Why an accuracy says nothing about one of these rows; empty if it does."""
    if any(met_at_start(row, asked) for row in rows):
        return f"says nothing: w = 0 has the accuracy {asked.at:g} before the first step"
    return ""


def met_at_start(row: MeasuredRow, asked: Asked) -> bool:
    """Whether w = 0 already has the accuracy.

    The trace's first point is the objective before the first step: P(0) = 1 for the hinge, whose
    accuracy is (1 - P*)/P*.
    """
    if asked.at is None or row.traces.empty:
        return False
    points = row.points
    starts = points.loc[points["epochs"] == 0, "accuracy"].dropna()
    return bool(len(starts)) and bool((starts <= asked.at).all())


def unreached(rows: Sequence[MeasuredRow], found: Pairs, asked: Asked) -> str:
    """Why solvers cannot be compared if none has reached the accuracy; else empty."""
    if asked.at is None:
        return ""
    if any(map(math.isfinite, (*found.a, *found.b))):
        return ""
    who = "neither" if len(rows) == 2 else "none"
    return f"{who} reaches {asked.at:g} within the limit ({limits(rows)})"


def limits(rows: Iterable[MeasuredRow]) -> str:
    """What ended the repeats, in words: a limit with its size, or a state."""
    ends: dict[str, None] = {}
    for row in rows:
        runs = row.group.runs
        for state in dict.fromkeys(row.group.ends.values()):
            if state in LIMITED:
                ends[f"{_largest([limit_met(row)])} s"] = None
            elif state == "max_steps":
                ends[f"{_largest(runs['max_epochs'])} epochs"] = None
            elif state != "converged":
                ends[in_words(state)] = None
    return ", ".join(ends) or "its own rule"


def limit_met(row: MeasuredRow) -> float:
    """The largest time limit in seconds: of the runs that met theirs, else of all runs.

    A limit relative to the fastest run is known only of runs that were made. Of skipped runs only
    the sweep's own limit is known, which is longer.
    """
    runs = row.group.runs
    met = runs.loc[runs["state"] == "time_limit", "limit_seconds"]
    return float((runs["limit_seconds"] if met.empty else met).max())


def _largest(values: Iterable[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    return f"{max(known):g}" if known else "its"
