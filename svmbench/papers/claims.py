"""Holds the claims of the papers against the runs: findings, not tests of anything.

Every problem of the runs (sweep, data set, λ) that a claim is about is a **cell** with a
verdict of its own; a claim holds if all its cells hold, does not hold if one contradicts it
beyond doubt (and then it is said in how many), and is undecided otherwise.

**Comparisons** (faster, order, ratio) are between the repeats of two solvers, which belong
together by their number. A sample is what a repeat took; one that did not arrive counts as
+inf (see `svmbench.records.states`), one of which nothing is known does not count. Two ways
lead to a verdict beyond doubt:

- at least `MIN_PAIRS` pairs and a `paired_ratio` on whose p-value, adjusted
  after Holm for all comparisons judged together, the level `LEVEL` can be kept;
- at least `FEW_PAIRS` pairs of which every sample of the one solver lies beyond every sample
  of the other by a factor of `APART` more than is claimed. That is no test, and what varies
  between repeats of a run is far less: it is how runs that arrive are told from such that do
  not, and what can be said of large effects before all repeats are made.

*faster*: the measure of the slower is at least ``by`` times that of the faster. *order*: each
solver of the list is not above the next, up to the factor ``tie``: as *faster* with 1/tie.
*ratio*: the factor lies between published/within and published*within; both sides are tested.
With ``over_dataset`` the two are runs on two data sets of one sweep, at the same λ.

**reaches** holds if all repeats arrive at the accuracy, or if the interval of the median lies
within the bound; it does not hold if most repeats do not arrive, or the interval lies beyond.
**fails** holds if no repeat arrives within its limits, which are said, and does not if most do.
A crash is neither: no repeat of a solver that crashed says anything.

The intervals printed are of 95 % each, on their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from svmbench.papers.measured import MeasuredRow
from svmbench.papers.model import Claim, Item, Place
from svmbench.records.groups import heading, short
from svmbench.records.measures import Asked
from svmbench.records.samples import pairs, samples, states
from svmbench.records.states import FAULTS, RERUN
from svmbench.records.statistics import (
    LEVEL,
    MIN_PAIRS,
    format_value,
    holm,
    median,
    median_interval,
    paired_ratio,
)

Verdict = Literal["holds", "does not hold", "undecided", "not testable here"]

#: Pairs, and the factor between all their samples, from which no test is needed.
FEW_PAIRS = 3
APART = 2.0

#: Cells whose numbers a summary gives.
_TOLD = 3


@dataclass(frozen=True)
class Part:
    """One thing a cell's verdict rests on.

    Parameters
    ----------
    text : str
        The numbers.
    verdict : str
        What it says, if it is beyond doubt.
    p_value : float, optional
        Of the test by which it says so; None where no test is needed.
    """

    text: str
    verdict: Verdict
    p_value: float | None = None

    def decided(self, adjusted: float | None) -> Verdict:
        """Its verdict when its p-value comes to so much among all that are judged together."""
        doubtful = adjusted is not None and adjusted >= LEVEL
        return "undecided" if doubtful else self.verdict


@dataclass(frozen=True)
class CellFinding:
    """What is found on one problem.

    Parameters
    ----------
    place : str
        Sweep (where there are several), data set and λ.
    verdict : str
    text : str
        The numbers.
    stand_in : bool
    parts : tuple of Part
    """

    place: str
    verdict: Verdict
    text: str
    stand_in: bool
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A claim and what is found of it.

    Parameters
    ----------
    claim : Claim
    verdict : str
    summary : str
        In a line, with the numbers and their interval.
    cells : tuple of CellFinding
    """

    claim: Claim
    verdict: Verdict
    summary: str
    cells: tuple[CellFinding, ...] = ()


def judge(item: Item, rows: Sequence[MeasuredRow]) -> list[Finding]:
    """The findings of an item's claims, corrected for one another alone; see `judge_all`.

    Parameters
    ----------
    item : Item
    rows : sequence of MeasuredRow
        Of all its sweeps that have runs.
    """
    several = len({row.sweep for row in rows}) > 1
    return judge_all([_finding(claim, rows, several) for claim in item.claims])


def judge_all(findings: Sequence[Finding]) -> list[Finding]:
    """The same findings with verdicts for which one level holds together (Holm).

    Parameters
    ----------
    findings : sequence of Finding
        All that appear on one page.
    """
    values = [part.p_value for part in _parts(findings) if part.p_value is not None]
    adjusted = iter(holm(values))
    return [_decided(finding, adjusted) for finding in findings]


def _parts(findings: Sequence[Finding]) -> Iterator[Part]:
    for finding in findings:
        for cell in finding.cells:
            yield from cell.parts


