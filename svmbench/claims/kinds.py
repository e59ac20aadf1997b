"""The kinds of claims, in one table: what each says, which keys it has, what decides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from svmbench.records.abscissae import ABSCISSAE

ClaimKind = Literal["ratio", "order", "reaches", "fails", "grows", "path", "untestable"]

#: Horizontal axes of the curves that claims can be about.
CURVES = tuple(name for name, each in ABSCISSAE.items() if each.in_claims)


@dataclass(frozen=True)
class KindOfClaim:
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
        ("measure",),
        ("solver", "over", "solvers", "spread", "over_dataset", "by", "published", "within",
         "along", "between", "cases", "across"),
        along=("C", "lambda", None),
    ),
    "order": KindOfClaim(
        ("solvers", "measure"), ("tie", "cases"),
    ),
    "reaches": KindOfClaim(
        ("solvers", "measure"), ("at_most", "at_least", "cases"), alone=True,
    ),
    "fails": KindOfClaim(
        ("solver", "how"), ("measure", "cases"), alone=True,
    ),
    "grows": KindOfClaim(
        ("solver", "measure", "along"), ("at_most", "at_least", "between", "points", "cases"),
        along=("lambda", "m", *CURVES), alone=True,
    ),
    "path": KindOfClaim(
        ("solver", "over", "measure", "along"),
        ("between", "by", "points", "ratios", "within", "cases"),
        along=CURVES,
    ),
    "untestable": KindOfClaim(("why",)),
}  # fmt: skip
