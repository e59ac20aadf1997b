"""Cholesky factors, by the LAPACK that takes less time with its loading."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, FloatArray

#: Sizes from which SciPy's LAPACK factors systems. It is two to three times as fast as NumPy's
#: there, and about as fast below.
LARGE = 200

#: To load SciPy's LAPACK takes about as long as NumPy's factors of so many systems of that size
#: exceed SciPy's. Where it is not loaded yet, NumPy's is used until then.
LOADING = 1000.0

#: Cost of a factor of n rows, in entries that a pass of dual descent touches in the same time: per
#: multiply-add, of which there are n^3/3, and per entry of the matrix. Within a sixth of the time
#: from 200 to 3,000 rows; with fewer, calls take longer than the work.
MULTIPLY_ADD_COST, ENTRY_COST = 0.025, 2.0

#: Cost of solving a system that is factored, per multiply-add, of which there are n^2.
SOLVE_COST = 0.25


def factor_cost(n: int) -> float:
    """Cost of a factor of an n x n system, in entries of a pass."""
    return MULTIPLY_ADD_COST * float(n) ** 3 / 3.0 + ENTRY_COST * float(n) ** 2


def solve_cost(n: int) -> float:
    """Cost of solving an n x n system with its factor, in entries of a pass."""
    return SOLVE_COST * float(n) ** 2


def load() -> None:
    """Load SciPy's LAPACK: solvers do so before the clock starts."""
    lapack()


@cache
def lapack() -> Any:
    """SciPy's LAPACK, with as many threads as NumPy's BLAS has."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    before = ThreadpoolController().select(user_api="blas")
    import scipy.linalg.lapack  # type: ignore[import-untyped]

    # SciPy brings a BLAS of its own: it gets no more threads than the others have now.
    if before.lib_controllers:
        threads = min(each.num_threads for each in before.lib_controllers)
        ThreadpoolController().select(user_api="blas").limit(limits=threads)
    return scipy.linalg.lapack


#: Sizes of the large systems that NumPy's LAPACK has factored.
_without: list[int] = []


def _loaded_or_worth_it(size: int) -> bool:
    """Whether SciPy's LAPACK is loaded, or the factors so far would have paid for its loading."""
    if lapack.cache_info().currsize or "scipy.linalg.lapack" in sys.modules:
        return True
    _without.append(size)
    return sum((each / LARGE) ** 3 for each in _without) > LOADING


def factor_of(system: FloatArray, spoil: bool = False) -> FloatArray | None:
    """The upper triangular U with U^T U = system; None where rounding has made it indefinite."""
    factor: Array
    if len(system) >= LARGE and _loaded_or_worth_it(len(system)):
        # In Fortran's order the upper triangle is the lower one.
        factor, failed = lapack().dpotrf(system.T, lower=1, clean=0, overwrite_a=spoil)
        return None if failed else factor.T
    try:
        factor = np.linalg.cholesky(system.T)
    except np.linalg.LinAlgError:
        return None
    return np.ascontiguousarray(factor.T)


def raised_factor(system: FloatArray, ridges: Iterable[float]) -> FloatArray | None:
    """As `factor_of`, for the system with its diagonal raised as little as rounding demands."""
    diagonal = np.array(np.diagonal(system))
    for ridge in ridges:
        np.fill_diagonal(system, diagonal * (1.0 + ridge))
        factor = factor_of(system)
        if factor is not None:
            return factor
    return None
