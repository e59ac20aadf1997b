"""Rows of a benchmark's findings, with numbers whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd

from svmbench.bench import versus
from svmbench.bench.found import Found, Measured
from svmbench.claims.measured import MeasuredRow
from svmbench.records.groups import Group
from svmbench.records.measures import Asked


def group(label, seconds, *, solver="dcd", accuracy=0.01, state="converged", spent=1.0):
    """A row of a sweep's tables: one run a repeat, nan where it did not arrive."""
    runs = pd.DataFrame(
        {
            "repeat": range(len(seconds)),
            f"seconds_to_{accuracy!r}": seconds,
            f"last_above_seconds_{accuracy!r}": math.nan,
            "state": state,
            "horizon": math.nan,
            "train_seconds": spent,
            "limit_seconds": spent if state == "time_limit" else 60.0,
            "max_epochs": math.nan,
            "C": math.nan,
            "epochs": 1.0,
        }
    )
    return Group("adult", False, 1e-5, solver, label, runs)


SWEPT = Measured("core", "adult", [], accuracies=(0.01,))


def compared(ours, theirs):
    """A row against some others; None if they make no pairs."""
    rows = tuple(MeasuredRow("core", each) for each in theirs)
    asked = Asked("seconds", 0.01)
    return versus.side_by_side(SWEPT, MeasuredRow("core", ours), rows, asked)


def found(*parts):
    """What a benchmark found, of these parts alone."""
    return Found(SimpleNamespace(), list(parts))


def swept(groups, monkeypatch):
    """A sweep's results of which these are the rows."""
    result = found(replace(SWEPT, groups=groups))
    monkeypatch.setattr(versus, "champion", lambda: "dcd")
    return result
