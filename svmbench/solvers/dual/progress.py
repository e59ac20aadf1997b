"""What passes of dual descent do beyond one visit to each row, and how much work they still need.

The first is explained in docs/champion-evidence.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left

#: Rows are visited again whose step gained more per entry than so many times what the last pass
#: gained.
HIGH_GAIN = 3.0

#: Rows at a bound are also shrunk where their gradient points outwards by more than so many times
#: the mean projected gradient of the last pass, which is far less than its extremes.
TYPICAL = 2.0


class PastGaps:
    """The gap after each pass, and where it leads.

    The least so far counts; a survey of all rows tells how many times as large the gap really is.
    """

    def __init__(self) -> None:
        self._work: list[float] = [0.0]
        self._gap: list[float] = [math.inf]
        self._times = 1.0

    def add(self, work: float, gap: float) -> None:
        """Note the relative gap after passes that touched so many entries in all."""
        self._work.append(work)
        self._gap.append(min(gap, self._gap[-1]))

    def correct(self, gap: float) -> None:
        """Note the relative gap of all rows, just surveyed."""
        least = self._gap[-1]
        self._times = max(1.0, gap / least) if least > 0.0 and gap < math.inf else 1.0

    @property
    def gap(self) -> float:
        """The relative gap by the least so far and the last survey; inf at the start."""
        return self._times * self._gap[-1]

    def remaining(self, wanted: float) -> float:
        """Entries until the gap is as small as wanted, if it keeps falling as in the last half."""
        gap, work, wanted = self._gap[-1], self._work[-1], wanted / self._times
        if gap <= wanted:
            return 0.0
        if len(self._gap) < 3 or gap == math.inf:
            return math.inf
        then = max(1, min(bisect_left(self._work, 0.5 * work), len(self._work) - 2))
        fall, spent = math.log(self._gap[then] / gap), work - self._work[then]
        return spent * math.log(gap / wanted) / fall if fall > 0.0 else math.inf
