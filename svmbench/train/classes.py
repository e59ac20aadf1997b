"""A model for any number of classes: each against the rest, on shared rows."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.transforms import Bias
from svmbench.errors import DataError
from svmbench.problem import Problem
from svmbench.train.examples import Examples
from svmbench.train.fit import Fit, fit
from svmbench.train.model import Model
from svmbench.train.objective import SOLVER_TYPES, Objective


@dataclass(frozen=True, eq=False)
class Trained:
    """A model and the fits it consists of.

    Parameters
    ----------
    model : Model
    fits : tuple of Fit
        One for two classes, else one per class, in the model's order. With a regularised bias,
        their last weight is that of the constant feature.
    """

    model: Model
    fits: tuple[Fit, ...]

    @property
    def gap(self) -> float:
        """The largest relative gap of the fits."""
        return max(each.gap for each in self.fits)


def train(
    examples: Examples,
    objective: Objective,
    tolerance: float = 1e-4,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    threads: int = 1,
    progress: Callable[[int, float], None] = lambda label, gap: None,
) -> Trained:
    """Train a model until each of its fits is certified to the tolerance.

    Parameters
    ----------
    examples : Examples
        Of at least two classes.
    objective : Objective
    tolerance : float
        Relative gap (P - D)/D.
    seed : int
    time_limit : float
        Seconds for each fit.
    threads : int
        Fits at the same time.
    progress : callable
        Called with a class and its gap.

    Raises
    ------
    DataError
        When all rows have the same label.
    """
    classes = examples.classes
    if len(classes) < 2:
        raise DataError(
            f"{examples.rows.name}: all rows have the label {classes[0]}; two classes are needed"
        )
    lam = objective.regularisation(examples.rows.n_samples)
    if objective.bias == "regularised":
        examples = Examples(with_constant(examples.rows), examples.labels)

    given_up = threading.Event()

    def looked(label: int, gap: float) -> None:
        if given_up.is_set():
            raise InterruptedError("another class's fit has ended this one")
        progress(label, gap)

    def of_class(label: int) -> Fit:
        bias = "free" if objective.bias == "free" else "none"
        problem = Problem(examples.against_rest(label), lam, objective.as_loss(), bias)
        return fit(
            problem,
            tolerance,
            seed=seed,
            time_limit=time_limit,
            progress=lambda gap: looked(label, gap),
        )

    wanted = classes[:1] if len(classes) == 2 else classes
    # Threads of BLAS gain nothing on vectors, and take the processors from one another.
    with threadpool_limits(1), ThreadPoolExecutor(max(1, min(threads, len(wanted)))) as pool:
        try:
            fits = tuple(pool.map(of_class, wanted))
        except BaseException:
            # Ctrl-C reaches only this thread; the others end at their next look.
            given_up.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Trained(_model(classes, objective, fits), fits)


def with_constant(rows: Dataset) -> Dataset:
    """The rows with a last feature that is always one."""
    return Bias(rho=1.0).apply(rows, None)[0]


def _model(classes: tuple[int, ...], objective: Objective, fits: tuple[Fit, ...]) -> Model:
    weights: FloatArray = np.vstack([each.w for each in fits])
    biases = np.array([each.bias for each in fits])
    if objective.bias == "regularised":
        weights, biases = np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy()
    constant = -1.0 if objective.bias == "none" else 1.0
    return Model(SOLVER_TYPES[objective.loss], classes, weights, biases, constant)
