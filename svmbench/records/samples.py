"""Turns the runs of a group into samples, one per repeat; nothing else does.

`svmbench.records.states` determines what a repeat without a value counts as. Measured values
count whatever the run's end: a run that reached an accuracy and failed afterwards has
reached it. A run that was refused counts with no value: its row has no time to any accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from svmbench.evidence.questions import Question, paired
from svmbench.records.columns import of_accuracy
from svmbench.records.groups import Group
from svmbench.records.measures import Asked, Measure
from svmbench.records.moments import in_order
from svmbench.records.states import ENDED_BY_LIMIT, STATES, CountsAs

#: A pair with a skipped repeat counts only if the time limit, which another repeat of
#: its group met, is at least this many times the longest that the other side took.
SKIPPED_FROM = 2.0


_OfGroup = Callable[[Group, Asked], dict[int, float]]


def _once(find: _OfGroup) -> _OfGroup:
    """Find the values of a group once, as long as it exists: it is compared with many others."""
    known: WeakKeyDictionary[Group, dict[Asked, dict[int, float]]] = WeakKeyDictionary()

    @wraps(find)
    def kept(group: Group, asked: Asked) -> dict[int, float]:
        of_group = known.setdefault(group, {})
        if asked not in of_group:
            of_group[asked] = find(group, asked)
        return dict(of_group[asked])

    return kept


@_once
def samples(group: Group, asked: Asked) -> dict[int, float]:
    """The measure by repeat, in the order in which the repeats were measured.

    A repeat that failed, or that did not reach the accuracy, has the measure's worst value. A
    repeat of which nothing is known is absent; all are if the runs do not have the measure or the
    accuracy.
    """
    values = _of_runs(group.runs, asked)
    if values is None:
        return {}
    known = _known(group, asked, values)
    ends = group.ends
    if not (known or asked.measure.to_accuracy) and any(
        _counts(state, asked.measure) == "value" for state in ends.values()
    ):
        return {}  # the others ended well and have none either: there is no such number
    found = {}
    for repeat in in_order(ends, group):
        if repeat in known:
            found[repeat] = known[repeat]
            continue
        counts = _counts(ends[repeat], asked.measure)
        if counts == "worst" or (counts == "worst if none reached it" and not known):
            found[repeat] = asked.measure.worst
    return found


@_once
def measured(group: Group, asked: Asked) -> dict[int, float]:
    """Those of `samples` that are measured values, without replacements for failures."""
    values = _of_runs(group.runs, asked)
    known = {} if values is None else _known(group, asked, values)
    return {repeat: known[repeat] for repeat in in_order(known, group)}


@_once
def waiting(group: Group, asked: Asked) -> dict[int, float]:
    """Wall time over processor time by repeat; none for several threads, or without a value."""
    wall, processor = (
        samples(group, asked),
        samples(group, Asked(asked.measure.processor, asked.at)),
    )
    if not wall or wall.keys() != processor.keys() or math.inf in wall.values():
        return {}
    if (group.runs["threads"] != 1).any():
        return {}
    return {at: time / max(processor[at], 1e-9) for at, time in wall.items()}


def enclosed(group: Group, asked: Asked) -> dict[int, tuple[float, float]]:
    """Those of `measured`, each as the interval that certainly holds the true value."""
    found = measured(group, asked)
    if not asked.measure.certified:
        return {repeat: (value, value) for repeat, value in found.items()}
    from_below = group.runs.assign(reference_primal=group.runs["reference_dual"])
    low = measured(replace(group, runs=from_below), asked)
    return {repeat: (low[repeat], value) for repeat, value in found.items()}


@_once
def least(group: Group, asked: Asked) -> dict[int, float]:
    """What each repeat of `samples` takes at least: its sample, or what it had spent at its limit.

    A repeat that failed, or stopped by its own rule, would never have reached the accuracy: +inf.
    One that was killed at its time limit had spent that. One that was skipped might have been
    faster than the one it was skipped for: it counts with the limit over `SKIPPED_FROM`.
    """
    found, measure = samples(group, asked), asked.measure
    if measure.taken not in ("to accuracy", "spent") or all(map(math.isfinite, found.values())):
        return found
    spent = _spent(group, Asked(measure.spent) if measure.to_accuracy else asked)
    ends = group.ends
    limited = [
        spent[repeat]
        for repeat, end in ends.items()
        if end == "time_limit" and not math.isnan(spent[repeat])
    ]
    bounds = {repeat: spent.get(repeat, math.nan) for repeat in found}
    skipped = min(limited, default=0.0) / SKIPPED_FROM
    bounds |= {repeat: skipped for repeat in found if ends[repeat] == "skipped"}
    return {
        repeat: _at_least(value, bounds[repeat], ends[repeat]) for repeat, value in found.items()
    }


def _spent(group: Group, asked: Asked) -> dict[int, float]:
    """What each repeat had spent; seconds are at least the limit that ended it."""
    spent = of_repeats(group, asked)
    if asked.name != "train_seconds":
        return spent
    limits = _column(group, "limit_seconds")
    return {
        repeat: float(np.fmax(value, limits[repeat])) if end == "time_limit" else value
        for (repeat, value), end in zip(spent.items(), group.ends.values(), strict=True)
    }


def _column(group: Group, column: str) -> dict[int, float]:
    return dict(zip(map(int, group.repeats["repeat"]), group.column(column), strict=True))


def _at_least(value: float, spent: float, end: str) -> float:
    if math.isfinite(value) or end not in ENDED_BY_LIMIT:
        return value
    return 0.0 if math.isnan(spent) else spent


def of_repeats(group: Group, asked: Asked) -> dict[int, float]:
    """The measure of each repeat as recorded, whatever its end; nan if there is none.

    These are not samples: they include what a run had spent when it failed.
    """
    values = _of_runs(group.repeats, asked)
    if values is None:
        return {}
    repeats = map(int, group.repeats["repeat"])
    return {repeat: float(value) for repeat, value in zip(repeats, values, strict=True)}


@dataclass(frozen=True)
class Pairs:
    """What two groups took in the repeats that both have."""

    repeats: tuple[int, ...]  # in the order in which they were measured
    a: tuple[float, ...]  # a, b: from 0 to +inf, in the same order
    b: tuple[float, ...]
    # a_least, b_least: lower bounds of them: what a run had spent when a limit ended it
    a_least: tuple[float, ...]
    b_least: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.repeats)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter(zip(self.a, self.b, strict=True))

    def question(
        self, low: float, high: float = math.inf, *, exchangeable: bool = True
    ) -> Question:
        """Ask whether the ratio b/a lies in a region; the two are runs of a block unless said."""
        return paired(
            self.a,
            self.b,
            low,
            high,
            a_least=self.a_least,
            b_least=self.b_least,
            exchangeable=exchangeable,
        )

    def only(self, repeats: Collection[int]) -> Pairs:
        """Those of some repeats."""
        kept = [at for at, repeat in enumerate(self.repeats) if repeat in repeats]
        sides = (self.a, self.b, self.a_least, self.b_least)
        return Pairs(
            tuple(self.repeats[at] for at in kept),
            *(tuple(side[at] for at in kept) for side in sides),
        )


def pairs(one: Group, other: Group, asked: Asked) -> Pairs:
    """The samples of two groups, paired by the number of the repeat.

    A repeat that was skipped because another one met the time limit makes no pair unless that
    limit is at least `SKIPPED_FROM` times the longest that the other group took: a limit near
    that says too little about how much longer a repeat would have taken.
    """
    left, right = samples(one, asked), samples(other, asked)
    if asked.at is not None:
        left, right = (
            without_doubtful(one, left, _slowest(other, asked.at)),
            without_doubtful(other, right, _slowest(one, asked.at)),
        )
    both = tuple(in_order(left.keys() & right.keys(), one, other))
    return Pairs(
        both,
        *(
            tuple(max(0.0, values[repeat]) for repeat in both)
            for values in (left, right, least(one, asked), least(other, asked))
        ),
    )


def skipped_make_pairs(group: Group, other: Group, asked: Asked) -> bool:
    """Whether a further repeat makes a pair although that of the first group is skipped."""
    if asked.at is None or measured(group, asked):
        return False
    return _is_generous(group, _slowest(other, asked.at))


def without_doubtful(group: Group, found: dict[int, float], slowest: float) -> dict[int, float]:
    """Samples without those of skipped repeats whose limit is too near the other side's times."""
    # Some rungs of a ladder may have been skipped; what the others reached was measured.
    skipped = group.skipped
    if not skipped or _is_generous(group, slowest):
        return found
    return {
        repeat: value
        for repeat, value in found.items()
        if repeat not in skipped or math.isfinite(value)
    }


