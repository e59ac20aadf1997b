"""The open questions of a sweep, for the series that runs more repeats.

It stands apart from the questions themselves, which a report asks without loading a solver.
"""

from __future__ import annotations

from pathlib import Path

from svmbench.harness.doubts import Doubt
from svmbench.report.questions import leader_questions


def doubts_of(folder: Path, job: int = 0) -> list[Doubt]:
    """The open questions of a folder, for `svmbench.harness.series.run_series`.

    Parameters
    ----------
    folder : Path
    job : int
        Index of the folder's sweep in the series.
    """
    return [
        Doubt(job, (each.leader, each.other), each.more, each.pairs, each.text, each.skippable)
        for each in leader_questions(folder)
        if each.is_open
    ]
