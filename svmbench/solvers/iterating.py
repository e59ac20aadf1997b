"""How solvers that take iterations advance and stop."""

from __future__ import annotations

from abc import abstractmethod

from svmbench.solvers.base import Solver


class Iterating(Solver):
    """A solver that takes iterations until a rule of its own holds, or nothing changes any more."""

    step = "iteration"
    _stopped = _exhausted = False

    def advance(self, steps: int) -> None:
        stopped = self._stopped
        for _ in range(steps):
            self._iterate()
            if self.halts and self._stopped > stopped:
                return

    @abstractmethod
    def _iterate(self) -> None:
        """Take an iteration; set ``_stopped`` and ``_exhausted`` once they are true."""

    @property
    def stopped(self) -> bool:
        return self._stopped

    @property
    def exhausted(self) -> bool:
        return self._exhausted
