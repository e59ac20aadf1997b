"""One run in this process, on rows in memory: what a solver does from checkpoint to checkpoint."""

from __future__ import annotations

import hashlib
import math
import operator
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset, FloatArray, Provenance
from svmbench.data.in_memory import as_dataset
from svmbench.errors import ConfigError
from svmbench.harness.measurement import Measurement, Terms
from svmbench.names import LossName
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import checked, names_of
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
        ``train_error``. D_ref is a lower bound on the optimum, so that the true accuracy is at most
        this one.
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
        When X and y are not rows of two classes, or a parameter is wrong; also when the solver does
        not train that loss or bias, or needs an l1 ball.
    ConfigError
        When there is no solver of that name.

    Warns
    -----
    UserWarning
        When no bound as close to the optimum as ``accuracy`` was found within the time limit.
    """
    found = find_solver(solver) if isinstance(solver, str) else solver
    unknown = [name for name in parameters if name not in names_of(found.schema)]
    if unknown:
        known = ", ".join(names_of(found.schema))
        raise ValueError(f"{found.name} has no parameter {unknown[0]!r}, only {known}")
    if lacks := found.missing():
        raise ConfigError(f"{found.name}: {lacks}")
    made = found(checked(found.schema, parameters))
    for what, wanted, offered in (
        ("loss", loss, found.losses),
        ("bias", bias, found.biases),
        ("constraint", "none", found.constraints),
    ):
        if wanted not in offered:
            raise ValueError(
                f"{found.name} does not train the {what} {wanted!r}, only {', '.join(offered)}"
            )
    limits = {"lam": lam, "accuracy": accuracy, "max_epochs": max_epochs, "time_limit": time_limit}
    for name, value in limits.items():
        if not 0.0 < value < math.inf:
            raise ValueError(f"{name} is {value!r}; it must be positive and finite")
    if operator.index(seed) < 0:
        raise ValueError(f"seed is {seed!r}; it must not be negative")
    problem = Problem(_rows(X, y), float(lam), Loss(loss), bias)
    optimum = certified_optimum(problem, _SHARE * accuracy, time_limit)
    if not optimum.gap <= accuracy:
        warnings.warn(
            f"the optimum is known only to {optimum.gap:.1e}, which the accuracies include; raise "
            "time_limit",
            stacklevel=2,
        )
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
    if np.iscomplexobj(X):
        raise ValueError("X has complex numbers")
    X = X.tocsr().astype(np.float64) if sp.issparse(X) else np.ascontiguousarray(X, np.float64)
    if X.ndim != 2 or not X.shape[0]:
        raise ValueError(f"X has the shape {X.shape}; it needs rows and columns")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X has values that are not finite numbers")
    y = np.asarray(y)
    if y.shape != X.shape[:1]:
        raise ValueError(f"y has the shape {y.shape}; it needs {(X.shape[0],)}, as X has rows")
    if (y != y).any():  # only nan differs from itself
        raise ValueError("y has values that are not numbers")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; a run needs two")
    rows = as_dataset(X).relabelled(np.where(y == classes[1], 1, -1).astype(np.int8))
    content = hashlib.sha256()
    for array in (rows.indptr, rows.indices, rows.values, rows.labels):
        content.update(b"-" if array is None else np.ascontiguousarray(array).data)
    return replace(rows, provenance=Provenance("memory", content.hexdigest()))


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
