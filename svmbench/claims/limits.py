"""What a run's limits and its start allow to say: targets met at once, and targets never met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from svmbench.claims.curves import curve
from svmbench.claims.measured import MeasuredRow
from svmbench.data.dataset import FloatArray
from svmbench.records.measures import Asked
from svmbench.records.samples import Pairs, states
from svmbench.records.spelling import short
from svmbench.records.states import LIMITED, in_words

#: An extrapolation beyond this multiple of the limit is not given as a number.
_FARTHEST = 1e4

#: Fewest points of a curve to which a power is fitted.
_FEWEST = 4

#: Powers of e beyond this are no finite number of seconds.
_LARGEST_POWER = 700.0


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


def unreached(rows: Mapping[str, MeasuredRow], found: Pairs, asked: Asked) -> str:
    """Why two solvers cannot be compared if neither has reached the accuracy; else empty."""
    if asked.at is None:
        return ""
    if any(map(math.isfinite, (*found.a, *found.b))):
        return ""
    words = f"neither reaches {asked.at:g} within the limit ({limits(rows.values())})"
    needed = [
        (seconds, label)
        for label, row in rows.items()
        if (seconds := seconds_needed(row, asked.at)) is not None
    ]
    if not needed:
        return f"{words}; their curves do not show which limit would do"
    seconds, label = min(needed)
    return f"{words}; by its curve {label} would need about {rounded(seconds)}"


def limits(rows: Iterable[MeasuredRow]) -> str:
    """What ended the repeats, in words: a limit with its size, or a state."""
    ends: dict[str, None] = {}
    for row in rows:
        runs = row.group.runs
        for state in dict.fromkeys(states(row.group).values()):
            if state in LIMITED:
                ends[f"{_largest([limit_met(row)])} s"] = None
            elif state == "max_steps":
                ends[f"{_largest(runs['max_epochs'])} epochs"] = None
            elif state != "converged":
                ends[in_words(state)] = None
    return ", ".join(ends) or "its own rule"


def seconds_needed(row: MeasuredRow, accuracy: float) -> float | None:
    """Seconds after which a row's extrapolated curve would reach the accuracy.

    A power of time is fitted to the later half of each repeat's curve (by the logarithm of time);
    the median of the repeats is returned, None if the curves do not fall.
    """
    found = []
    for x, y in curve(row, "seconds", "accuracy").values():
        later = x >= math.sqrt(x[0] * x[-1]) * (1 - 1e-9)
        if later.sum() < _FEWEST:
            continue
        slope, height = np.polyfit(np.log(x[later]), np.log(_lowest(y[later])), 1)
        power = (math.log(accuracy) - height) / slope if slope < -0.01 else math.inf
        needed = math.exp(power) if power < _LARGEST_POWER else math.inf
        found.append(max(needed, float(x[-1])))
    middle = float(np.median(found)) if found else math.inf
    return middle if middle <= _FARTHEST * _longest(row) else None


def _lowest(values: FloatArray) -> FloatArray:
    """The least value so far."""
    lowest: FloatArray = np.minimum.accumulate(values)
    return lowest


def limit_met(row: MeasuredRow) -> float:
    """The largest time limit in seconds: of the runs that met theirs, else of all runs.

    A limit relative to the fastest run is known only of runs that were made. Of skipped runs only
    the sweep's own limit is known, which is longer.
    """
    runs = row.group.runs
    met = runs.loc[runs["state"] == "time_limit", "limit_seconds"]
    return float((runs["limit_seconds"] if met.empty else met).max())


def _longest(row: MeasuredRow) -> float:
    longest = limit_met(row)
    return longest if math.isfinite(longest) else 1.0


def _largest(values: Iterable[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    return f"{max(known):g}" if known else "its"


def rounded(seconds: float) -> str:
    """A duration with two digits and its unit."""
    value = float(f"{seconds:.2g}")
    return f"{value:,.0f} s" if value >= 100 else f"{short(value, 2)} s"
