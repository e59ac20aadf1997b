"""The problem as a solver gets it: a copy, which is compared with the harness's own afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmbench.problem import Problem

#: Constants of a problem and arrays of its rows that a solver must leave as they are.
CONSTANTS = ("lam", "loss", "bias", "l1_radius")
ARRAYS = ("indptr", "indices", "values", "labels")


def changed_parts(given: Problem, own: Problem) -> list[str]:
    """What differs between a problem and the copy that a solver was given.

    A worker's arrays are mapped read-only, so that the same array has the same content; only
    an array in another's place is compared with it, entry by entry.

    Parameters
    ----------
    given : Problem
        The copy.
    own : Problem
    """
    parts = [name for name in CONSTANTS if getattr(given, name) != getattr(own, name)]
    for name in ARRAYS:
        one, other = getattr(given.data, name), getattr(own.data, name)
        if one is not other and not np.array_equal(one, other):
            parts.append(name)
    if given.data.n_features != own.data.n_features:
        parts.append("n_features")
    return parts


def copy_of(problem: Problem) -> Problem:
    """A problem of its own on the same arrays."""
    return replace(problem, data=replace(problem.data))
