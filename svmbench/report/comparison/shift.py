"""How much two folders' times may differ because they were measured at different times.

A machine's speed changes from one day to the next: the same code takes a few percent longer or
shorter. No number of repeats averages that out, since all repeats of a folder share it. The
controls, rows whose code is the same in both folders, show how large the shift is; if there are
too few of them, an assumption replaces them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev, variance

from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

from svmbench.evidence.page import LEVEL, SHIFT_SHARE
from svmbench.records.groups import Group
from svmbench.report.comparison.match import CellKey
from svmbench.report.pairing import ASSUMED_SHIFT

#: From this many controls on, the scatter of the shift is estimated instead of assumed.
LEAST_CONTROLS = 6


@dataclass(frozen=True)
class Shift:
    """The factor between two times at which the same code is measured."""

    # logarithm of the factor expected, B over A; the factor itself may exceed all numbers
    log_centre: float
    sd: float  # standard deviation of the logarithm
    controls: int  # rows with the same code that it was estimated from


#: Runs executed at the same time: there is no shift.
NO_SHIFT = Shift(0.0, 0.0, 0)


@dataclass(frozen=True)
class Control:
    """A row whose code is the same on both sides."""

    log_ratio: float  # mean logarithm of B over A
    error: float  # its standard error

    @staticmethod
    def of(a: Sequence[float], b: Sequence[float]) -> Control | None:
        """The control from samples; None unless they are two or more, positive and finite."""
        if len(a) < 2 or not all(0 < x < math.inf for x in (*a, *b)):
            return None
        logs = [math.log(y) - math.log(x) for x, y in zip(a, b, strict=True)]
        return Control(fmean(logs), stdev(logs) / math.sqrt(len(logs)))


def same_code(one: Group, other: Group) -> bool:
    """Whether every common repeat is the same run: same build, machine, data and seed.

    The id of a run contains a hash of all these.
    """
    ids = [_ids(group) for group in (one, other)]
    common = set(ids[0]) & set(ids[1])
    return bool(common) and all(ids[0][run] == ids[1][run] for run in common)


def _ids(group: Group) -> dict[tuple[int, float], str]:
    """The id of each run by repeat and horizon."""
    runs = zip(group.runs["repeat"], group.runs["horizon"], group.runs["id"], strict=True)
    # nan, which means no horizon, is not equal to itself
    return {(int(repeat), 0.0 if math.isnan(at) else at): str(name) for repeat, at, name in runs}


def shift_of(
    key: CellKey, controls: Mapping[CellKey, Control], log_pass_ratio: float, questions: int
) -> Shift:
    """The shift of one row, from the controls that are other rows.

    - ``log_pass_ratio``: logarithm of the seconds of a streaming pass over the data in B, over
      those in A. Without controls the shift is assumed to be at least that large; 0 if it is
      unknown.
    """
    others = [control for other, control in controls.items() if other != key]
    count = len(others)
    if not others:
        return Shift(0.0, max(ASSUMED_SHIFT, abs(log_pass_ratio)), 0)
    logs = [control.log_ratio for control in others]
    centre = fmean(logs)
    if count < LEAST_CONTROLS:
        error = fmean(control.error**2 for control in others) / count
        return Shift(centre, math.sqrt(ASSUMED_SHIFT**2 * (1 + 1 / count) + error), count)
    # A prediction interval: the row's own shift scatters about the mean like the controls' do.
    # Student's quantile at the page's tail probability replaces the normal one.
    tail = SHIFT_SHARE * LEVEL / (2 * questions)
    inflation = float(stdtrit(count - 1, tail) / ndtri(tail))
    return Shift(centre, inflation * math.sqrt(variance(logs) * (1 + 1 / count)), count)
