"""The verdict of a claim from those of its cases, by how many cases the claim is about.

With ``cases: all`` a claim

- *holds* when every case that can be tested does;
- *holds in k of n* when some cases hold and at least one does not: the claim about all cases is
  then decided, and n counts the cases that can be tested;
- *does not hold* when at least one case does not, and none holds;
- is *open* otherwise.

With ``most`` it holds when more than half of the n cases do, and does not when at least half do
not; with ``any`` it holds when one does, and does not when none of the n does. A claim is *not
testable* when no case can be tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from svmbench.claims.parts import ClaimVerdict


def decide(quantifier: str, verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The verdict of a claim from those of its cases."""
    counted = Counter[str](verdicts)
    holding, against, undecided = (
        counted[verdict] for verdict in ("holds", "does not hold", "open")
    )
    n = holding + against + undecided
    if n == 0:
        return "not testable"
    if quantifier == "all":
        if against:
            return "holds in k of n" if holding else "does not hold"
        return "open" if undecided else "holds"
    if quantifier == "most":
        if 2 * holding > n:
            return "holds"
        return "does not hold" if 2 * against >= n else "open"
    if holding:
        return "holds"
    return "open" if undecided else "does not hold"


def may_change(quantifier: str, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether the verdict of a claim may change when its open cases are decided."""
    now = decide(quantifier, verdicts)
    ends: tuple[ClaimVerdict, ...] = ("holds", "does not hold")
    return any(
        decide(quantifier, [end if each == "open" else each for each in verdicts]) != now
        for end in ends
    )
