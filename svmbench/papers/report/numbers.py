"""One measure of one row: its samples, their median, and how a table prints it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from svmbench.claims.measured import MeasuredRow
from svmbench.evidence.page import LEVEL, judge
from svmbench.evidence.questions import paired
from svmbench.records.columns import of_accuracy
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.samples import measured, of_repeats, samples, states
from svmbench.records.spelling import short
from svmbench.records.states import ENDED_BADLY, STATES, in_words
from svmbench.records.statistics import median, median_interval
from svmbench.records.summaries import limit_words, summary
from svmbench.report.numbers import digits_apart, interval_text
from svmbench.report.pairing import pairs_in_time
from svmbench.report.tables.accuracy import accuracy_cell
from svmbench.report.tables.words import fault_words


@dataclass(frozen=True)
class Number:
    """One measure of one row of the runs."""

    text: str  # as printed in a table
    # median, low, high, coverage: nan if nothing is known, +inf if most runs did not reach the
    # accuracy
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    coverage: float = math.nan
    reached: int = 0  # reached, runs: repeats with a finite value, and all repeats
    runs: int = 0
    at_least: float = math.nan  # a bound on the median if that is +inf; nan if there is none
    limit: str = ""  # why the others have no value
    hint: str = ""  # further details


def number(row: MeasuredRow, asked: Asked) -> Number:
    """The measure of a row's repeats, in the unit of ``asked.words`` (shares as shares)."""
    if asked.measure.to_accuracy:
        return _to_accuracy(row.group, asked)
    return _at_end(row.group, asked)


def _to_accuracy(group: Group, asked: Asked) -> Number:
    repeats = len(group.repeats)
    assert asked.at is not None
    if of_accuracy("seconds_to", asked.at) not in group.runs:
        return Number("not asked for", runs=repeats)
    found = summary(group, asked)
    if not found.samples:
        return Number(found.limit, runs=repeats, limit=found.limit)
    cell = accuracy_cell(found)
    return Number(
        text=cell.text,
        median=found.median,
        low=found.low,
        high=found.high,
        coverage=found.coverage,
        reached=sum(map(math.isfinite, found.samples)),
        runs=len(found.samples),
        at_least=math.nan if math.isfinite(found.median) else found.at_least,
        limit=found.limit,
        hint=cell.hint,
    )


def _at_end(group: Group, asked: Asked) -> Number:
    found, known = samples(group, asked), measured(group, asked)
    repeats, lost = len(group.repeats), [r for r in states(group) if r not in known]
    if not found:
        fault = limit_words(group, [r for r in lost if not _ended_well(group, r)])
        return Number(fault or "—", runs=repeats, limit=fault)
    values = list(found.values())
    middle = median(values)
    low, high, coverage = median_interval(values)
    limit = limit_words(group, lost)
    if fault := fault_words(group, asked):
        text = f"{fault}, {len(known)} of {repeats}" if known else fault
    else:
        text = _printed(group, asked, middle, low, high)
        if lost:
            text += f", {len(known)} of {repeats}"
    at_least = math.nan
    if math.isinf(middle) and asked.measure.taken == "spent":
        spent = of_repeats(group, asked)
        at_least = median([0.0 if math.isnan(spent[r]) else spent[r] for r in found])
    return Number(text, middle, low, high, coverage, len(known), repeats, at_least, limit)


def range_text(row: MeasuredRow, asked: Asked) -> str:
    """The least and the largest value of a row's repeats."""
    values = [asked.measure.scale * value for value in measured(row.group, asked).values()]
    if not values:
        return "—"
    return f"{short(min(values), 4)} to {short(max(values), 4)}"


def _ended_well(group: Group, repeat: int) -> bool:
    return STATES[states(group)[repeat]].at_end == "value"


def _printed(group: Group, asked: Asked, middle: float, low: float, high: float) -> str:
    if asked.measure.taken == "of data":
        return published_text(asked, middle)
    best = asked.measure.optimum(group.middle("reference_dual"), group.lam, group.middle("m"))
    if best is not None and not math.isnan(best):
        return digits_apart(middle, best)
    scale = asked.measure.scale
    return interval_text(scale * middle, scale * low, scale * high)


# ---------------------------------------------------------------- ratios


def ratio(own: MeasuredRow, other: MeasuredRow, asked: Asked) -> Number:
    """The measure of one row over that of another: the median over the repeats, pair by pair.

    Its interval is valid for any number of repeats and any reason to stop, so that it needs more of
    them than one for a fixed number. As long as neither end is known, it is absent.
    """
    both = pairs_in_time(other.group, own.group, asked)
    if not len(both):
        return Number("—")
    (found,) = judge([paired(both.a, both.b, low=1.0)])
    bounded = _bounded(number(own, asked), number(other, asked))
    known = math.isfinite(found.estimate) and found.estimate > 0 and not bounded
    if not known:
        text = bounded or "—"
    elif found.low > 0 or math.isfinite(found.high):
        text = interval_text(found.estimate, found.low, found.high)
    else:
        text = short(found.estimate, 2)
    return Number(
        text,
        found.estimate if known else math.nan,
        found.low if known else math.nan,
        found.high if known else math.nan,
        1.0 - LEVEL,
        len(both),
        len(both),
        limit=bounded,
    )


#: Ends of runs that would not have reached an accuracy with more time, in words.
_NEVER = frozenset(map(in_words, ENDED_BADLY))


def _bounded(own: Number, other: Number) -> str:
    """The remaining bound of a ratio if one of the two met a limit first."""
    if {own.limit, other.limit} & _NEVER:
        return ""
    if own.median == math.inf and math.isfinite(other.median) and other.median > 0:
        least = own.at_least / other.median
        return f"≥ {short(least, 2)}" if least > 0 else "not reached"
    if other.median == math.inf and math.isfinite(own.median) and other.at_least > 0:
        return f"≤ {short(own.median / other.at_least, 2)}"
    return ""


# ---------------------------------------------------------------- words


def published_text(asked: Asked, value: float | str) -> str:
    """A published value, or a fact of the data, as printed in a table."""
    return value if isinstance(value, str) else short(asked.measure.scale * value, 6)
