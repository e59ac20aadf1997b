"""Dual coordinate descent in blocks, with shrinking that cannot stick."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator

#: Bytes of active rows up to which they are visited in true random order: they are in the cache.
CACHED_BYTES = 8e6

#: Share of the last certified gap to which the active rows' own must fall before all rows are
#: looked at again, and the passes' worth of work on them after which that happens anyway.
SURVEY_SHARE, SURVEY_PASSES = 0.1, 8.0

#: Times the shrinking thresholds of the last pass, beyond which a survey leaves rows out.
SURVEY_MARGIN = 2.0


class DualPhase:
    """Passes over the active rows, and over all rows where they have done enough.

    Parameters
    ----------
    data : Dataset
    lam : float
    rng : Generator
    block_rows : int
        Rows in a block; 1 for true random order throughout.
    shrinking : bool
    tolerance : float
        Relative gap that is to be certified as soon as it may be there.
    """

    def __init__(
        self,
        data: Dataset,
        lam: float,
        rng: Generator,
        block_rows: int,
        shrinking: bool,
        tolerance: float,
    ) -> None:
        self.counters = self._state = Descent(data.rows, lam)
        self._rng, self._block_rows, self._shrinking = rng, block_rows, shrinking
        self._m, self._nnz, self._lam = data.n_samples, data.nnz, lam
        self._d = data.n_features
        self._row_bytes = data.nbytes / data.n_samples
        self._tolerance = tolerance
        self._certified = math.inf
        self._current = False
        self._expected = math.inf
        self._work = 0

    def iterate(self) -> None:
        """One pass over the active rows, and perhaps a survey."""
        state = self._state
        before = state.nonzeros
        self._current = False
        cached = state.active * self._row_bytes <= CACHED_BYTES
        state.descend(self._rng, 1 if cached else self._block_rows, self._shrinking)
        self._work += state.nonzeros - before
        expected = state.slack_sum / self._m
        if self._due(expected):
            self._expected, self._work = expected, 0
            state.upper *= SURVEY_MARGIN
            state.lower *= SURVEY_MARGIN
            state.survey(self._shrinking)
            self._certified = state.slack_sum / self._m
            self._current = True

    def _due(self, expected: float) -> bool:
        state = self._state
        enough = 0.5 * self._tolerance * self.bound()
        if expected <= min(enough, 0.5 * self._expected) and self._certified > 2.0 * enough:
            return True
        if state.active == state.m:
            return False
        worked = self._work > SURVEY_PASSES * self._nnz
        return state.active == 0 or expected < SURVEY_SHARE * self._certified or worked

    def bound(self) -> float:
        """D(alpha), as kept in step."""
        w = self._state.w
        return float(self._state.alpha_sum / self._m - 0.5 * self._lam * (w @ w))

    @property
    def gap(self) -> float:
        """P - D, where the last thing done was a survey; else inf."""
        return self._certified if self._current else math.inf

    @property
    def state(self) -> Descent:
        """The kernel's own state."""
        return self._state

    @property
    def passes(self) -> float:
        """Work so far, in passes over all entries."""
        return float(self._state.nonzeros / max(1, self._nnz))

    @property
    def w(self) -> FloatArray:
        """The weights, shape (d,); a new array."""
        return np.array(self._state.w[: self._d])

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); a new array."""
        return np.array(self._state.alpha)

    @property
    def exhausted(self) -> bool:
        """Never: a pass may always move something."""
        return False
