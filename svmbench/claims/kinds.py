"""The kinds of claims, in one table: what each says, which keys it has, what decides it.

docs/design.md says what else a further kind needs, and docs/papers.md explains each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svmbench.records.abscissae import ABSCISSAE

ClaimKind = Literal[
    "faster", "order", "largest", "ratio", "alike", "differ", "reaches", "fails", "grows", "path",
    "rises", "counts", "widens", "untestable",
]  # fmt: skip

#: Horizontal axes of the curves that claims can be about.
CURVES = tuple(name for name, each in ABSCISSAE.items() if each.in_claims)


@dataclass(frozen=True)
class KindOfClaim:
    """One row of the table of kinds."""

    words: str  # what a claim of this kind says
    # needs, takes: keys that it requires, and optional ones. All kinds have text, source, where and
    # least_rows.
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    along: tuple[str, ...] = ()  # values of its key 'along'
    several: bool = False  # whether it compares the solvers of a list, which are two or more
    # whether it says something of each solver separately, so that the solvers may be in different
    # sweeps
    alone: bool = False
    paired: bool = False  # whether pairs of repeats decide it


#: Every kind by name.
KINDS: dict[ClaimKind, KindOfClaim] = {
    "faster": KindOfClaim(
        "a solver over another, by a factor",
        ("solver", "over", "measure"), ("over_dataset", "by", "cases", "across"), paired=True,
    ),
    "order": KindOfClaim(
        "solvers by a measure, the least first",
        ("solvers", "measure"), ("tie", "cases"), several=True, paired=True,
    ),
    "largest": KindOfClaim(
        "the first of the solvers has the largest measure",
        ("solvers", "measure"), ("cases",), several=True, paired=True,
    ),
    "ratio": KindOfClaim(
        "of two measures, next to the published one",
        ("solver", "over", "measure", "published"), ("over_dataset", "within", "cases"),
        paired=True,
    ),
    "alike": KindOfClaim(
        "measures within a factor of each other",
        ("solvers", "measure", "within"), ("cases",), several=True, paired=True,
    ),
    "differ": KindOfClaim(
        "two measures apart by more than a factor, either way",
        ("solver", "over", "measure", "by"), ("cases",), paired=True,
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
        along=("lambda", "m", *CURVES), alone=True, paired=True,
    ),
    "path": KindOfClaim(
        "one curve lies below another",
        ("solver", "over", "measure", "along"),
        ("between", "by", "points", "ratios", "within", "cases"),
        along=CURVES, paired=True,
    ),
    "rises": KindOfClaim(
        "a curve rises between two of its points",
        ("solvers", "measure"), ("cases",), alone=True,
    ),
    "counts": KindOfClaim(
        "what a seed determines, observed and compared",
        ("solver", "over", "measure"), ("by", "cases"),
    ),
    "widens": KindOfClaim(
        "a factor between solvers is larger at a second value of C or λ",
        ("measure", "along", "between"), ("solver", "over", "solvers", "by", "cases"),
        along=("C", "lambda"), paired=True,
    ),
    "untestable": KindOfClaim("says why", ("why",)),
}  # fmt: skip
