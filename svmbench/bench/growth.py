"""How much longer an epoch takes on larger rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from svmbench.bench.found import middle
from svmbench.claims.measured import MeasuredRow


@dataclass(frozen=True)
class GrowthStep:
    """The step from one size of rows to the next.

    Parameters
    ----------
    axis : {'m', 'd'}
        What grows.
    grown : float
        Factor by which the entries grow.
    before, after : MeasuredRow
        The smaller and the larger rows.
    """

    axis: str
    grown: float
    before: MeasuredRow
    after: MeasuredRow

    @property
    def slowed(self) -> float:
        """Factor by which an epoch takes longer."""
        before, after = (middle(r.group, "seconds_per_epoch") for r in (self.before, self.after))
        return after / before


def steps(points: Sequence[MeasuredRow]) -> list[GrowthStep]:
    """The steps from each size to the next along m, and along d from the first size."""
    found = []
    ordered = sorted(points, key=lambda point: float(point.axis("point")))
    facts = [point.group.runs.iloc[0] for point in ordered]
    for axis, fixed in (("m", "d"), ("d", "m")):
        line = [
            (fact["nnz"], point)
            for fact, point in zip(facts, ordered, strict=True)
            if fact[fixed] == facts[0][fixed]
        ]
        for (few, small), (many, large) in pairwise(line):
            found.append(GrowthStep(axis, many / few, small, large))
    return found
