"""A certified benchmark of linear support vector machine training.

``svmbench.load_results("results/NAME")`` gives the results of a sweep as pandas frames and figures.
``from svmbench import LinearSVC`` (or ``LinearSVCCV``, ``LinearSVCPath``, ``LogisticRegression``)
gives scikit-learn estimators, which need ``pip install scikit-learn``. ``svmbench.load_model``
reads a model of ``svmbench train``. ``svmbench.fit_path`` runs a solver on rows in memory and
returns what it reached on the way.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ESTIMATORS = {
    "LinearSVC": "svmbench.train.estimator",
    "LinearSVCCV": "svmbench.train.many_cs",
    "LinearSVCPath": "svmbench.train.many_cs",
    "LogisticRegression": "svmbench.train.estimator",
}

_FUNCTIONS = {
    "fit_path": "svmbench.harness.fit_path",
    "load_model": "svmbench.train.loaded",
    "load_results": "svmbench.report.frames",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for first now: pandas is slow to load, scikit-learn is optional."""
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_ESTIMATORS[name]), name)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("sklearn"):
            raise
        raise ImportError(f"{name} needs scikit-learn: pip install scikit-learn") from None
