"""Compares results cell by cell: two folders, or two labels of one folder.

A cell is a data set, a λ, an accuracy and a label. Its repeats are paired by their
number, which is their seed's; what the pairs say is corrected for the number of cells.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Any, Literal

import pandas as pd

from svmbench.errors import ConfigError, DataError, nearest
from svmbench.records.groups import Group, group_runs, heading, regularisation, short
from svmbench.records.read import Results
from svmbench.records.statistics import (
    LEVEL,
    MIN_PAIRS,
    Ratio,
    detectable,
    format_value,
    holm,
    median,
    paired_ratio,
    pairs_to_find,
    reached,
)
from svmbench.report.notices import disturbed_runs

Metric = Literal["seconds", "cpu_seconds", "passes", "epochs"]

#: How a metric is called in a title.
_NAMES = {
    "seconds": "seconds",
    "cpu_seconds": "processor seconds",
    "passes": "streaming passes",
    "epochs": "epochs",
}

#: The measures that are a machine's own: their ratios between machines are marked.
_OWN_TIMES = ("seconds", "cpu_seconds")

#: A difference that a comparison says how many repeats would be likely to find, and the share of
#: the scatter of seconds from which on that of processor seconds is not worth a word.
_TOLD_FACTOR, _CALMER = 1.05, 0.7

#: States of runs that were not made, or not to their end: nothing was measured.
_NOT_MEASURED = ("interrupted", "not_installed")

#: A repeat that was skipped counts as not reached only where the limit, which another
#: repeat of its cell had hit, is this many times what the other side took at most.
SKIPPED_FROM = 2.0

#: Facts in environment.json that make times incomparable, and those worth a warning.
_MACHINE = ("cpu", "logical_cpus", "architecture", "caches", "memory_gib", "system")
_SOFTWARE = ("svmbench", "git", "kernel", "governor", "python", "packages", "compiler", "flags")

Verdict = Literal["faster", "slower", "no difference shown", "undecided"]


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Parameters
    ----------
    results : Results
    label : str or None
        The only label that takes part; None for all, each matched with its namesake.
    """

    results: Results
    label: str | None = None


