"""Claims about each solver alone: what it reaches, and how it fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from svmbench.claims.compare import barred, limits, limits_hide, says_nothing
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import SEEDS, ClaimCase, ClaimPart, ClaimVerdict
from svmbench.evidence.questions import paired, reaching
from svmbench.records.measures import Asked
from svmbench.records.samples import Pairs, enclosed, least, measured, samples
from svmbench.records.spelling import counted, short
from svmbench.records.states import LIMITED, STATES
from svmbench.records.statistics import median

#: Claimed regions of a value's ratio to its bound, by the bound's sign.
_REGIONS = {"≥": (1.0, math.inf), "≤": (0.0, 1.0)}


def reaches(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """Parts for each solver: it reaches the accuracy in most runs, or a value within bounds."""
    for label in claim.solvers:
        if label in case.rows:
            row = case.rows[label]
            if claim.asked.at is None or claim.bounds:
                yield from _bounded(label, row, claim)
            else:
                yield _reached(label, row, claim.asked)
        elif label in case.absent:
            yield from _not_run(label, claim)


def _not_run(label: str, claim: Claim) -> Iterator[ClaimPart]:
    """The parts of a solver without runs, each with its question; open until it has some."""
    if claim.measure is not None and claim.asked.measure.taken == "of data":
        yield ClaimPart(label, observed="open", note="no runs yet")
        return
    bounded = [paired((), (), *_REGIONS[sign]) for sign, _ in claim.bounds]
    for question in bounded or [reaching(())]:
        yield ClaimPart(label, (), question, observed="open", note="no runs yet")


def fails(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: in most runs the weights are finite, or not, or the accuracy is not reached."""
    assert claim.solver is not None
    if claim.solver not in case.rows:
        yield from _not_run(claim.solver, claim)
        return
    row = case.rows[claim.solver]
    if claim.how != "limit":
        finite = claim.how == "finite"
        found = {
            repeat: (state == "diverged") != finite
            for repeat, state in row.group.ends.items()
            if _ran(state) or state == "skipped"
        }
        words = "finite" if finite else "not finite"
        yield _mostly(claim.solver, row, found, words, at_limit=finite, at_end=True)
    elif reason := says_nothing((row,), claim.asked):
        yield ClaimPart(claim.solver, row.cells, reaching(()), reason=reason)
    else:
        values = samples(row.group, claim.asked)
        found = {
            repeat: math.isinf(values[repeat])
            for repeat, state in row.group.ends.items()
            if repeat in values and not STATES[state].fault
        }
        words = f"do not reach {claim.asked.at:g} ({limits([row])})"
        yield _mostly(claim.solver, row, found, words, at_limit=True)


def _ran(state: str) -> bool:
    """Whether the solver ended by itself or at a limit."""
    return STATES[state].at_end != "none" and not STATES[state].fault


def _reached(label: str, row: MeasuredRow, asked: Asked) -> ClaimPart:
    if reason := says_nothing((row,), asked):
        return ClaimPart(label, row.cells, reaching(()), reason=reason)
    assert asked.at is not None
    found = {repeat: math.isfinite(value) for repeat, value in samples(row.group, asked).items()}
    words = f"reach {asked.at:g}"
    if not all(found.values()):
        words += f" ({limits([row])})"
    return _mostly(label, row, found, words, at_limit=False)


def _mostly(
    label: str,
    row: MeasuredRow,
    found: Mapping[int, bool],
    words: str,
    *,
    at_limit: bool,
    at_end: bool = False,
) -> ClaimPart:
    """Whether something is true in most runs: observed if three seeds agree, else by evidence."""
    if not found:
        ends = ", ".join(dict.fromkeys(row.group.ends.values())) or "no runs"
        note = f"nothing is known of it ({ends})"
        return ClaimPart(label, row.cells, reaching(()), observed="open", note=note)
    skipped = {repeat for repeat in found if row.group.ends[repeat] == "skipped"}
    run = [value for repeat, value in found.items() if repeat not in skipped]
    after = f", {len(skipped)} skipped" if skipped else ""
    note = f"{sum(run)} of {len(run)} {words}{after}"
    if _repeats_are_skipped(row) and set(run) == {at_limit}:
        # No further repeat would be run. The verdict rests on those that met the limit, often one.
        observed: ClaimVerdict = "holds" if at_limit else "does not hold"
        return ClaimPart(label, row.cells, reaching(run), observed, note=note, by_factor=False)
    question = reaching(run if at_end else list(found.values()))
    asked = ClaimPart(label, row.cells, question, note=note, by_factor=False)
    if len(set(run)) > 1 or "skipped" in row.group.ends.values():
        return asked
    lacks = max(0, SEEDS - len(run))
    seen: ClaimVerdict = "holds" if run[0] else "does not hold"
    return replace(asked, observed="open" if lacks else seen, seeds=len(run), lacks=lacks)