def _decided(finding: Finding, adjusted: Iterator[float]) -> Finding:
    if not finding.cells:
        return finding
    cells = []
    for cell in finding.cells:
        verdicts = [
            part.decided(None if part.p_value is None else next(adjusted)) for part in cell.parts
        ]
        cells.append(replace(cell, verdict=_together(verdicts)))
    verdict = _together([cell.verdict for cell in cells])
    return replace(finding, verdict=verdict, summary=_summary(verdict, cells), cells=tuple(cells))


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    if "does not hold" in verdicts:
        return "does not hold"
    return "holds" if all(verdict == "holds" for verdict in verdicts) else "undecided"


def _summary(verdict: Verdict, cells: Sequence[CellFinding]) -> str:
    """In how many cells, and the numbers of those the verdict rests on."""
    telling = [cell for cell in cells if cell.verdict == verdict]
    counts = Counter(cell.verdict for cell in cells)
    said = ", ".join(
        f"{what} in {counts[what]}"
        for what in ("holds", "does not hold", "undecided")
        if counts[what]
    )
    many = f"{said} of {len(cells)}: " if len(cells) > 1 else ""
    numbers = "; ".join(
        cell.text if len(cells) == 1 else f"{cell.place}: {cell.text}" for cell in telling[:_TOLD]
    )
    more = f"; and {len(telling) - _TOLD} more" if len(telling) > _TOLD else ""
    real = [cell for cell in cells if not cell.stand_in]
    origin = (
        ""
        if len(real) == len(cells)
        else " (stand-ins only)"
        if not real
        else (f" ({len(cells) - len(real)} of {len(cells)} on stand-ins)")
    )
    return f"{many}{numbers}{more}{origin}"


# ---------------------------------------------------------------- one claim


def _finding(claim: Claim, rows: Sequence[MeasuredRow], several: bool) -> Finding:
    if claim.kind == "untestable":
        return Finding(claim, "not testable here", claim.why or "")
    if claim.over_dataset is not None:
        moved, together = _brought_together(claim, rows)
        return replace(_finding(moved, together, several), claim=claim)
    labels = _labels(claim)
    problems: dict[tuple[str, str, bool, float], dict[str, MeasuredRow]] = {}
    for row in rows:
        if row.group.label in labels and row.lies_in(claim.where):
            group = row.group
            key = (row.sweep, group.dataset, group.stand_in, group.lam)
            problems.setdefault(key, {})[group.label] = row
    if not problems:
        return Finding(claim, "not testable here", "there are no runs of it")
    run: dict[str, set[str]] = {}
    for sweep, *_ in problems:
        run[sweep] = {row.group.label for row in rows if row.sweep == sweep} & set(labels)
    cells = []
    for (sweep, *_), found in problems.items():
        wanted = _wanted(claim, set(labels), run[sweep], list(run.values()))
        if wanted is not None:
            cells.append(_cell(claim, found, sorted(wanted - set(found)), several))
    return Finding(claim, "undecided", "", tuple(cells))


def _brought_together(claim: Claim, rows: Sequence[MeasuredRow]) -> tuple[Claim, list[MeasuredRow]]:
    """A claim on two data sets as one on the first, and its rows.

    The rows of the second stand beside those of the first, under a label that names it.
    """
    assert claim.over_dataset is not None
    label = f"{claim.over} on {claim.over_dataset}"
    place = Place(dataset=(claim.over_dataset,))
    found = []
    for row in rows:
        group = row.group
        if group.label != claim.solver or not row.lies_in(claim.where) or row.lies_in(place):
            continue
        found.append(row)
        for other in rows:
            same_problem = other.sweep == row.sweep and other.group.lam == group.lam
            if same_problem and other.lies_in(place) and other.group.label == claim.over:
                moved = replace(
                    other.group, dataset=group.dataset, stand_in=group.stand_in, label=label
                )
                found.append(MeasuredRow(row.sweep, moved))
    return claim.model_copy(update={"over": label, "over_dataset": None}), found


def _wanted(
    claim: Claim, labels: set[str], run: set[str], runs: Sequence[set[str]]
) -> set[str] | None:
    """The solvers that a problem of a sweep should have runs of; None for none of its business.

    What is claimed of each solver alone may lie in several sweeps. A sweep that runs only some of
    the solvers to be compared has no say where another runs all of them.
    """
    if claim.kind in ("reaches", "fails"):
        return run | (labels - set().union(*runs))
    return labels if run == labels or labels not in runs else None


def _labels(claim: Claim) -> tuple[str, ...]:
    return claim.solvers or tuple(filter(None, (claim.solver, claim.over)))


