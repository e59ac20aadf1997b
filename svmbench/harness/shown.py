"""What a solver shows between training steps, as plain numbers and arrays.

A solver's properties are code of its own. Each is read once, into values that cannot change
afterwards and whose use runs no code of the solver.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.solvers.base import Solver


class Tally(NamedTuple):
    """A solver's own counts, and whether it has come to an end."""

    presentations: int
    updates: int
    nonzeros: int
    visits: int
    stopped: bool | None
    exhausted: bool


def counts_of(solver: Solver) -> Tally:
    """Read a solver's counts."""
    counters, stopped = solver.counters, solver.stopped
    return Tally(
        int(counters.presentations),
        int(counters.updates),
        int(counters.nonzeros),
        int(solver.visits()),
        None if stopped is None else bool(stopped),
        bool(solver.exhausted),
    )


def weights_of(solver: Solver, n_features: int) -> tuple[FloatArray, float]:
    """Read a solver's weights, into an array of their own, and its bias.

    Raises
    ------
    TypeError
        If the weights are not real floating-point numbers.
    ValueError
        If there is not one weight per feature.
    """
    # Not a subclass of ndarray, which could compute its entries when they are used.
    given = np.asarray(solver.w)
    if given.dtype.kind != "f":
        raise TypeError(f"w holds {given.dtype}, not floating-point numbers")
    if given.shape != (n_features,):
        raise ValueError(f"w has the shape {given.shape}, not ({n_features},)")
    return np.array(given, dtype=np.float64, order="C"), float(solver.bias)


def largest_scaling_of(solver: Solver) -> float | None:
    """Read the largest entry of λB, the diagonal scaling of a solver's steps."""
    largest = solver.largest_scaling
    return None if largest is None else float(largest)


def bound_of(solver: Solver) -> float | None:
    """Read a solver's lower bound."""
    dual = solver.dual()
    return None if dual is None else float(dual)
