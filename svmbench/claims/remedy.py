"""What it would take to decide a claim that is open, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from svmbench.claims.measured import SweepCell
from svmbench.claims.parts import CaseResult, PartResult
from svmbench.evidence.across import Across
from svmbench.harness.crew import START
from svmbench.records.spelling import counted, duration


def missing() -> str:
    return "It would take runs that are still missing."


def of(cases: Sequence[CaseResult], ranks: Across | None) -> str:
    if ranks is not None:
        return _across(cases)
    undecided = [case for case in cases if case.verdict == "open"]
    parts = [part for case in undecided for part in case.parts if part.verdict == "open"]
    said = [_repeats(parts)] if any(part.more for part in parts) else []
    if any(part.answer is None and not part.part.lacks for part in parts):
        said.append("runs that are still missing")
    stuck = [part for part in parts if part.more is None]
    limited = [part for part in stuck if part.part.barred or part.part.limited]
    said += ["longer limits"] * bool(limited)
    where = f" in {len(undecided)} of {len(cases)} cases" if len(cases) > 1 else ""
    takes = f"It would take {', and '.join(said)}{where}." if said else ""
    if len(stuck) == len(limited):
        return takes
    some = "some estimates lie" if said else "the estimate lies"
    unlikely = f"more repeats are unlikely to decide it: {some} too close to what is claimed."
    return f"{takes} Elsewhere, {unlikely}" if takes else unlikely[0].upper() + unlikely[1:]


def _across(cases: Sequence[CaseResult]) -> str:
    lacking = [part for case in cases for part in case.parts if part.part.lacks]
    said = [_repeats(lacking)] if any(part.answer is not None for part in lacking) else []
    if any(part.answer is None for part in lacking):
        said.append("runs that are still missing")
    return f"It would take {', and '.join(said) or 'longer limits'}."


def _repeats(parts: Sequence[PartResult]) -> str:
    """How many more repeats, and how long they take."""
    if any(part.more and part.is_guess for part in parts):
        return "more repeats"
    more = max(part.more or 0 for part in parts)
    seconds = expected_seconds(parts)
    words = f"about {counted(more, 'more repeat')}"
    if not seconds > 0:
        return words
    return f"{words} ({'less than a second' if seconds < 1 else f'about {duration(seconds)}'})"


def expected_seconds(parts: Sequence[PartResult]) -> float:
    """Seconds until some parts are expected to be decided, with the start of their runs.

    Parts that rest on the same cell share its repeats. nan if the time of a repeat is unknown.
    """
    repeats: dict[SweepCell, int] = {}
    seconds: dict[SweepCell, float] = {}
    for part in parts:
        for cell in part.part.rests_on:
            repeats[cell] = max(part.more or 0, repeats.get(cell, 0))
            seconds[cell] = START + part.seconds.get(cell, math.nan)
    return sum(repeats[cell] * seconds[cell] for cell in repeats)
