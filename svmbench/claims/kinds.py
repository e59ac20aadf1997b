"""The kinds of claims, in one table: what each says, which keys it has, what decides it.

docs/design.md says what else a further kind needs, and docs/papers.md explains each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svmbench.records.abscissae import ABSCISSAE

ClaimKind = Literal["ratio", "order", "reaches", "fails", "grows", "path", "untestable"]

#: Horizontal axes of the curves that claims can be about.
CURVES = tuple(name for name, each in ABSCISSAE.items() if each.in_claims)


@dataclass(frozen=True)
class KindOfClaim:
    words: str  # what a claim of this kind says
    # needs, takes: keys that it requires, and optional ones. All kinds have text, source, where and
    # least_rows.
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    along: tuple[str | None, ...] = ()  # values of its key 'along'
    # whether it says something of each solver separately, so that the solvers may be in different
    # sweeps
    alone: bool = False


#: Every kind by name.
KINDS: dict[ClaimKind, KindOfClaim] = {
    "ratio": KindOfClaim(
        "of two measures in a region, or how much larger it is at a second value of C or λ",
        ("measure",),
        ("solver", "over", "solvers", "spread", "over_dataset", "by", "published", "within",
         "along", "between", "cases", "across"),
        along=("C", "lambda", None),
    ),
    "order": KindOfClaim(
        "solvers by a measure, the least first",
        ("solvers", "measure"), ("tie", "cases"),
    ),
    "reaches": KindOfClaim(
        "an accuracy, or a value within bounds",
        ("solvers", "measure"), ("at_most", "at_least", "cases"), alone=True,
    ),
    "fails": KindOfClaim(
        "a solver, in one of two ways", ("solver", "how"), ("measure", "cases"), alone=True,
    ),
    "grows": KindOfClaim(
        "a power of λ, m or the abscissa of a curve",
        ("solver", "measure", "along"), ("at_most", "at_least", "between", "points", "cases"),
        along=("lambda", "m", *CURVES), alone=True,
    ),
    "path": KindOfClaim(
        "one curve lies below another",
        ("solver", "over", "measure", "along"),
        ("between", "by", "points", "ratios", "within", "cases"),
        along=CURVES,
    ),
    "untestable": KindOfClaim("says why", ("why",)),
}  # fmt: skip
