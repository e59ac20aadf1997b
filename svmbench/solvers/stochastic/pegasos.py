"""pegasos: stochastic subgradient steps 1/(lambda t), with the options of its paper."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels import pegasos, pegasos_batch
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_batches, draw_rows
from svmbench.kernels.scaled import ScaledState
from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.output import IterateOutput, OutputParameters, random_iterate


class PegasosParameters(OutputParameters):
    """Parameters of pegasos."""

    needs_horizon: ClassVar[tuple[str, ...]] = ("tail-average", "random")

    project: bool = parameter(
        False,
        "Whether each step ends with the projection on the ball of radius 1/sqrt(lambda).",
        source="optional in Math. Prog. B 127 (2011), figure 1",
    )
    batch: int = parameter(
        1,
        "Rows whose subgradients a step averages; all rows where there are no more.",
        source="Math. Prog. B 127 (2011), figures 1 and 2",
        unit="rows",
        ge=1,
    )
    sampling: Literal["iid", "without-replacement", "permuted", "fixed"] = parameter(
        "iid",
        "Which rows come next. iid: independent draws, so that a batch may hold a row twice. "
        "without-replacement: independent batches of distinct rows. permuted: a fresh "
        "permutation an epoch, whose last batch may be short. fixed: the same one every epoch.",
        source="Math. Prog. B 127 (2011), figure 1; without-replacement figure 2; permuted and "
        "fixed section 7",
    )
    output: Literal["last", "average", "tail-average", "random"] = parameter(
        "last",
        "The iterate after the last step; or, of those that the steps start from, the mean of "
        "all, the mean of the second half of the run, or a random one of the run.",
        source="Math. Prog. B 127 (2011), section 2 and corollary 1; tail-average as "
        "JMLR 14 (2013) has it for SDCA",
    )


class Pegasos(IterateOutput):
    """Primal estimated subgradient solver; by default last iterate, one row a step."""

    name = "pegasos"
    summary = "Primal subgradient steps 1/(λt) on rows drawn with replacement"
    source = "Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 1"
    kernels = ("pegasos", "pegasos_batch", "sampling", "scaled", "rows", "rng")
    colour = "#CC79A7"
    schema = PegasosParameters

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0."""
        m, d = problem.data.n_samples, problem.data.n_features
        batch = min(self.parameters.batch, m)
        sampling = self.parameters.sampling
        whole_epoch = sampling in ("permuted", "fixed")
        self._problem = problem
        self._rng = Generator(seed)
        self._v = np.zeros(d, dtype=self.parameters.precision)
        self._u = self._v[:0]
        self._margins = np.empty(batch)
        self._order = np.arange(m if whole_epoch else m - m % batch, dtype=np.int32)
        self._permutation = np.arange(m if sampling == "without-replacement" else 0, dtype=np.int32)
        self._kept: FloatArray | None = None
        self.counters = self._state = ScaledState()
        self._state.position = len(self._order)  # the first order is yet to be drawn
        if sampling == "fixed":
            self._rng.shuffle(self._order)
        self._begins = self._output_begins(seed)

    @property
    def w(self) -> FloatArray:
        """The output: the last iterate until a mean or a chosen iterate is at hand."""
        state = self._state
        if self._kept is not None:
            return self._kept.copy()
        v = self._v.astype(np.float64)
        summed: int = state.steps - self._summed_from if len(self._u) else 0
        if summed == 0:
            last: FloatArray = v * state.scale
            return last
        mean: FloatArray = (v * state.tau + self._u) / summed
        return mean

    def _run(self, target: int) -> None:
        rows, state = self._problem.data.rows, self._state
        lam, project = self._problem.lam, self.parameters.project
        while state.presentations < target:
            if state.position == len(self._order):
                self._next_order()
            vectors = (rows, self._v, self._u, self._order)
            if len(self._margins) == 1:
                pegasos.advance(*vectors, state, lam, project, target)
            else:
                pegasos_batch.advance(*vectors, self._margins, state, lam, project, target)

    def _next_order(self) -> None:
        sampling = self.parameters.sampling
        if sampling == "iid":
            draw_rows(self._rng, self._order, self._problem.data.n_samples)
        elif sampling == "without-replacement":
            draw_batches(self._rng, self._order, self._permutation, len(self._margins))
        elif sampling == "permuted":
            self._rng.shuffle(self._order)
        self._state.position = 0

    def _begin_output(self) -> None:
        if self.parameters.output == "random":
            self._kept = self.w
        else:
            self._u = np.zeros_like(self._v)
            self._state.tau = 0.0
            self._summed_from = self._state.steps

    def _output_begins(self, seed: int) -> float:
        """Presentations at which the mean begins or the random iterate is kept."""
        output = self.parameters.output
        if output == "last":
            return math.inf
        if output == "average":
            return 0
        epoch, batch = len(self._order), len(self._margins)
        epochs, rest = divmod(self._horizon_presentations(self._problem.data.n_samples), epoch)
        steps_an_epoch = -(-epoch // batch)
        steps = epochs * steps_an_epoch - (-rest // batch)
        first = random_iterate(seed, 0, steps) if output == "random" else steps // 2
        epochs, rest = divmod(first, steps_an_epoch)
        return epochs * epoch + rest * batch
