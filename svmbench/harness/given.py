"""The problem as a solver gets it: a copy, which is compared with the harness's own afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmbench.problem import Problem

#: Constants of a problem and arrays of its rows that a solver must leave as they are.
CONSTANTS = ("lam", "loss", "bias", "l1_radius")
ARRAYS = ("indptr", "indices", "values", "labels")


def changed_parts(given: Problem, own: Problem) -> list[str]:
    """What differs between a problem and the copy that a solver was given.

    A worker's arrays are mapped read-only, so that the same memory has the same content; only an
    array elsewhere is compared with its own, entry by entry.
    """
    parts = [name for name in CONSTANTS if getattr(given, name) != getattr(own, name)]
    for name in ARRAYS:
        one, other = getattr(given.data, name), getattr(own.data, name)
        if not (_is_same_view(one, other) or np.array_equal(one, other)):
            parts.append(name)
    if given.data.n_features != own.data.n_features:
        parts.append("n_features")
    return parts


def _is_same_view(one: Any, other: Any) -> bool:
    """Whether two arrays show the same memory in the same way, or both are missing."""
    if one is None or other is None:
        return one is other
    same = type(one) is type(other) is np.ndarray
    return same and bool(one.__array_interface__ == other.__array_interface__)


def copy_of(problem: Problem) -> Problem:
    """A problem of its own, whose arrays are views of the same memory.

    The type and the strides of an array can be changed even if its entries cannot.
    """
    arrays: dict[str, Any] = {name: getattr(problem.data, name) for name in ARRAYS}
    for name, array in arrays.items():
        arrays[name] = None if array is None else array.view()
    return replace(problem, data=replace(problem.data, **arrays))