def _cell(
    claim: Claim, found: Mapping[str, MeasuredRow], absent: Sequence[str], several: bool
) -> CellFinding:
    row = next(iter(found.values()))
    group = row.group
    dataset = heading(group.dataset, group.stand_in)
    place = ", ".join([*([row.sweep] if several else []), dataset, f"λ = {group.written_lambda}"])
    parts = tuple(_KINDS[claim.kind](claim, found))
    if absent:
        parts += (Part(f"no runs of {', '.join(absent)}", "undecided"),)
    return CellFinding(
        place, "undecided", "; ".join(part.text for part in parts), group.stand_in, parts
    )


def _faster(claim: Claim, found: Mapping[str, MeasuredRow]) -> Iterator[Part]:
    assert claim.solver is not None
    assert claim.over is not None
    assert claim.measure is not None
    if claim.solver in found and claim.over in found:
        yield _compared(found[claim.solver], found[claim.over], claim.measure, claim.by)


def _order(claim: Claim, found: Mapping[str, MeasuredRow]) -> Iterator[Part]:
    assert claim.measure is not None
    there = [label for label in claim.solvers if label in found]
    for first, second in pairwise(there):
        yield _compared(found[first], found[second], claim.measure, 1.0 / claim.tie)


def _ratio(claim: Claim, found: Mapping[str, MeasuredRow]) -> Iterator[Part]:
    assert claim.solver is not None
    assert claim.over is not None
    assert claim.measure is not None
    assert claim.published is not None
    if claim.solver not in found or claim.over not in found:
        return
    below, above, untold = _pairs(found[claim.over], found[claim.solver], claim.measure)
    published = f"published {short(claim.published, 3)}"
    if untold is not None:
        yield Part(f"{claim.solver} / {claim.over}, {published}: {untold}", "undecided")
        return
    least, most = claim.published / claim.within, claim.published * claim.within
    text = f"{_numbers(claim.over, claim.solver, below, above)}, {published}"
    low, high = _beyond(below, above, least), _beyond(above, below, 1.0 / most)
    if "does not hold" in (low.verdict, high.verdict):
        wrong = low if low.verdict == "does not hold" else high
        yield replace(wrong, text=text)
    elif low.verdict == high.verdict == "holds":
        values = [part.p_value for part in (low, high) if part.p_value is not None]
        yield Part(text, "holds", max(values) if values else None)
    else:
        yield Part(text, "undecided")


def _reaches(claim: Claim, found: Mapping[str, MeasuredRow]) -> Iterator[Part]:
    assert claim.measure is not None
    for label in claim.solvers:
        if label in found:
            yield _reached(label, found[label], claim, claim.measure)


def _reached(label: str, row: MeasuredRow, claim: Claim, measure: Asked) -> Part:
    values = list(samples(row.group, measure).values())
    if not values:
        return Part(f"{label}: {_unknown(row, measure)}", "undecided")
    arrived, n = sum(map(math.isfinite, values)), len(values)
    bounded = (claim.at_most, claim.at_least) != (None, None)
    if measure.at is not None and (arrived < n or not bounded):
        what = f"{label}: {arrived} of {n} reach {measure.at:g}"
        limits = f" ({_limits(row)})" if arrived < n else ""
        verdict: Verdict = "holds" if arrived == n else "undecided"
        return Part(what + limits, "does not hold" if 2 * arrived < n else verdict)
    low, high, _ = median_interval(values)
    value = f"{label}: {measure.words} {_estimate(median(values), low, high)}"
    bound, verdict = _within(low, high, claim.at_least, claim.at_most)
    return Part(f"{value}, {bound}", verdict)


def _within(
    low: float, high: float, at_least: float | None, at_most: float | None
) -> tuple[str, Verdict]:
    """The bounds in words, and whether an interval keeps them."""
    least = -math.inf if at_least is None else at_least
    most = math.inf if at_most is None else at_most
    words = " and ".join(
        f"{sign} {short(bound)}"
        for sign, bound in (("≥", at_least), ("≤", at_most))
        if bound is not None
    )
    if high < least or low > most:
        return f"to be {words}", "does not hold"
    return f"to be {words}", "holds" if least <= low and high <= most else "undecided"


def _fails(claim: Claim, found: Mapping[str, MeasuredRow]) -> Iterator[Part]:
    assert claim.solver is not None
    assert claim.measure is not None
    if claim.solver not in found:
        return
    row, measure = found[claim.solver], claim.measure
    ends = states(row.group)
    values = [
        value for repeat, value in samples(row.group, measure).items() if ends[repeat] not in FAULTS
    ]
    if not values:
        yield Part(f"{claim.solver}: {_unknown(row, measure)}", "undecided")
        return
    least = -math.inf if claim.at_least is None else claim.at_least
    most = math.inf if claim.at_most is None else claim.at_most
    arrived = sum(math.isfinite(sample) and least <= sample <= most for sample in values)
    text = f"{claim.solver}: {arrived} of {len(values)} arrive"
    if arrived == 0:
        yield Part(f"{text} ({_limits(row)})", "holds")
    else:
        some = f"median {_middle(values)}"
        verdict: Verdict = "does not hold" if 2 * arrived > len(values) else "undecided"
        yield Part(f"{text}, {some}", verdict)