def _repeats_are_skipped(row: MeasuredRow) -> bool:
    """Whether a repeat met the time limit, so that those after it are not run."""
    ends = set(row.group.ends.values())
    return "skipped" in ends and ends <= set(LIMITED)


def _bounded(label: str, row: MeasuredRow, claim: Claim) -> Iterator[ClaimPart]:
    """A part for each bound: the value's factor to it is at most, or at least, 1."""
    asked = claim.asked
    if asked.measure.taken == "of data":
        yield from _facts(label, row, claim)
        return
    reason = says_nothing((row,), asked)
    for sign, bound in claim.bounds:
        found = _beside(bound, {} if reason else _values(row, asked, bound, sign), row, asked)
        region = _REGIONS[sign]
        question = found.question(*region, exchangeable=False)
        if reason:
            yield ClaimPart(label, row.cells, question, reason=reason)
        elif not found:
            ends = ", ".join(dict.fromkeys(row.group.ends.values())) or "no runs"
            note = f"{asked.words} is not known ({ends})"
            yield ClaimPart(label, row.cells, question, observed="open", note=note)
        else:
            note = f"{asked.words} {_median(found.b)}, to be {sign} {short(bound)}"
            yield ClaimPart(
                label,
                row.cells,
                question,
                note=note,
                by_factor=False,
                limited=limits_hide(found, region),
                barred=not asked.measure.to_accuracy and barred((row,), ()),
            )


def _facts(label: str, row: MeasuredRow, claim: Claim) -> Iterator[ClaimPart]:
    """A part for each bound on a fact of the data; one run observes it, and no seed changes it."""
    asked = claim.asked
    ends = list(enclosed(row.group, asked).values())
    for sign, bound in claim.bounds:
        if not ends:
            note = f"{asked.words} is not known"
            yield ClaimPart(label, row.cells, observed="open", note=note)
            continue
        note = f"{asked.words} {_interval(*ends[0])}, to be {sign} {short(bound, 7)}"
        observed = _observed(ends, bound, sign)
        if observed == "open":
            note += "; a smaller 'reference.gap' decides it"
        yield ClaimPart(label, row.cells, observed=observed, note=note, seeds=len(ends))


def _interval(low: float, high: float) -> str:
    """A certified interval, or the value where both ends are the same."""
    ends = short(low, 7), short(high, 7)
    return ends[1] if ends[0] == ends[1] else f"in [{ends[0]}, {ends[1]}]"


def _observed(ends: Sequence[tuple[float, float]], bound: float, sign: str) -> ClaimVerdict:
    """Whether all values meet a bound; open where the bound lies inside an interval."""
    if sign == "≤":
        ends, bound = [(-high, -low) for low, high in ends], -bound
    if all(low >= bound for low, _ in ends):
        return "holds"
    return "does not hold" if any(high < bound for _, high in ends) else "open"


def _values(row: MeasuredRow, asked: Asked, bound: float, sign: str) -> dict[int, float]:
    """The measure in each repeat.

    A repeat that failed has the measure's worst value. Where that meets the bound, as it does for
    a claim that a result is bad, only measured values count: a crash proves no bad result.
    """
    worst = asked.measure.worst
    met_by_worst = worst >= bound if sign == "≥" else worst <= bound
    return measured(row.group, asked) if met_by_worst else samples(row.group, asked)


def _beside(bound: float, values: Mapping[int, float], row: MeasuredRow, asked: Asked) -> Pairs:
    """Pairs of a bound and the measure; of a run that a limit ended it is known from below."""
    bounds = (bound,) * len(values)
    spent = least(row.group, asked) if values else {}
    return Pairs(
        tuple(values),
        bounds,
        tuple(max(0.0, value) for value in values.values()),
        bounds,
        tuple(max(0.0, spent[repeat]) for repeat in values),
    )


def _median(values: Sequence[float]) -> str:
    middle = median(values)
    runs = f"(median of {counted(len(values), 'run')})"
    return f"{short(middle, 3)} {runs}" if math.isfinite(middle) else f"not reached {runs}"
