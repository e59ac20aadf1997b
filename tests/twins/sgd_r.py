"""sgd-r one presentation at a time."""

from __future__ import annotations

from twins.sgd import PermutedPasses


class RandomRows(PermutedPasses):
    """The presentations of sgd-s, of rows drawn with replacement."""

    def step(self):
        """One presentation."""
        self.present(self.rng.below(len(self.y)))
