"""pegasos: stochastic subgradient steps 1/(lambda t), with the options of its paper."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from svmbench.errors import ConfigError
from svmbench.kernels.batches import Batches
from svmbench.kernels.pegasos import Pegasos as PegasosKernel
from svmbench.kernels.sampling import draw_batches, draw_rows
from svmbench.problem import Problem
from svmbench.solvers.base import parameter
from svmbench.solvers.output import OutputParameters
from svmbench.solvers.row_method import RowMethod


class PegasosParameters(OutputParameters):
    project: bool = parameter(
        False,
        "Whether each step ends with the projection onto the ball of radius 1/sqrt(lambda); not "
        "allowed if the problem has its own ball.",
        source="optional in Math. Prog. B 127 (2011), figure 1",
    )
    rescale: bool = parameter(
        True,
        "Whether the stored vector takes its scale in before that underflows. The code released in "
        "2007 does not do so; w is then not a number once the scale is 0. For batches of one row.",
        source="ours; false as in the released code (WeightVector.h)",
    )
    batch: int = parameter(
        1,
        "Rows per step, whose subgradients it averages; at most all rows.",
        source="Math. Prog. B 127 (2011), figures 1 and 2",
        unit="rows",
        ge=1,
    )
    sampling: Literal["iid", "without-replacement", "permuted", "fixed"] = parameter(
        "iid",
        "Order of the rows. iid: independent draws, so that a batch may hold a row twice. "
        "without-replacement: independent batches of distinct rows. permuted: a new permutation "
        "in every epoch, whose last batch may be short. fixed: the same one in every epoch.",
        source="Math. Prog. B 127 (2011), figure 1; without-replacement figure 2; permuted and "
        "fixed section 7",
    )
    output: Literal["last", "average"] = parameter(
        "last",
        "last: the iterate after the last step. average: the mean of the iterates that the steps "
        "after the first `begin` start from.",
        source="Math. Prog. B 127 (2011), section 2 and corollary 1",
    )


class Pegasos(RowMethod):
    """Primal estimated subgradient solver; by default last iterate, one row per step.

    If the problem has an l1 ball, each step ends with the projection onto it.
    """

    name = "pegasos"
    summary = "Primal subgradient steps 1/(λt) on rows drawn with replacement"
    source = "Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 1"
    constraints = ("none", "l1")
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ), or that over ‖w‖₁ ≤ z
    update   w = 0 at the start; t = 1, 2, ...; k rows A, sᵢ at the old w; Π(v) is the
             point of the ball nearest to v:
                 w ← (1 - 1/t) w + 1/(λtk) Σ_A [sᵢ < 1] yᵢ xᵢ
                 w ← min(1, 1/(√λ ‖w‖)) w, if project;  w ← Π(w), where there is a ball
    rows     drawn with replacement, distinct in a batch, or permuted
    output   the last w, or the mean of those that steps start from
    cost     nnz of the rows, nnz more at a margin error and again for a mean: w is stored
             as a number times a vector; in a ball a step with a margin error costs about
             10d
"""
    unstated = (
        "The ℓ1 ball, which is from Chor (2020): its projection replaces that of the ℓ2 ball.",
    )
    schema = PegasosParameters

    def start(self, problem: Problem, seed: int) -> None:
        """Raises ConfigError for two balls, or where no scale could be left as it is."""
        if self.parameters.project and problem.constraint == "l1":
            raise ConfigError(
                "solver pegasos: 'project' and the constraint l1 are two balls; leave one out"
            )
        if not self.parameters.rescale and (
            self.parameters.batch > 1 or problem.constraint == "l1"
        ):
            raise ConfigError(
                "solver pegasos: 'rescale: false' is for batches of one row without a ball of the "
                "problem; leave it out"
            )
        m = problem.data.n_samples
        self._batch: int = min(self.parameters.batch, m)
        sampling = self.parameters.sampling
        whole_epoch = sampling in ("permuted", "fixed")
        self._begin(problem, seed, m if whole_epoch else m - m % self._batch)
        self._permutation = np.arange(m if sampling == "without-replacement" else 0, dtype=np.int32)
        self._take(self._make_kernel())
        if sampling == "fixed":
            self._rng.shuffle(self._order)
        self._begins = math.inf
        if self.parameters.output == "average":
            epoch = len(self._order)
            epochs, steps = divmod(self.parameters.begin, -(-epoch // self._batch))
            self._begins = epochs * epoch + steps * self._batch

    @property
    def presented(self) -> int | None:
        return None if self._batch > 1 else super().presented

    def regret_bound(self, steps: int) -> float:
        """The logarithmic bound on the regret after ``steps`` steps."""
        return logarithmic_bound(self._problem, steps, in_ball=self.parameters.project)

    def _make_kernel(self) -> Any:
        problem, precision = self._problem, self.parameters.precision
        project, lam = self.parameters.project, problem.lam
        rows, order = problem.data.rows, self._order
        if self._batch == 1 and problem.constraint == "none":
            return PegasosKernel(rows, order, lam, project, precision, self.parameters.rescale)
        return Batches(
            rows, order, self._batch, lam, lam, pull=lam, ball=lam if project else 0.0,
            radius=problem.l1_radius, precision=precision,
        )  # fmt: skip

    def _next_order(self) -> None:
        sampling = self.parameters.sampling
        if sampling == "iid":
            draw_rows(self._rng, self._order, self._problem.data.n_samples)
        elif sampling == "without-replacement":
            draw_batches(self._rng, self._order, self._permutation, self._batch)
        elif sampling == "permuted":
            self._rng.shuffle(self._order)


def logarithmic_bound(problem: Problem, steps: int, in_ball: bool = False) -> float:
    """The bound c (1 + ln T)/(2 lam) on the regret of steps 1/(lam t) with the hinge loss.

    sqrt(c) bounds the norm of the subgradients lam w - [..] y x. With R the largest ||x||, it is

        lam z + R       where w is confined to ||w||_1 <= z, since ||w|| <= ||w||_1
        sqrt(lam) + R   with the projection on the ball ||w|| <= 1/sqrt(lam)
        2 R             without a constraint, since w is a mean of vectors y x / lam

    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), lemma 1 and theorem 1,
    prove the last two. Their lemma holds for any convex set, which gives the first.
    """
    longest = math.sqrt(float(problem.data.rows.norms2().max()))
    if problem.constraint == "l1":
        size = problem.lam * problem.l1_radius
    else:
        size = math.sqrt(problem.lam) if in_ball else longest
    return (size + longest) ** 2 * (1.0 + math.log(steps)) / (2.0 * problem.lam)
