"""The best of several rivals: in each repeat the one that took least, as one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.records.measures import Asked
from svmbench.records.samples import least, measured, samples, without_doubtful


def best_of(rivals: Sequence[MeasuredRow], ours: MeasuredRow, asked: Asked) -> MeasuredRow | None:
    """The row that has, in each repeat, the runs of the rival that took least.

    A repeat that a rival lacks is left out: as long as one has not been run, the best is unknown.
    If none reached an accuracy, the one that had spent least stands for all of them.

    - ``rivals``: of one sweep, data set and λ, with the points of the whole sweep as traces. Those
      without any sample are no rivals.
    """
    slowest = max(measured(ours.group, asked).values(), default=math.inf)
    took = []
    for row in rivals:
        values = samples(row.group, asked)
        if asked.at is not None:
            values = without_doubtful(row.group, values, slowest)
        if values:
            bounds = least(row.group, asked)
            took.append((row, {repeat: (values[repeat], bounds[repeat]) for repeat in values}))
    if not took:
        return None
    rows = tuple(row for row, _ in took)
    first = rows[0]
    if len(rows) == 1:
        return replace(first, members=rows)
    repeats_of: dict[MeasuredRow, list[int]] = {row: [] for row in rows}
    for repeat in set.intersection(*(set(each) for _, each in took)):
        best, _ = min(took, key=lambda each: each[1][repeat])
        repeats_of[best].append(repeat)
    runs = pd.concat(
        row.group.runs[row.group.runs["repeat"].isin(repeats)]
        for row, repeats in repeats_of.items()
    )
    group = replace(
        first.group,
        label=", ".join(row.group.label for row in rows),
        runs=runs.sort_values("repeat", kind="stable", ignore_index=True),
    )
    return MeasuredRow(first.sweep, group, first.traces, first.regrets, rows)
