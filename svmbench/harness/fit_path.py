"""One run in this process, on rows in memory: what a solver does from checkpoint to checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.in_memory import as_dataset
from svmbench.harness.measurement import Measurement, Terms
from svmbench.names import LossName
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver

if TYPE_CHECKING:
    import pandas as pd

#: The optimum is certified to this share of the accuracy.
_SHARE = 0.01


class FittedPath(NamedTuple):
    """What a solver did.

    Attributes
    ----------
    points : DataFrame
        A row for each checkpoint: ``epochs``, ``seconds`` of training, ``primal`` (P), ``dual``
        (nan where the solver has no lower bound), ``accuracy`` (P - D_ref)/D_ref and
        ``train_error``.
    w : ndarray of float64, shape (d,)
        The last weights.
    bias : float
        The last bias.
    state : str
        Why the run ended, such as ``converged`` or ``max_steps``.
    """

    points: pd.DataFrame
    w: FloatArray
    bias: float
    state: str


def fit_path(
    solver: str | type[Solver],
    X: Any,
    y: Any,
    lam: float,
    *,
    loss: LossName = "hinge",
    bias: Literal["none", "free"] = "none",
    accuracy: float = 1e-3,
    max_epochs: float = 1000.0,
    time_limit: float = 60.0,
    seed: int = 0,
    **parameters: Any,
) -> FittedPath:
    """Run a solver on rows in memory, and return what it reached on the way.

    The run is that of ``svmbench run``, with the same clock and checkpoints, but in this process:
    take ``svmbench run`` for times that are compared.

    Parameters
    ----------
    solver : str or type of Solver
        Name of a solver of ``svmbench solvers``, or a class of your own.
    X : array or sparse matrix, shape (m, d)
    y : array, shape (m,)
        Two classes; the larger one is positive.
    lam : float
        The regularisation constant λ of P = λ/2 ||w||² + 1/m Σ loss.
    accuracy : float
        Relative distance (P - D_ref)/D_ref at which the run ends.
    max_epochs, time_limit : float
        Limits: passes over the rows, and seconds of training.
    seed : int
        Of the solver's random numbers.
    **parameters
        Those of the solver.

    Returns
    -------
    FittedPath

    Raises
    ------
    ValueError
        When y does not have two classes, or a parameter is wrong.
    ConfigError
        When there is no solver of that name.
    """
    found = find_solver(solver) if isinstance(solver, str) else solver
    made = found(checked(found.schema, parameters))
    problem = Problem(_rows(X, y), lam, Loss(loss), bias)
    optimum = certified_optimum(problem, _SHARE * accuracy, time_limit)
    stop = {
        "accuracy": [accuracy],
        "gap": None,
        "own": False,
        "max_epochs": max_epochs,
        "max_updates": None,
        "time_limit": time_limit,
    }
    made.load()
    measurement = Measurement(made, Terms(problem, None, stop, optimum.dual, optimum.primal))
    points: list[dict[str, Any]] = []
    state = measurement.run(seed, points)
    shown = measurement.shown
    assert shown is not None
    return FittedPath(_table(points, problem.data.n_samples), shown.w, shown.bias, state)


def _rows(X: Any, y: Any) -> Dataset:
    classes = np.unique(np.asarray(y))
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; a run needs two")
    X = X.tocsr().astype(np.float64) if hasattr(X, "tocsr") else np.ascontiguousarray(X, np.float64)
    if not np.isfinite(X.data if hasattr(X, "indptr") else X).all():
        raise ValueError("X has values that are not finite numbers")
    signs = np.where(np.asarray(y) == classes[1], 1, -1).astype(np.int8)
    return as_dataset(X).relabelled(signs)


def _table(points: list[dict[str, Any]], m: int) -> pd.DataFrame:
    import pandas as pd

    found = pd.DataFrame(points)
    return pd.DataFrame(
        {
            "epochs": found["presentations"] / m,
            "seconds": found["wall"],
            "primal": found["primal"],
            "dual": pd.to_numeric(found["dual"]),
            "accuracy": found["accuracy"],
            "train_error": found["train_error"],
        }
    )
