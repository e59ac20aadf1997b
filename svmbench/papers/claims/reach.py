"""Claims about each solver alone: what it reaches, and how it fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.evidence import paired, reaching
from svmbench.papers.claims.limits import limits, rounded, says_nothing, seconds_needed
from svmbench.papers.claims.model import Claim
from svmbench.papers.claims.parts import ClaimCell, ClaimPart, ClaimVerdict
from svmbench.papers.measured import MeasuredRow
from svmbench.records.groups import short
from svmbench.records.measures import Asked
from svmbench.records.samples import samples, states
from svmbench.records.states import STATES
from svmbench.records.statistics import median


def reaches(claim: Claim, cell: ClaimCell) -> Iterator[ClaimPart]:
    """Parts for each solver: it reaches the accuracy in most runs, or a value within bounds."""
    for label in claim.solvers:
        if label in cell.rows:
            row = cell.rows[label]
            if claim.asked.at is None or (claim.at_most, claim.at_least) != (None, None):
                yield from _bounded(label, row, claim)
            else:
                yield _reached(label, row, claim.asked)


def fails(claim: Claim, cell: ClaimCell) -> Iterator[ClaimPart]:
    """One part: in most runs the weights are not finite, or the accuracy is not reached."""
    assert claim.solver is not None
    if claim.solver not in cell.rows:
        return
    row = cell.rows[claim.solver]
    if claim.how == "not-finite":
        ends = [state for state in states(row.group).values() if _ran(state) or state == "skipped"]
        found = [state == "diverged" for state in ends]
        words = "not finite"
    elif reason := says_nothing((row,), claim.asked):
        yield ClaimPart(claim.solver, (row.cell,), reason=reason)
        return
    else:
        values = samples(row.group, claim.asked)
        found = [
            math.isinf(values[repeat])
            for repeat, state in states(row.group).items()
            if repeat in values and not STATES[state].fault
        ]
        words = f"do not reach {claim.asked.at:g} ({limits([row])})"
    yield _mostly(claim.solver, row, found, words)


def _ran(state: str) -> bool:
    """Whether the solver ended by itself or at a limit."""
    return STATES[state].at_end != "none" and not STATES[state].fault


def _reached(label: str, row: MeasuredRow, asked: Asked) -> ClaimPart:
    if reason := says_nothing((row,), asked):
        return ClaimPart(label, (row.cell,), reason=reason)
    assert asked.at is not None
    found = [math.isfinite(value) for value in samples(row.group, asked).values()]
    words = f"reach {asked.at:g}"
    if not all(found):
        words += f" ({limits([row])}{_needed(row, asked.at, found)})"
    return _mostly(label, row, found, words)


def _needed(row: MeasuredRow, at: float, found: Sequence[bool]) -> str:
    """The limit that its curve asks for, if no repeat reached the accuracy."""
    if any(found):
        return ""
    seconds = seconds_needed(row, at)
    return "" if seconds is None else f"; by its curve about {rounded(seconds)}"


def _mostly(label: str, row: MeasuredRow, found: Sequence[bool], words: str) -> ClaimPart:
    """Whether something is true in most runs."""
    if not found:
        ends = ", ".join(dict.fromkeys(states(row.group).values())) or "no runs"
        note = f"nothing is known of it ({ends})"
        return ClaimPart(label, (row.cell,), reaching(found), observed="open", note=note)
    note = f"{sum(found)} of {len(found)} {words}"
    if _repeats_are_skipped(row) and len(set(found)) == 1:
        # No further repeat would be run, and each counts as the one that met the limit.
        observed: ClaimVerdict = "holds" if found[0] else "does not hold"
        question = reaching(found)
        return ClaimPart(label, (row.cell,), question, observed, note=note, by_factor=False)
    return ClaimPart(label, (row.cell,), reaching(found), note=note, by_factor=False)


def _repeats_are_skipped(row: MeasuredRow) -> bool:
    """Whether a repeat met the time limit, so that those after it are not run."""
    ends = set(states(row.group).values())
    return "skipped" in ends and ends <= {"time_limit", "skipped"}


def _bounded(label: str, row: MeasuredRow, claim: Claim) -> Iterator[ClaimPart]:
    """A part for each bound: the value's factor to it is at most, or at least, 1."""
    asked = claim.asked
    values = [max(0.0, value) for value in samples(row.group, asked).values()]
    if not values:
        ends = ", ".join(dict.fromkeys(states(row.group).values())) or "no runs"
        note = f"{asked.words} is not known ({ends})"
        yield ClaimPart(label, (row.cell,), observed="open", note=note)
        return
    shown = f"{asked.words} {_median(values)}"
    for bound, sign in ((claim.at_least, "≥"), (claim.at_most, "≤")):
        if bound is None:
            continue
        note = f"{shown}, to be {sign} {short(bound)}"
        region = {"low": 1.0} if sign == "≥" else {"high": 1.0}
        question = paired([bound] * len(values), values, **region)
        yield ClaimPart(label, (row.cell,), question, note=note, by_factor=False)


def _median(values: Sequence[float]) -> str:
    middle = median(values)
    runs = f"(median of {len(values)} runs)"
    return f"{short(middle, 3)} {runs}" if math.isfinite(middle) else f"not reached {runs}"
