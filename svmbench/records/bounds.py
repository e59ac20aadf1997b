"""When P counts as below the certified bound D_ref: one rule for runs, reports and `verify`."""

from __future__ import annotations

#: Share by which rounding may take P below a certified lower bound on P*.
BELOW = 1e-9


def lies_below(primal: float, bound: float) -> bool:
    """Whether P < D_ref (1 - `BELOW`), which fails a run unless its rounding explains it."""
    return primal < bound * (1.0 - BELOW)


def least_accuracy(bound: float, distance: str = "relative") -> float:
    """The accuracy below which P `lies_below` the bound: no run has recorded one."""
    share = BELOW + 1e-15  # P - D_ref is rounded too
    return -share * (bound if distance == "absolute" else 1.0)