def _is_generous(group: Group, slowest: float) -> bool:
    """Whether the limit that a group met is far enough from the other side's times."""
    limits = group.runs.loc[group.runs["state"] == "time_limit", "limit_seconds"]
    return float(limits.min()) >= SKIPPED_FROM * slowest  # False with nan


def _slowest(group: Group, at: float) -> float:
    """The longest that a repeat took to an accuracy, in seconds; +inf if none reached it."""
    return max(measured(group, Asked("seconds", at)).values(), default=math.inf)


# ---------------------------------------------------------------- runs


class _Columns(Mapping[str, Any]):
    """Columns of runs by name, ``seconds_to`` and the like at one accuracy."""

    def __init__(self, runs: pd.DataFrame, at: float | None) -> None:
        self._runs, self._at = runs, at

    def __getitem__(self, name: str) -> pd.Series:
        if self._at is not None and name.endswith("_to"):
            name = of_accuracy(name, self._at)
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._runs)

    def __len__(self) -> int:
        return len(self._runs.columns)


def _of_runs(runs: pd.DataFrame, asked: Asked) -> pd.Series | None:
    """The measure of each run, nan if it has none; None if the runs do not have it."""
    measure = asked.measure
    if measure.needs and (measure.needs not in runs or runs[measure.needs].isna().all()):
        return None
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            values: pd.Series = measure.formula(_Columns(runs, asked.at))
    except KeyError:
        return None
    return values


def _known(group: Group, asked: Asked, values: pd.Series) -> dict[int, float]:
    """The measured values, by repeat."""
    if asked.measure.to_accuracy:
        if group.separate_runs:
            values = values.groupby(group.runs["repeat"]).min()
        known = zip(group.repeats["repeat"], values, strict=True)
        return {int(repeat): float(value) for repeat, value in known if not math.isnan(value)}
    if group.separate_runs:
        of_repeats = _of_runs(group.repeats, asked)
        assert of_repeats is not None
        values = of_repeats
    repeats = group.repeats
    return {
        int(repeat): float(value)
        for repeat, state, value in zip(repeats["repeat"], repeats["state"], values, strict=True)
        if not math.isnan(value) and _counts(state, asked.measure) == "value"
    }


def _counts(state: str, measure: Measure) -> CountsAs:
    row = STATES[state]
    by_kind: dict[str, CountsAs] = {
        "to accuracy": row.unreached,
        "at end": row.at_end,
        "spent": row.spent,
        "of data": "value",
        "along": "none",
    }
    return by_kind[measure.taken]