_KINDS: dict[str, Callable[[Claim, Mapping[str, MeasuredRow]], Iterator[Part]]] = {
    "faster": _faster,
    "order": _order,
    "ratio": _ratio,
    "reaches": _reaches,
    "fails": _fails,
}


# ---------------------------------------------------------------- two solvers


def _compared(first: MeasuredRow, second: MeasuredRow, measure: Asked, by: float) -> Part:
    """Whether the second's measure is at least ``by`` times the first's."""
    labels = first.group.label, second.group.label
    small, large, untold = _pairs(first, second, measure)
    if untold is not None:
        return Part(f"{labels[1]} / {labels[0]}: {untold}", "undecided")
    return replace(_beyond(small, large, by), text=_numbers(*labels, small, large))


def _numbers(first: str, second: str, below: Sequence[float], above: Sequence[float]) -> str:
    """The factor between two solvers, the second's over the first's; or who does not arrive."""
    n = len(below)
    few = "" if n >= MIN_PAIRS else f" ({n} repeat{'' if n == 1 else 's'} only)"
    arrived = {
        label: sum(map(math.isfinite, samples))
        for label, samples in ((first, below), (second, above))
    }
    if min(arrived.values()) == 0:
        told = (
            "neither arrives"
            if max(arrived.values()) == 0
            else " and ".join(
                f"{label} arrives in {count} of {n}" for label, count in arrived.items()
            )
        )
        return f"{second} / {first}: {told}{few}"
    ratio = paired_ratio(below, above)
    some = "".join(
        f", {label} arrives in {count} of {n}" for label, count in arrived.items() if count < n
    )
    estimate = _estimate(ratio.estimate, ratio.low, ratio.high)
    return f"{second} / {first} = {estimate}{some}{few}"


def _beyond(small: Sequence[float], large: Sequence[float], by: float) -> Part:
    """Whether large / small is at least ``by``, and how sure that is; without the numbers."""
    scaled = [sample * by for sample in small]
    if len(small) >= FEW_PAIRS:
        if _apart(scaled, large):
            return Part("", "holds")
        if _apart(large, scaled):
            return Part("", "does not hold")
    ratio = paired_ratio(scaled, large)
    if len(small) < MIN_PAIRS or math.isnan(ratio.estimate) or ratio.estimate == 1.0:
        return Part("", "undecided")
    return Part("", "holds" if ratio.estimate > 1.0 else "does not hold", ratio.p_value)


def _apart(below: Sequence[float], above: Sequence[float]) -> bool:
    """Whether all of one lie below all of the other by the factor that needs no test."""
    return max(below) < math.inf and APART * max(below) <= min(above) and min(above) > 0.0


def _pairs(
    first: MeasuredRow, second: MeasuredRow, measure: Asked
) -> tuple[list[float], list[float], str | None]:
    """Samples of the repeats that both have, or why there are none."""
    for row in (first, second):
        if not samples(row.group, measure):
            return [], [], f"{row.group.label}: {_unknown(row, measure)}"
    both = pairs(first.group, second.group, measure)
    if not len(both):
        return [], [], "no repeat that both have"
    return list(both.a), list(both.b), None


def _unknown(row: MeasuredRow, measure: Asked) -> str:
    untold = [state for state in row.group.repeats["state"] if state in (*RERUN, *FAULTS)]
    if untold:
        return ", ".join(dict.fromkeys(state.replace("_", " ") for state in untold))
    return f"{measure.words} is not known"


def _limits(row: MeasuredRow) -> str:
    """What ended the repeats that did not arrive."""
    runs = row.group.repeats
    words = {
        "max_steps": f"{_largest(runs['max_epochs'])} epochs",
        "time_limit": f"{_largest(runs['limit_seconds'])} s",
        "skipped": f"{_largest(runs['limit_seconds'])} s",
    }
    ends = dict.fromkeys(words.get(state, state) for state in runs["state"] if state not in RERUN)
    return ", ".join(ends).replace("horizon", "the length it was told")


def _largest(values: Iterable[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    return f"{max(known):g}" if known else "its"


def _estimate(value: float, low: float, high: float) -> str:
    shown = format_value(value, low, high)
    if not (math.isfinite(low) or math.isfinite(high)):
        return shown
    return f"{shown} [{format_value(low, low, high)}, {format_value(high, low, high)}]"


def _middle(samples: Sequence[float]) -> str:
    low, high, _ = median_interval(samples)
    return _estimate(median(samples), low, high)
