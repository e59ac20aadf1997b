"""One measure of one row: its samples, their median, and how a table prints it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from svmbench.papers.measured import MeasuredRow
from svmbench.papers.places import TO_ACCURACY, Measure
from svmbench.records.groups import Group, short
from svmbench.records.statistics import median, median_interval, paired_ratio, reached
from svmbench.report.tables import digits_apart, interval_text, threshold_cell, threshold_summary

#: Measures that are shares, which tables print in per cent.
SHARES = ("test_error", "test_accuracy", "train_error")

#: Measures of a diverged run that count as +inf, so that failing improves no median.
_WORST = (
    "train_seconds", "train_epochs", "seconds_a_pass", "seconds_with_evaluation", "primal", "J",
    "sum_objective", "accuracy", "suboptimality",
)  # fmt: skip

#: What the optimum is in the unit of an objective, by the measure's name.
_OBJECTIVES = {
    "primal": lambda group: group.middle("reference_dual"),
    "J": lambda group: group.middle("reference_dual") / group.lam,
    "sum_objective": lambda group: group.middle("reference_dual") * group.middle("m"),
}

#: States of runs that have no numbers, in the order in which they are told.
_FAULTS = ("failed", "out_of_memory", "not_installed", "interrupted", "diverged", "skipped")


@dataclass(frozen=True)
class Number:
    """One measure of one row of the runs.

    Parameters
    ----------
    text : str
        As a table prints it.
    median, low, high, coverage : float
        nan where nothing is known, +inf where most runs did not arrive.
    reached, runs : int
        Repeats with a finite value, and all.
    at_least : float
        A bound on the median where that is +inf; nan where there is none.
    limit : str
        What kept the others from a value.
    hint : str
        More about it.
    """

    text: str
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    coverage: float = math.nan
    reached: int = 0
    runs: int = 0
    at_least: float = math.nan
    limit: str = ""
    hint: str = ""


def number(row: MeasuredRow, measure: Measure) -> Number:
    """The measure of a row's repeats, in the unit of ``measure.words`` (shares as shares)."""
    if measure.what in TO_ACCURACY:
        return _to_accuracy(row, measure)
    return _at_end(row, measure)


def _to_accuracy(row: MeasuredRow, measure: Measure) -> Number:
    group = row.group
    assert measure.at is not None
    if f"seconds_to_{measure.at!r}" not in group.runs:
        return Number("not asked for", runs=len(group.repeats))
    summary = threshold_summary(
        group, measure.at, "time" if measure.what == "seconds" else "epochs"
    )
    cell = threshold_cell(summary)
    return Number(
        text=cell.text,
        median=summary.median,
        low=summary.low,
        high=summary.high,
        coverage=summary.coverage,
        reached=sum(map(math.isfinite, summary.samples)),
        runs=len(summary.samples),
        at_least=math.nan if math.isfinite(summary.median) else summary.at_least,
        limit=summary.limit,
        hint=cell.hint,
    )


def _at_end(row: MeasuredRow, measure: Measure) -> Number:
    samples = end_samples(row, measure)
    known = [value for value in samples if not math.isnan(value)]
    fault = _fault(row.group)
    if not known:
        return Number(fault or "—", runs=len(samples), limit=fault)
    middle = median(known)
    low, high, coverage = median_interval(known)
    finite = sum(map(math.isfinite, known))
    if math.isfinite(middle):
        text = _printed(row.group, measure, middle, low, high)
        if finite < len(samples):
            text += f", {finite} of {len(samples)}"
    else:
        text = ", ".join(filter(None, [fault or "not reached", _partly(samples)]))
    short_of = fault if finite < len(samples) else ""
    return Number(text, middle, low, high, coverage, finite, len(samples), limit=short_of)


def _partly(samples: list[float]) -> str:
    finite = [math.inf if math.isnan(value) else value for value in samples]
    return reached(finite) if any(map(math.isfinite, finite)) else ""


def end_samples(row: MeasuredRow, measure: Measure) -> list[float]:
    """The measure of each repeat; +inf for a diverged run, nan where there is none."""
    samples = row.samples(measure)
    states = row.group.repeats["state"]
    return [
        math.inf if state == "diverged" and measure.what in _WORST else value
        for value, state in zip(samples, states, strict=True)
    ]


def _printed(group: Group, measure: Measure, middle: float, low: float, high: float) -> str:
    if measure.what in SHARES:
        return interval_text(100 * middle, 100 * low, 100 * high)
    optimum = _OBJECTIVES.get(measure.what)
    if optimum is None or math.isnan(best := optimum(group)):
        return interval_text(middle, low, high)
    return digits_apart(middle, best)


def _fault(group: Group) -> str:
    """In words, what most of the runs without a value came to."""
    states = Counter(state for state in group.repeats["state"] if state in _FAULTS)
    if not states:
        return ""
    most = max(states.values())
    return next(state for state in _FAULTS if states[state] == most).replace("_", " ")


# ---------------------------------------------------------------- ratios


def ratio(own: MeasuredRow, other: MeasuredRow, measure: Measure) -> Number:
    """The measure of one row over that of another, repeat by repeat."""
    ours, theirs = _by_repeat(own, measure), _by_repeat(other, measure)
    pairs = [(theirs[at], ours[at]) for at in ours if at in theirs]
    pairs = [(a, b) for a, b in pairs if not (math.isnan(a) or math.isnan(b) or min(a, b) < 0)]
    if not pairs:
        return Number("—")
    found = paired_ratio([a for a, _ in pairs], [b for _, b in pairs])
    bounded = _bounded(number(own, measure), number(other, measure))
    if math.isfinite(found.estimate) and found.estimate > 0 and not bounded:
        low, high = (found.low, found.high) if len(pairs) > 1 else (found.estimate,) * 2
        text = interval_text(found.estimate, low, high)
    else:
        text = bounded or "—"
    known = text not in ("—", bounded)
    return Number(
        text,
        found.estimate if known else math.nan,
        found.low if known else math.nan,
        found.high if known else math.nan,
        0.95,
        len(pairs),
        len(pairs),
        limit=bounded,
    )


def _by_repeat(row: MeasuredRow, measure: Measure) -> dict[int, float]:
    samples = row.samples(measure) if measure.what in TO_ACCURACY else end_samples(row, measure)
    return dict(zip(map(int, row.group.repeats["repeat"]), samples, strict=True))


def _bounded(own: Number, other: Number) -> str:
    """The bound that is left of a ratio when one of the two was not reached."""
    if own.median == math.inf and math.isfinite(other.median) and other.median > 0:
        least = own.at_least / other.median
        return f"≥ {short(least, 2)}" if least > 0 else "not reached"
    if other.median == math.inf and math.isfinite(own.median) and other.at_least > 0:
        return f"≤ {short(own.median / other.at_least, 2)}"
    return ""


# ---------------------------------------------------------------- words


def heading_of(measure: Measure) -> str:
    """A measure above its column: as `Measure.words`, shares in per cent."""
    return f"{measure.words} [%]" if measure.what in SHARES else measure.words


def published_text(measure: Measure, value: float | str) -> str:
    """A published value as a table prints it."""
    if isinstance(value, str):
        return value
    return short(100 * value, 6) if measure.what in SHARES else short(value, 6)
