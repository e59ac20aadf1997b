"""How close a method came to a tie, where rounding may turn what it decides."""

from __future__ import annotations

import numpy as np


class Decisions:
    """A method that remembers which of its decisions would have turned first."""

    closest = np.inf  # of all decisions so far

    def decide(self, *differences):
        """Remember how close to 0 a number came whose sign decided something."""
        self.closest = min([self.closest, *map(abs, differences)])
