"""Medians of a group's samples of a measure that is taken to an accuracy, and their bounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from weakref import WeakKeyDictionary

from svmbench.records.columns import of_accuracy
from svmbench.records.groups import Group
from svmbench.records.measures import MEASURES, Asked
from svmbench.records.samples import of_repeats, samples
from svmbench.records.spelling import short
from svmbench.records.states import HORIZON, LIMITED, in_words
from svmbench.records.statistics import Estimate, estimate, median


@dataclass(frozen=True)
class Summary(Estimate):
    """The repeats of a group at one accuracy, in the unit of a measure."""

    _: KW_ONLY
    accuracy: float
    # median with the time each unsuccessful run had spent when it was stopped instead of its
    # unknown time: a lower bound if the median is +inf
    at_least: float
    limit: str  # how most of the repeats that did not reach it ended; without samples, most repeats
    relapses: int  # runs that were above the accuracy again after they had first reached it
    # median over those runs of the time they were last above; nan if there are none
    last_above_seconds: float
    best: bool = False  # whether no other row of the table is faster beyond doubt

    @property
    def absent(self) -> bool:
        """Whether no repeat has reached the accuracy, of several."""
        return len(self.samples) > 1 and not self.reached


#: Many tables and plots show the summaries of a group.
_known: WeakKeyDictionary[Group, dict[Asked, Summary]] = WeakKeyDictionary()


def summary(group: Group, asked: Asked) -> Summary:
    """The summary of a group's repeats at an accuracy; computed once for each group."""
    known = _known.setdefault(group, {})
    if asked not in known:
        known[asked] = _summary(group, asked)
    return known[asked]


def _summary(group: Group, asked: Asked) -> Summary:
    assert asked.at is not None
    found = samples(group, asked)
    values = tuple(found.values())
    spent = {  # inf where its unit is nearly 0
        repeat: expense if math.isfinite(expense) else 0.0
        for repeat, expense in of_repeats(group, Asked(asked.measure.spent)).items()
    }
    relapses = _relapses(group, asked.at)
    at_least = _at_least(group, asked, found, spent) if values else math.nan
    unreached = [repeat for repeat, value in found.items() if math.isinf(value)]
    limit = limit_words(group, unreached if found else list(group.ends))
    return Summary(
        **vars(estimate(values)),
        accuracy=asked.at,
        at_least=at_least,
        limit=_in_its_unit(limit, asked, at_least),
        relapses=len(relapses),
        last_above_seconds=median(relapses) if relapses else math.nan,
    )


def _in_its_unit(limit: str, asked: Asked, at_least: float) -> str:
    """A limit as a bound in the measure's unit: seconds say nothing in a column of passes."""
    seconds = MEASURES[asked.measure.spent].unit == "s"
    same = limit.endswith(" s") if seconds else limit.endswith(" epochs") and asked.name == "epochs"
    if limit[:1] != "≥" or same or not at_least > 0:
        return limit
    return f"≥ {short(at_least, 2)}{' s' * seconds}"


def _relapses(group: Group, accuracy: float) -> list[float]:
    """When the runs that lost the accuracy again were last above it."""
    columns = [of_accuracy(name, accuracy) for name in ("seconds_to", "last_above_seconds")]
    if not set(columns) <= set(group.repeats):
        return []
    first, last = (group.column(name) for name in columns)
    # False if either is nan.
    return [above for reached, above in zip(first, last, strict=True) if above > reached]


def _at_least(
    group: Group, asked: Asked, found: dict[int, float], spent: dict[int, float]
) -> float:
    """Median of the samples, with the time spent by repeats that did not reach the accuracy.

    A skipped repeat is assumed to meet the limit like the one it was skipped for.
    """
    ends = group.ends
    stopped = [spent.get(repeat, 0.0) for repeat in found if ends[repeat] == "time_limit"]
    limits: dict[int, float] = {}
    if asked.measure.limit in group.runs:
        limits = dict(zip(ends, group.column(asked.measure.limit), strict=True))
    known = []
    for repeat, sample in found.items():
        limit = limits.get(repeat, math.nan)
        if math.isfinite(sample):
            known.append(sample)
        elif ends[repeat] in LIMITED and not math.isnan(limit):
            known.append(limit)
        elif ends[repeat] == "skipped":
            known.append(min(stopped, default=0.0))
        else:
            known.append(spent.get(repeat, 0.0))
    return median(known)


def limit_words(group: Group, repeats: Sequence[int]) -> str:
    """How most of some repeats ended, in words; empty without repeats."""
    if not repeats:
        return ""
    ends = group.ends
    counted = Counter(
        "time_limit" if ends[repeat] in LIMITED else ends[repeat] for repeat in repeats
    )
    state = counted.most_common(1)[0][0]
    missed = group.repeats[group.repeats["repeat"].isin(repeats)]
    if state == "time_limit" and not math.isnan(limit := missed["limit_seconds"].min()):
        return f"≥ {short(limit)} s"
    if state == "max_steps" and not math.isnan(limit := missed["max_epochs"].min()):
        return f"≥ {short(limit)} epochs"
    if state == "converged":
        return "stopped before"  # by the solver's own rule or certificate
    return "not reached" if state == HORIZON else in_words(state)