@dataclass(frozen=True)
class Compared:
    """One cell on both sides.

    Parameters
    ----------
    dataset : str
    stand_in : bool
    lam, C, threshold : float
    label : str
        Both sides' when they differ: ``a -> b``.
    a, b : tuple of float
        Paired samples, +inf where the accuracy was not reached.
    ratio : Ratio
        b over a.
    adjusted : float
        Its p-value, corrected over the page; nan where there was no test.
    verdict : {'faster', 'slower', 'no difference shown', 'undecided'}
        Of b.
    why : str
        What kept it undecided.
    """

    dataset: str
    stand_in: bool
    lam: float
    C: float
    threshold: float
    label: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    ratio: Ratio
    adjusted: float
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Comparison:
    """All cells that two sides have in common, judged together.

    Parameters
    ----------
    names : tuple of str
        What A and B are.
    metric : {'seconds', 'cpu_seconds', 'passes', 'epochs'}
    margin : float
        Factor up to which a difference does not count.
    cells : tuple of Compared
    warnings, notes : tuple of str
    machines_differ : bool
        Whether times are of different machines, or of unknown ones.
    """

    names: tuple[str, str]
    metric: Metric
    margin: float
    cells: tuple[Compared, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    machines_differ: bool

    @property
    def regressions(self) -> tuple[Compared, ...]:
        """The cells in which B is slower beyond the margin, or arrives less often."""
        return tuple(cell for cell in self.cells if cell.verdict == "slower")


def compare(a: Side, b: Side, metric: Metric = "seconds", margin: float = 1.05) -> Comparison:
    """Compare B with A in every cell they share.

    Parameters
    ----------
    a, b : Side
    metric : {'seconds', 'cpu_seconds', 'passes', 'epochs'}
    margin : float
        Factors from 1/margin to margin count as no difference.

    Raises
    ------
    ConfigError
        When they share no cell, a label is unknown, or the problems differ.
    DataError
        When a column of the metric is missing or is not numbers.
    """
    left, right = _groups(a), _groups(b)
    common = [key for key in left if key in right]
    thresholds = [t for t in a.results.thresholds if t in b.results.thresholds]
    if not common or not thresholds:
        what = "cell (data set, λ and label)" if thresholds else "accuracy"
        raise ConfigError(
            f"{a.results.folder} and {b.results.folder} have no {what} in common; "
            "compare results of one configuration"
        )
    pairs = [(left[key], right[key]) for key in common]
    for pair in pairs:
        _check_same_problem(*pair, a, b)
    measured = [
        _measure(one, other, threshold, metric, margin, (a, b))
        for one, other in pairs
        for threshold in thresholds
    ]
    machines_differ, warnings = _environments(a.results, b.results, metric)
    return Comparison(
        names=_names(a, b),
        metric=metric,
        margin=margin,
        cells=tuple(_judge(measured)),
        warnings=(*warnings, *_warnings(a, b, pairs, metric)),
        notes=tuple(_notes(a, b, measured, metric, margin, list(left), list(right))),
        machines_differ=machines_differ,
    )


# ---------------------------------------------------------------- matching


_Key = tuple[str, bool, float, str]


def _groups(side: Side) -> dict[_Key, Group]:
    """The groups of a side by what must match: those of a single label match any label."""
    labels = list(dict.fromkeys(side.results.runs["label"]))
    if side.label is not None and side.label not in labels:
        raise ConfigError(
            f"{side.results.folder}: no label {side.label!r}; {nearest(side.label, labels)}"
        )
    return {
        (group.dataset, group.stand_in, group.lam, group.label if side.label is None else ""): group
        for groups in group_runs(side.results).values()
        for group in groups
        if side.label in (None, group.label)
    }


def _check_same_problem(one: Group, other: Group, a: Side, b: Side) -> None:
    """Refuse to compare times to the optimum of two different problems."""
    first, second = one.runs.iloc[0], other.runs.iloc[0]
    for column in ("loss", "bias", "l1_radius", "m", "d", "nnz"):
        # What older results lack is empty there: there was one class of problems then.
        if _known_class(first[column]) != _known_class(second[column]):
            raise ConfigError(
                f"{one.dataset}, λ = {short(one.lam)}: {column} is {_plain(first[column])} in "
                f"{a.results.folder} and {_plain(second[column])} in {b.results.folder}; "
                "compare results on the same data"
            )
    lows = (one.middle("reference_dual"), other.middle("reference_dual"))
    highs = (one.middle("reference_primal"), other.middle("reference_primal"))
    if max(lows) > min(highs) * (1 + 1e-9):  # False with nan: nothing is known then
        raise ConfigError(
            f"{one.dataset}, λ = {short(one.lam)}: the certified optima of {a.results.folder} and "
            f"{b.results.folder} exclude each other; compare results on the same problem"
        )


def _known_class(value: Any) -> Any:
    """A bias that is not told is none, a radius that is not told infinite."""
    if value == "":
        return "none"
    return math.inf if isinstance(value, float) and math.isnan(value) else value


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value or "none"
    return "infinite" if math.isnan(value) else f"{value:,.12g}"


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True)
class _Measured:
    """A cell before it is judged."""

    one: Group
    other: Group
    label: str
    threshold: float
    a: tuple[float, ...]
    b: tuple[float, ...]
    ratio: Ratio
    missing: str


def _measure(
    one: Group,
    other: Group,
    threshold: float,
    metric: Metric,
    margin: float,
    sides: tuple[Side, Side],
) -> _Measured:
    samples = [_samples(g, threshold, metric, s) for g, s in zip((one, other), sides, strict=True)]
    times = [_samples(g, threshold, "seconds", s) for g, s in zip((one, other), sides, strict=True)]
    skipped = [_skipped(group) for group in (one, other)]
    for mine, theirs in ((0, 1), (1, 0)):
        if _limit(one if mine == 0 else other) < SKIPPED_FROM * _slowest(times[theirs]):
            samples[mine] = {
                r: x for r, x in samples[mine].items() if x < math.inf or r not in skipped[mine]
            }
    both = sorted(set(samples[0]) & set(samples[1]))
    a, b = (tuple(sample[repeat] for repeat in both) for sample in samples)
    made = [len(sample) for sample in samples]
    planned = [len(set(group.runs["repeat"])) for group in (one, other)]
    missing = [
        f"{name}: {planned[at] - made[at]} of {planned[at]} repeats not measured"
        for at, name in enumerate("AB")
        if made[at] < planned[at]
    ]
    label = one.label if one.label == other.label else f"{one.label} -> {other.label}"
    ratio = paired_ratio(a, b, margin=margin)
    return _Measured(one, other, label, threshold, a, b, ratio, "; ".join(missing))


