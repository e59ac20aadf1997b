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
from svmbench.records.samples import measured, of_repeats, samples
from svmbench.records.spelling import short
from svmbench.records.states import ENDED_BADLY, STATES, in_words
from svmbench.records.statistics import UNKNOWN, Estimate, estimate, median
from svmbench.records.summaries import limit_words, summary
from svmbench.report.numbers import digits_apart, interval_text
from svmbench.report.pairing import pairs_in_time, steadier
from svmbench.report.tables.accuracy import accuracy_cell
from svmbench.report.tables.words import fault_words


@dataclass(frozen=True)
class Number:
    text: str  # as printed in a table
    found: Estimate = UNKNOWN
    reached: int = 0  # repeats with a value
    at_least: float = math.nan  # a bound on the median if that is +inf; nan if there is none
    limit: str = ""  # why the others have no value
    hint: str = ""  # further details


def number(row: MeasuredRow, asked: Asked) -> Number:
    """The measure of a row's repeats, in the unit of ``asked.words`` (shares as shares)."""
    if asked.measure.to_accuracy:
        return _to_accuracy(row.group, asked)
    return _at_end(row.group, asked)


def _to_accuracy(group: Group, asked: Asked) -> Number:
    assert asked.at is not None
    if of_accuracy("seconds_to", asked.at) not in group.runs:
        return Number("not asked for")
    found = summary(group, asked)
    if not found.samples:
        return Number(found.limit, limit=found.limit)
    cell = accuracy_cell(found)
    return Number(
        text=cell.text,
        found=found,
        reached=found.reached,
        at_least=math.nan if math.isfinite(found.median) else found.at_least,
        limit=found.limit,
        hint=cell.hint,
    )


def _at_end(group: Group, asked: Asked) -> Number:
    values, known = samples(group, asked), measured(group, asked)
    repeats, lost = len(group.repeats), [r for r in group.ends if r not in known]
    if not values:
        fault = limit_words(group, [r for r in lost if not _ended_well(group, r)])
        return Number(fault or "—", limit=fault)
    found = estimate(values.values())
    limit = limit_words(group, lost)
    if fault := fault_words(group, asked):
        text = f"{fault}, {len(known)} of {repeats}" if known else fault
    else:
        text = _printed(group, asked, found)
        if lost:
            text += f", {len(known)} of {repeats}"
    at_least = math.nan
    if math.isinf(found.median) and asked.measure.taken == "spent":
        spent = of_repeats(group, asked)
        at_least = median([0.0 if math.isnan(spent[r]) else spent[r] for r in values])
    return Number(text, found, len(known), at_least, limit)


def range_text(row: MeasuredRow, asked: Asked) -> str:
    values = [asked.measure.scale * value for value in measured(row.group, asked).values()]
    if not values:
        return "—"
    return f"{short(min(values), 4)} to {short(max(values), 4)}"


def _ended_well(group: Group, repeat: int) -> bool:
    return STATES[group.ends[repeat]].at_end == "value"


def _printed(group: Group, asked: Asked, found: Estimate) -> str:
    if asked.measure.taken == "of data":
        return published_text(asked, found.median)
    best = asked.measure.optimum(group.middle("reference_dual"), group.lam, group.middle("m"))
    if best is not None and not math.isnan(best):
        return digits_apart(found.median, best)
    scale = asked.measure.scale
    return interval_text(scale * found.median, scale * found.low, scale * found.high)


# ---------------------------------------------------------------- ratios


def ratio(own: MeasuredRow, other: MeasuredRow, asked: Asked) -> Number:
    """The measure of one row over that of another: the median over the repeats, pair by pair.

    Its interval is valid for any number of repeats and any reason to stop, so that it needs more of
    them than one for a fixed number. As long as neither end is known, it is absent.
    """
    groups = other.group, own.group
    both = pairs_in_time(*groups, steadier(groups, asked))
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
    if not known:
        return Number(text, limit=bounded)
    return Number(text, Estimate((), found.estimate, found.low, found.high, 1.0 - LEVEL))


#: Ends of runs that would not have reached an accuracy with more time, in words.
_NEVER = frozenset(map(in_words, ENDED_BADLY))


def _bounded(own: Number, other: Number) -> str:
    """The remaining bound of a ratio if one of the two met a limit first."""
    if {own.limit, other.limit} & _NEVER:
        return ""
    ours, theirs = own.found.median, other.found.median
    if ours == math.inf and math.isfinite(theirs) and theirs > 0:
        least = own.at_least / theirs
        return f"≥ {short(least, 2)}" if least > 0 else "not reached"
    if theirs == math.inf and math.isfinite(ours) and other.at_least > 0:
        return f"≤ {short(ours / other.at_least, 2)}"
    return ""


# ---------------------------------------------------------------- words


def published_text(asked: Asked, value: float | str) -> str:
    """A published value, or a fact of the data, as printed in a table."""
    return value if isinstance(value, str) else short(asked.measure.scale * value, 6)
