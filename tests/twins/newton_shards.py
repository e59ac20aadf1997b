"""newton-shards on one set of dense rows: centres 1/2 at w = 0, and the line search in rounds."""

from __future__ import annotations

import numpy as np

from twins.decisions import Decisions
from twins.multipliers import Multipliers

SEARCHED, SEARCH_ROUNDS, LENGTHS = 1e-3, 12, 16


class NewtonShards(Decisions, Multipliers):
    """The twin of the method of multipliers, begun and searched as newton-shards does."""

    def __init__(self, X, y, lam, growth):
        super().__init__(X, y, lam)
        self.growth = growth
        self.begin(np.zeros(X.shape[1]), np.full(len(y), 0.5), 0.4)

    def iterate(self):
        """Change the centres where the inner problem is solved, then take a Newton step."""
        rest = 0.3 * self.slack_sum / self.m
        self.decide((self.residual - rest) / (self.residual + rest))
        if self.residual <= rest:
            self.recentre(self.growth * self.penalty)
        self.move(self.newton_step())

    @property
    def gap(self):
        """P - D at w and alpha."""
        return self.slack_sum / self.m + self.residual

    def search(self, step):
        """Where along the step the slope is small, by slopes at 16 lengths at a time."""
        start = self.slope(step, 0.0)
        low, high = (0.0, start), (1.0, 0.0)
        for turn in range(SEARCH_ROUNDS):
            width = high[0] - low[0]
            asked = [low[0] + width * k / LENGTHS for k in range(1, LENGTHS + 1)]
            if turn and low[1] < 0.0:
                asked[-1] = low[0] - low[1] * width / (high[1] - low[1])
            found = [(x, self.slope(step, x)) for x in sorted(asked)]
            if turn == 0 and found[-1][1] <= 0.0:
                return 1.0
            best = min(found, key=lambda at: abs(at[1]))
            falling = [at for at in found if at[1] <= 0.0]
            low = falling[-1] if falling else low
            high = next((at for at in found if at[1] > 0.0), high)
            if abs(best[1]) <= SEARCHED * abs(start) or low[0] >= high[0]:
                break
        return best[0]