def _samples(group: Group, threshold: float, metric: Metric, side: Side) -> dict[int, float]:
    """By repeat the least over its horizons; +inf where none was enough."""
    column = f"{metric}_to_{threshold!r}"
    if column not in group.runs:
        raise DataError(
            f"{side.results.folder / 'runs.csv'}: no column {column!r}; run the sweep again to "
            "rewrite it, or choose another --metric"
        )
    if metric == "passes" and group.runs["pass_unit"].isna().any():
        raise DataError(
            f"{side.results.folder / 'runs.csv'}: no seconds of a pass over {group.dataset}; run "
            "the sweep again with --fresh, or choose another --metric"
        )
    try:
        values = pd.to_numeric(group.runs[column])
    except ValueError:
        raise DataError(
            f"{side.results.folder / 'runs.csv'}: column {column!r} holds what is not a number; "
            "run the sweep again to rewrite it"
        ) from None
    found: dict[int, float] = {}
    for repeat, value, state in zip(group.runs["repeat"], values, group.runs["state"], strict=True):
        if not math.isnan(value):
            found[int(repeat)] = min(float(value), found.get(int(repeat), math.inf))
        elif state not in _NOT_MEASURED:
            found.setdefault(int(repeat), math.inf)
    return found


def _skipped(group: Group) -> set[int]:
    """Repeats of which some run was not made, because another repeat had hit the limit.

    Of a ladder that may be one rung; what lower ones had reached was measured all the same.
    """
    return {int(repeat) for repeat in group.runs.loc[group.runs["state"] == "skipped", "repeat"]}


def _limit(group: Group) -> float:
    """The time limit that the group ran into, in seconds; +inf if it did not."""
    limits = group.runs.loc[group.runs["state"] == "time_limit", "limit_seconds"].dropna()
    return float(limits.min()) if len(limits) else math.inf


def _slowest(times: dict[int, float]) -> float:
    return max(times.values(), default=math.inf)


# ---------------------------------------------------------------- judging


def _judge(measured: Sequence[_Measured]) -> Iterator[Compared]:
    tested = [at for at, cell in enumerate(measured) if not _too_little(cell)]
    corrected = holm([measured[at].ratio.p_value for at in tested])
    adjusted = dict(zip(tested, corrected, strict=True))
    for at, cell in enumerate(measured):
        p_value = adjusted.get(at, math.nan)
        verdict, why = _verdict(cell, p_value, len(tested))
        yield Compared(
            dataset=cell.one.dataset,
            stand_in=bool(cell.one.stand_in),  # numpy's is unknown to JSON
            lam=float(cell.one.lam),
            C=float(cell.one.runs["C"].iloc[0]),
            threshold=cell.threshold,
            label=cell.label,
            a=cell.a,
            b=cell.b,
            ratio=cell.ratio,
            adjusted=p_value,
            verdict=verdict,
            why=why,
        )


def _too_little(cell: _Measured) -> str:
    """Why a cell is not tested; empty if it is."""
    if len(cell.a) < MIN_PAIRS:
        pairs = f"{len(cell.a)} pair{'' if len(cell.a) == 1 else 's'} of the {MIN_PAIRS} needed"
        return f"{pairs}; {cell.missing}" if cell.missing else pairs
    return "neither reached it" if cell.ratio.test == "none" else ""


