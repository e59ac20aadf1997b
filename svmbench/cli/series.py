"""Summaries of a series of sweeps: how its time was spent, and which questions are open."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from svmbench.errors import DataError
from svmbench.records.spelling import counted, duration
from svmbench.records.states import FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svmbench.harness.doubts import Open
    from svmbench.harness.place import Place
    from svmbench.harness.series import PlannedSweep, Result

#: How many of the sweeps that took the most time are named.
NAMED = 3


def time_spent(result: Result, sweeps: Sequence[PlannedSweep]) -> list[str]:
    """How the time of a series was spent, by purpose, and the sweeps that took the most of it."""
    total = result.total
    parts = [
        (total.preparing, "loading data and certifying optima"),
        (total.first, "first repeats"),
        (total.at_least, "further repeats of every cell"),
        (total.doubts, "repeats for open questions"),
        (result.asking, "judging the questions"),
    ]
    said = ", ".join(f"{duration(seconds)} {what}" for seconds, what in parts if seconds >= 0.5)
    if not said:
        return []
    starting = f"; {duration(result.starting)} of it to start the runs' processes"
    lines = [f"time: {said}{starting if result.starting >= 0.5 else ''}"]
    if len(sweeps) > NAMED:
        most = sorted(result.spent, key=lambda at: -result.spent[at].seconds)[:NAMED]
        named = (f"{sweeps[at].title} {duration(result.spent[at].seconds)}" for at in most)
        lines.append(f"most of it: {'; '.join(named)}")
    return lines


def unfinished(result: Result) -> list[str]:
    """What ended a series too early, and how to continue; nothing if it is complete."""
    again = "run the same command again to continue"
    if result.interrupted:
        return [f"interrupted; {again}"]
    left = counted(result.left, "run")
    return [f"out of time with {left} left; {again}"] if result.left else []


def open_questions(questions: Sequence[Open]) -> list[str]:
    """The time that open questions would take to be decided, or why time does not help them."""
    lines = []
    for lacks, later, why in (
        ("time", False, "open for want of time (--budget)"),
        ("time", True, "open whose answers change no verdict"),
        ("repeats", None, "open after the most repeats allowed (at_most)"),
        ("information", None, "open that more repeats are unlikely to decide"),
    ):
        these = [
            each for each in questions if each.lacks == lacks and later in (None, each.doubt.later)
        ]
        if these:
            seconds = sum(each.seconds or 0.0 for each in these)
            more = f": about {duration(seconds)} more" if seconds else ""
            lines.append(
                f"{counted(len(these), 'question')} {why}{more}, such as {these[0].doubt.text}"
            )
    return lines


def mishaps(result: Result, where: str) -> list[str]:
    """The messages about runs that were rerun, stopped from outside, or have failed."""
    lines, states = [], result.states
    counts = (result.damaged, "damaged"), (result.missing, "missing")
    lost = [f"{n} {what}" for n, what in counts if n]
    if lost:
        lines.append(f"reran runs with lost files: {', '.join(lost)}")
    if states["interrupted"]:
        said = counted(states["interrupted"], "run")
        lines.append(f"{said} interrupted; run the same command again to rerun")
    if any(states[state] for state in FAULTS):
        lines.append(
            f"some runs failed; see column 'reason' in {where}; --retry-failed reruns them"
        )
    return lines


def amount(planned: Sequence[PlannedSweep]) -> str:
    cells, runs = sum(each.cells for each in planned), sum(each.runs for each in planned)
    found, longest = sum(each.found for each in planned), sum(each.longest for each in planned)
    if not runs:
        return "no runs"
    missing = sum(each.missing(each.sweep.at_least) for each in planned)
    size = f"{counted(cells, 'cell')}, {counted(runs, 'run')}"
    text = f"{size}: {missing} missing, {found} reused; "
    text += f"at most {duration(longest)} (every limit hit)"
    most = sum(each.most_runs for each in planned)
    return f"{text}; up to {most} runs if questions stay open" if most > runs else text


def optima(count: int) -> str:
    """How many reference optima: ``1 reference optimum``."""
    return f"{count} reference {'optimum' if count == 1 else 'optima'}"


def budget_line(budget: float | None) -> str:
    if budget is None:
        return "no time budget; it can be interrupted and resumed"
    return f"the budget ends it after {duration(budget)}; a later call runs the rest"


def nodes_lines(place: Place) -> list[str]:
    """The nodes of a plan, and what they take at a time; nothing for this machine."""
    if place.nodes is None:
        return []
    names = sorted(place.nodes)
    shared = "; some share a machine, so all runs are contended" if place.contended else ""
    return [
        f"{counted(len(names), 'node')}: {', '.join(names)}{shared}",
        "whichever is free takes all solvers on a data set, for one λ and one repeat",
    ]


def exit_code(result: Result) -> int:
    """The exit code of a series; what ended it otherwise is raised.

    Raises KeyboardInterrupt if the user has interrupted it. Raises DataError: with the last of its
    faults; the others are printed.
    """
    if result.interrupted:
        raise KeyboardInterrupt
    if faults := result.faults:
        for fault in faults[:-1]:
            click.echo(f"svmbench: {fault}", err=True)
        raise DataError(faults[-1])
    return 1 if result.faulty else 0


def unused_line(sweeps: Sequence[PlannedSweep]) -> list[str]:
    """How many finished runs in the folders are not reused, and why; nothing if there are none."""
    why = sum((planned.unused for planned in sweeps), Counter[str]())
    if not why:
        return []
    said = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
    return [f"not reused: {counted(why.total(), 'finished run')}: {said}"]
