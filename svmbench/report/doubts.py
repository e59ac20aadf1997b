"""The open questions of a sweep, for the series that runs more repeats.

It stands apart from the questions themselves, which a report asks without loading a solver.
"""

from __future__ import annotations

from pathlib import Path

from svmbench.harness.doubts import Doubt
from svmbench.report.questions import leader_questions


def doubts_of(folder: Path) -> list[Doubt]:
    """The open questions of a folder whose sweep is the only one of its series."""
    return [
        Doubt(0, (each.leader, each.other), each.more, each.pairs, each.text, each.skippable)
        for each in leader_questions(folder)
        if each.is_open
    ]