def _verdict(cell: _Measured, adjusted: float, family: int) -> tuple[Verdict, str]:
    if why := _too_little(cell):
        return "undecided", why
    if adjusted <= LEVEL:
        return ("slower" if cell.ratio.estimate > 1 else "faster"), ""
    if cell.ratio.attainable * family > LEVEL:
        return "undecided", f"{len(cell.a)} pairs cannot decide one of {family} comparisons"
    return "no difference shown", ""


# ---------------------------------------------------------------- what to beware of


def _names(a: Side, b: Side) -> tuple[str, str]:
    def name(side: Side) -> str:
        return str(side.results.folder) if side.label is None else side.label

    if a.label is None or a.results.folder == b.results.folder:
        return name(a), name(b)
    return f"{a.label} in {a.results.folder}", f"{b.label} in {b.results.folder}"


def _environments(a: Results, b: Results, metric: Metric) -> tuple[bool, list[str]]:
    """Whether times are of different machines, and what differs between the environments."""
    if a.folder == b.folder:
        return False, []
    if not (a.environment and b.environment):
        bare = " and ".join(str(r.folder) for r in (a, b) if not r.environment)
        return metric in _OWN_TIMES, [f"{bare}: no environment.json, so the machine is not known."]
    machine = list(_differences(a.environment, b.environment, _MACHINE))
    found = []
    if machine:
        marked = "; ratios of times are marked ‡" if metric in _OWN_TIMES else ""
        found.append(f"DIFFERENT MACHINES{marked}: {', '.join(machine)}.")
    software = list(_differences(a.environment, b.environment, _SOFTWARE))
    if software:
        found.append(f"Not the same on both sides: {', '.join(software)}.")
    return bool(machine) and metric in _OWN_TIMES, found


