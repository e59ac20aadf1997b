"""What a solver shows between training steps, as plain numbers and arrays.

A solver's properties are code of its own. Each is read once, into values that cannot change
afterwards and whose use runs no code of the solver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Array
from svmbench.solvers.base import Solver


class Tally(NamedTuple):
    """A solver's own counts, and whether it has come to an end."""

    presentations: int
    updates: int
    nonzeros: int
    visits: int
    stopped: bool | None
    exhausted: bool


#: The largest count: that of a signed integer of 64 bits.
LARGEST = 2**63 - 1

#: The least counts that a solver can show.
NOTHING = Tally(0, 0, 0, 0, None, False)


def counts_of(solver: Solver) -> Tally:
    """Read a solver's counts.

    Raises ValueError if a count has more than 64 bits: tables could not hold it.
    """
    counters, stopped = solver.counters, solver.stopped
    tally = Tally(
        int(counters.presentations),
        int(counters.updates),
        int(counters.nonzeros),
        int(solver.visits()),
        None if stopped is None else bool(stopped),
        bool(solver.exhausted),
    )
    if max(map(abs, tally[:4])) > LARGEST:
        raise ValueError("its counts have more than 64 bits")
    return tally


def weights_of(solver: Solver, n_features: int) -> tuple[Array, float]:
    """Read a solver's weights, which it may change later, and its bias.

    Raises TypeError if the weights are not real floating-point numbers. Raises ValueError if there
    is not one weight per feature.
    """
    # Not a subclass of ndarray, which could compute its entries when they are used.
    given = np.asarray(solver.w)
    if given.dtype.kind != "f":
        raise TypeError(f"w holds {given.dtype}, not floating-point numbers")
    if given.shape != (n_features,):
        raise ValueError(f"w has the shape {given.shape}, not ({n_features},)")
    return given, float(solver.bias)


def bound_of(solver: Solver) -> float | None:
    """Read a solver's lower bound."""
    dual = solver.dual()
    return None if dual is None else float(dual)
