"""What greedy passes of dual coordinate descent do beside visiting each row once."""

from __future__ import annotations

import numpy as np

from twins.decisions import Decisions


class Greedy(Decisions):
    """Passes whose best rows are visited again: ``again``.

    ``entries`` has each row's number of entries. The last pass met ``met`` entries and gained
    ``gained`` for each of them.
    """

    high_gain = np.inf  # in units of the last pass's gain: what is visited again
    gained = met = 0

    def note(self, i, gain, move):
        """Note a row whose step gained much more per entry than the last pass; its move rounds."""
        if self.high_gain == np.inf or not self.met:
            return
        much = self.high_gain * self.gained * self.entries[i]
        self.compare(gain, much, move)
        if gain > much:
            self.again.append(i)

    def compare(self, gain, enough, move):
        """Remember how close the comparison of a gain was: it is rounded as the move is."""
        if gain != 0.0:
            self.decide((1.0 - enough / gain) * move)

    def revisit(self):
        """Visit the noted rows again, as long as their steps gain much."""
        met = 0
        while self.again and met < self.met:
            rows, self.again = self.again, []
            for i in rows:
                self.visit_again(i)
                met += self.entries[i]
        self.again = []