def _differences(a: dict[str, Any], b: dict[str, Any], keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        one, other = a.get(key), b.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _differences(one, other, sorted({*one, *other}))
        elif one != other:
            yield f"{key.replace('_', ' ')} {_known(one)} -> {_known(other)}"


def _known(fact: Any) -> str:
    return "unknown" if fact is None else str(fact)


def _warnings(
    a: Side, b: Side, pairs: Sequence[tuple[Group, Group]], metric: Metric
) -> Iterator[str]:
    stand_ins = dict.fromkeys(one.dataset for one, _ in pairs if one.stand_in)
    if stand_ins:
        yield f"{', '.join(stand_ins)}: a STAND-IN, not the data set itself."
    for name, at in (("A", 0), ("B", 1)):
        runs = pd.concat([pair[at].runs for pair in pairs])
        contended = int(runs["contended"].sum())
        if contended and metric != "epochs":
            yield f"{contended} of {len(runs)} runs of {name} shared the machine (contended)."
        said = disturbed_runs(runs)
        if said and metric != "epochs":
            yield f"{name}: {said}"
    if any(one is other or one.runs.equals(other.runs) for one, other in pairs):
        yield "A and B are the same runs: there is nothing to find."
    elif _seeds_differ(pairs):
        yield "The seeds of A and B differ: pairs have nothing in common but their number."


def _seeds_differ(pairs: Sequence[tuple[Group, Group]]) -> bool:
    """Whether a repeat has another seed on the other side; older results do not tell."""
    for one, other in pairs:
        if "seed" not in one.runs or "seed" not in other.runs:
            continue
        seeds = [dict(zip(g.runs["repeat"], g.runs["seed"], strict=True)) for g in (one, other)]
        if any(seeds[1].get(repeat, seed) != seed for repeat, seed in seeds[0].items()):
            return True
    return False


def _notes(
    a: Side,
    b: Side,
    measured: Sequence[_Measured],
    metric: Metric,
    margin: float,
    left: Sequence[_Key],
    right: Sequence[_Key],
) -> Iterator[str]:
    tests = {cell.ratio.test for cell in measured}
    beyond = f"beyond a factor of {margin:g}" if margin > 1 else "at all"
    yield (
        f"ratio: B over A, with its 95 % interval. faster, slower: {beyond}, at least {MIN_PAIRS} "
        f"pairs of repeats, p ≤ {LEVEL:g} after Holm's correction over the page. p is corrected, "
        "the intervals are each one's own."
    )
    if "t" in tests:
        yield "Without †: geometric mean of the paired ratios, Student's test of their logarithms."
    yield from _told_by_scatter(measured, metric, (a, b))
    if "ranks" in tests:
        yield (
            "†: not all runs arrived, and those count as +∞; exact Wilcoxon-Mann-Whitney test, "
            "so that slower may mean that B arrives less often."
        )
    if any(cell.missing for cell in measured):
        yield (
            "Not measured: interrupted, not installed, or skipped after a repeat that had hit a "
            f"time limit of less than {SKIPPED_FROM:g} times what the other side needed."
        )
    if a.results.folder == b.results.folder:
        yield (
            "Both were measured in one sweep, interleaved: what the machine did fell on both."
            if metric != "epochs"
            else "Both were measured in one sweep, with the same seeds."
        )
        yield (
            "Different methods are seen at checkpoints up to a tenth apart: a ratio that near to "
            "1 may be due to them."
        )
    else:
        yield (
            "The two folders were not measured interleaved: pairs share the seed, not the state "
            "of the machine. To be free of its drifts, put both in one sweep under two labels "
            "and compare these with --labels."
        )
    for name, mine, other in (("A", left, right), ("B", right, left)):
        if extra := [key for key in mine if key not in other]:
            yield f"In {name} alone: {_listed(extra)}."


def _told_by_scatter(
    measured: Sequence[_Measured], metric: Metric, sides: tuple[Side, Side]
) -> Iterator[str]:
    """How small a difference the pairs can show, and whether another metric would show more."""
    scatter = _scatter([(cell.a, cell.b) for cell in measured])
    if math.isnan(scatter) or scatter == 0 or metric == "epochs":
        return
    pairs = max(len(cell.a) for cell in measured)
    needed = pairs_to_find(scatter, _TOLD_FACTOR)
    more = "more than can be made" if needed is None else f"{needed} repeats"
    yield (
        f"The ratios of pairs scatter by {_percent(scatter)}: with {pairs} pairs a cell alone is "
        f"likely to show a factor of {detectable(scatter, pairs):.3g}; one of {_TOLD_FACTOR:g} "
        f"takes {more} (and --threshold 1)."
    )
    if metric != "seconds" or any((cell.one.runs["threads"] > 1).any() for cell in measured):
        return
    calmer = _scatter(list(_in_cpu_seconds(measured, sides)))
    if calmer < _CALMER * scatter:  # False with nan
        yield (
            f"Ratios of processor seconds scatter by {_percent(calmer)} here: --metric "
            "cpu_seconds shows smaller differences."
        )


def _in_cpu_seconds(
    measured: Sequence[_Measured], sides: tuple[Side, Side]
) -> Iterator[tuple[list[float], list[float]]]:
    """The cells' pairs in processor seconds, where both sides have them."""
    for cell in measured:
        if all(f"cpu_seconds_to_{cell.threshold!r}" in g.runs for g in (cell.one, cell.other)):
            one = _samples(cell.one, cell.threshold, "cpu_seconds", sides[0])
            other = _samples(cell.other, cell.threshold, "cpu_seconds", sides[1])
            both = sorted(set(one) & set(other))
            yield [one[r] for r in both], [other[r] for r in both]


def _scatter(cells: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Median over the cells of the standard deviation of their log-ratios; nan without any."""
    found = []
    for a, b in cells:
        logs = [
            math.log(y / x)
            for x, y in zip(a, b, strict=True)
            if 0 < x < math.inf and 0 < y < math.inf
        ]
        if len(logs) == len(a) >= MIN_PAIRS:
            found.append(stdev(logs))
    return median(found) if found else math.nan


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _listed(keys: Sequence[_Key], most: int = 5) -> str:
    texts = [
        ", ".join(filter(None, (heading(dataset, stand_in), f"λ = {short(lam)}", label)))
        for dataset, stand_in, lam, label in keys
    ]
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return "; ".join([*texts[:most], *more])


# ---------------------------------------------------------------- printing

HEADER = ("data", "λ", "ε", "label", "A", "B", "B/A [interval]", "p (Holm)", "verdict on B")


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The fields of the printed table, a row a cell, below `HEADER`."""
    return [_row(cell, comparison.machines_differ) for cell in comparison.cells]


def _row(cell: Compared, marked: bool) -> tuple[str, ...]:
    verdict = cell.verdict if not cell.why else f"{cell.verdict} ({cell.why})"
    mark = ("†" if cell.ratio.test == "ranks" else "") + ("‡" if marked else "")
    return (
        heading(cell.dataset, cell.stand_in),
        regularisation(cell.lam, cell.C),
        short(cell.threshold),
        cell.label,
        _sample_text(cell.a),
        _sample_text(cell.b),
        _ratio_text(cell.ratio) + mark,
        "" if math.isnan(cell.adjusted) else _p_text(cell.adjusted),
        verdict,
    )


def _sample_text(samples: Sequence[float]) -> str:
    if not samples:
        return "–"
    middle = median(samples)
    text = format_value(middle, math.nan, math.nan)
    return text if all(map(math.isfinite, samples)) else f"{text} ({reached(samples)})"


def _ratio_text(ratio: Ratio) -> str:
    if math.isnan(ratio.estimate):
        return "–"
    low, high = ratio.low, ratio.high
    text = format_value(ratio.estimate, low, high)
    if low == high or ratio.pairs < 2:
        return text
    return f"{text} [{format_value(low, low, high)}, {format_value(high, low, high)}]"


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def summary(comparison: Comparison) -> str:
    """How many cells came out how, in a line."""
    order = ("slower", "faster", "no difference shown", "undecided")
    verdicts = [cell.verdict for cell in comparison.cells]
    counts = [f"{verdicts.count(v)} {v}" for v in order if v in verdicts]
    return f"B against A in {len(verdicts)} cells: {', '.join(counts)}."


def title(comparison: Comparison) -> str:
    """What is compared, in a line."""
    a, b = comparison.names
    return f"{_NAMES[comparison.metric]} to relative accuracy ε: A = {a}, B = {b}"


def to_markdown(comparison: Comparison) -> str:
    """The comparison as a Markdown page."""
    fields = [HEADER, ("---",) * len(HEADER), *rows(comparison)]
    table = ["| " + " | ".join(f.replace("|", "\\|") for f in line) + " |" for line in fields]
    warnings = [f"**Warning:** {warning}\n" for warning in comparison.warnings]
    notes = [f"- {note}" for note in comparison.notes]
    parts = [f"# {title(comparison)}\n", *warnings, *table, "", summary(comparison), "", *notes]
    return "\n".join(parts) + "\n"


def to_json(comparison: Comparison) -> str:
    """The comparison as JSON; null is +inf in samples and ratios, and not tested in p."""
    return json.dumps(
        {
            "schema_version": 1,
            "a": comparison.names[0],
            "b": comparison.names[1],
            "metric": comparison.metric,
            "margin": comparison.margin,
            "machines_differ": comparison.machines_differ,
            "regressions": len(comparison.regressions),
            "cells": [_record(cell) for cell in comparison.cells],
            "warnings": list(comparison.warnings),
            "notes": list(comparison.notes),
        },
        indent=2,
        ensure_ascii=False,
    )


def _record(cell: Compared) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "stand_in": cell.stand_in,
        "lambda": cell.lam,
        "C": cell.C,
        "accuracy": cell.threshold,
        "label": cell.label,
        "a": [_finite(sample) for sample in cell.a],
        "b": [_finite(sample) for sample in cell.b],
        "a_median": _finite(median(cell.a)) if cell.a else None,
        "b_median": _finite(median(cell.b)) if cell.b else None,
        "ratio": _finite(cell.ratio.estimate),
        "ratio_low": _finite(cell.ratio.low),
        "ratio_high": _finite(cell.ratio.high),
        "test": cell.ratio.test,
        "p_value": None if math.isnan(cell.adjusted) else cell.ratio.p_value,
        "adjusted_p_value": _finite(cell.adjusted),
        "verdict": cell.verdict,
        "why": cell.why,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
