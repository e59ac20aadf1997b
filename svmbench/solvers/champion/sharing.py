"""When two threads share a pass of dual descent, and how often they exchange their steps.

Steps of two threads that do not know of each other raise D by less than the sum of what each would
gain alone. How much less is known after each pass, and does not depend on the machine.
"""

from __future__ import annotations

#: Entries of the active rows from which two threads make a pass faster than one.
LEAST_ENTRIES = 1_000_000

#: Exchanges in a pass. Between more of them fewer steps are not known to the other thread, but they
#: take time, and where rows resemble each other both threads make the same steps after each.
EXCHANGES = 32

#: Share of the gains below which one thread makes passes alone: two threads are at most about 1.5
#: times as fast.
TOO_FEW = 2.0 / 3.0


class Sharing:
    """Two threads for large passes, as long as what they gain apart adds up.

    Where it does not, one thread makes the next pass alone, and twice as many after each failure in
    turn.

    - ``shared``: passes that two threads have made.
    """

    def __init__(self) -> None:
        self.shared = 0
        self._alone = self._failures = 0

    def exchanges_of(self, entries: float) -> int:
        """Exchanges of two threads in the next pass; 0 if one thread is to make it."""
        if entries < LEAST_ENTRIES:
            return 0
        if self._alone:
            self._alone -= 1
            return 0
        self.shared += 1
        return EXCHANGES

    def judge(self, rise: float, gains: float) -> None:
        """Compare by how much a shared pass raised D with the sum of what its steps gained."""
        if rise < TOO_FEW * gains:
            self._alone = 1 << self._failures
            self._failures += 1
        else:
            self._failures = 0
