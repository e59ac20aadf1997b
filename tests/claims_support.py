"""Rows with planted measurements, and what is found of a claim about them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from svmbench.claims.judge import judge_claims
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.config import Sweep
from svmbench.records.groups import Group

INF = math.inf

#: Repeats at which a clear effect is decided, whatever else the page asks.
MANY = 16


def noisy(factor=1.0, n=MANY, sigma=0.02, seed=0):
    """Samples about ``factor``."""
    return list(factor * np.random.default_rng(seed).lognormal(0, sigma, n))


def row(label, seconds, *, state=None, lam=1e-3, sweep="base", stand_in=False, dataset="adult",
        m=1000.0, traces=None, **columns):  # fmt: skip
    """A solver's repeats by their seconds to 0.01."""
    n = len(seconds)
    ends = ["converged" if math.isfinite(value) else "time_limit" for value in seconds]
    reached = [math.nan if math.isinf(value) else value for value in seconds]
    runs = pd.DataFrame(
        {
            "id": [f"{sweep}-{dataset}-{label}-{lam:g}-{repeat}" for repeat in range(n)],
            "repeat": range(n),
            "state": state or ends,
            "horizon": math.nan,
            "lambda": lam,
            "C": 1.0 / (m * lam),
            "m": m,
            "step_rows": 1.0,
            "epochs": 10.0,
            "max_epochs": 50.0,
            "limit_seconds": 30.0,
            "train_seconds": [30.0 if math.isinf(value) else value for value in seconds],
            "setup_seconds": 0.0,
            "seconds_to_0.01": reached,
            "epochs_to_0.01": reached,
            "reference_dual": 0.3,
            "reference_gap": 1e-6,
            "primal": 0.3,
            "accuracy": 0.005,
            "test_error": 0.1,
        }
        | columns
    )
    points = pd.DataFrame() if traces is None else traced(runs, traces)
    return MeasuredRow(sweep, Group(dataset, stand_in, lam, label, label, runs), points)


def traced(runs, accuracy, *, epochs=(0.0, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)):
    """Points of each run: ``accuracy`` is a function of epochs and the repeat."""
    return pd.DataFrame(
        [
            {
                "id": run,
                "repeat": repeat,
                "point": at,
                "epochs": epoch,
                "wall_seconds": 3.0 * epoch,
                "seconds_after_setup": 3.0 * epoch,
                "accuracy": accuracy(epoch, repeat),
                "primal": 0.3 * (1.0 + accuracy(epoch, repeat)),
                "test_error": 0.1,
            }
            for run, repeat in zip(runs["id"], runs["repeat"], strict=True)
            for at, epoch in enumerate(epochs)
        ]
    )


def claim(kind="ratio", **keys):
    """A claim about the solvers a and b, with what its kind needs."""
    own = {
        "path": {"solver": "a", "over": "b", "measure": "suboptimality", "along": "epochs"},
        "fails": {"solver": "a"},
        "grows": {"solver": "a", "along": "lambda", "measure": "suboptimality"},
        "untestable": {"why": "no such machine"},
    }.get(kind, {})
    if kind == "ratio" and not keys.keys() & {"solvers", "spread"}:
        own = {"solver": "a", "over": "b"}
    plain = kind not in ("untestable", "fails")
    measure = {"measure": {"seconds": 0.01}} if plain else {}
    given = {"text": "So it is.", "source": "Table 1", "kind": kind} | measure | own | keys
    return Claim.model_validate(given)


def widens(**keys):
    """A claim that b over a becomes larger from one C to another."""
    return claim(**{"along": "C", "between": [1, 10]} | keys)


def both_of(dataset, *, stand_in=False):
    """Rows of a and b on a data set; b takes three times as long."""
    return [
        row(label, noisy(factor, seed=seed), dataset=dataset, stand_in=stand_in)
        for seed, (label, factor) in enumerate((("a", 1.0), ("b", 3.0)))
    ]


def found(wanted, *rows):
    """The result of one claim."""
    (results,) = judge_claims([([wanted], rows)])
    (result,) = results
    return result


def sweep(**keys):
    """A sweep that runs a and b on adult."""
    given = {
        "version": 1,
        "name": "base",
        "datasets": ["adult"],
        "solvers": [{"name": "dcd", "label": "a"}, {"name": "pegasos", "label": "b"}],
        "stop": {"accuracy": [1e-1, 1e-2], "max_epochs": 10},
    }
    return Sweep.model_validate(given | keys)
