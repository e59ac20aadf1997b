"""Rows of a benchmark's findings, with numbers whose answers are known."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd

from svmbench.bench import bounds, versus
from svmbench.bench import found as findings
from svmbench.bench.found import Found, Measured
from svmbench.claims.measured import MeasuredRow
from svmbench.evidence import LEVEL
from svmbench.records.groups import Group
from svmbench.records.measures import Asked

GATHERS = [
    findings.row(
        [
            {"set": "this machine", "stand_in": False, "label": level, "repeat": repeat,
             "table_bytes": size, "gather_ns": once, "gather_add_ns": twice,
             "stream_gb_per_second": speed}
            for repeat, speed in enumerate([20.0, 30.0, 25.0])
        ]
    )
    for level, size, once, twice in [("L1", 1000, 0.2, 0.4), ("memory", 10**9, 4.0, 8.0)]
]  # fmt: skip


def epochs(times=1, **facts):
    """Epochs of two solvers on a set, in so many times the repeats."""
    shared = {"set": "adult", "stand_in": False, "storage": "uint16+float32", "m": 1000, "d": 125,
              "nnz": 4000, "how": "", "state": "converged"}  # fmt: skip
    values = {"dcd": [2.0, 2.0, 1.0], "liblinear": [4.0, None]}
    groups = [
        findings.row(
            [
                {**shared, **facts, "label": label, "repeat": repeat, "ns_per_nonzero": value}
                for repeat, value in enumerate(found * times)
            ]
        )
        for label, found in values.items()
    ]
    return Measured("epochs-adult", "epochs", "adult", groups)


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


SWEPT = Measured("core", "oracle", "adult", [], accuracies=(0.01,))


def compared(ours, theirs):
    """A row against some others; None if they make no pairs."""
    rows = tuple(MeasuredRow("core", each) for each in theirs)
    asked = Asked("seconds", 0.01)
    found = versus.side_by_side(SWEPT, MeasuredRow("core", ours), rows, asked)
    return found[0] if found else None


#: Evidence that decides a question by itself.
ALONE = 2 / LEVEL


def point(at, m, d, seconds, repeats=1):
    return findings.row(
        [
            {"set": "dense", "stand_in": False, "label": f"{m} x {d}", "point": at, "m": m, "d": d,
             "nnz": m * d, "array_bytes": 4 * m * d, "peak_bytes": 5 * m * d, "repeat": repeat,
             "state": "converged",
             "seconds_per_epoch": seconds}
            for repeat in range(repeats)
        ]
    )  # fmt: skip


def found(*parts):
    """What a benchmark found, of these parts alone."""
    return Found(SimpleNamespace(), list(parts))


def swept(groups, monkeypatch):
    """A sweep's results of which these are the rows."""
    result = found(replace(SWEPT, groups=groups))
    for module in (versus, bounds):
        monkeypatch.setattr(module, "champion", lambda: "dcd")
    return result
