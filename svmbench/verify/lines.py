"""The lines of a trace: written as a run writes them, and in its order."""

from __future__ import annotations

import json
from pathlib import Path

from svmbench.harness.trace import line_of
from svmbench.verify.outcome import ContradictionError

#: Kinds of lines in the order of a trace, and those that it has once.
ORDER = ("run", "point", "weights", "regret", "end")
ONCE = ("run", "weights", "end")


def check_lines(path: Path) -> None:
    """Check that a trace is written as a run writes it.

    Another reader could understand a line with duplicate keys differently.

    Raises ContradictionError: for the first line that is written otherwise, or is not in its place.
    """
    before = -1
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # the last line of a run that was killed
            return
        if line_of(record).encode() != line:
            raise ContradictionError(f"line {number} of its trace is not as a run writes it")
        kind = record.get("kind")
        place = ORDER.index(kind) if kind in ORDER else before
        if place < before or (place == before and kind in ONCE):
            raise ContradictionError(f"line {number} of its trace is not in its place ({kind})")
        before = place
