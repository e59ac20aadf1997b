"""Which further repeats open comparisons and wide intervals ask for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from measured_rows import group, swept

from svmbench.bench import versus

PLAN = SimpleNamespace(
    sweeps=[SimpleNamespace(name=name, item="adult") for name in ("tight", "core")],
)


def doubts_of(found, monkeypatch):
    """What further repeats are asked for, of two sweeps of which the second is theirs."""
    monkeypatch.setattr(versus, "read_found", lambda plan: found)
    return versus.open_doubts(PLAN)


def test_open_comparisons_ask_for_repeats_of_the_cells_that_they_compare(monkeypatch):
    rows_of = [
        group("dcd", [1.0, 1.1, 0.9]),
        group("liblinear", [3.0, 3.3, 2.9], solver="liblinear"),
        group("linear-svc", [6.0, 6.0, 6.0], solver="linear-svc"),
        group("sgd-s", [6.0, 6.0, 6.0], solver="sgd-s"),
    ]
    found = doubts_of(swept(rows_of, monkeypatch), monkeypatch)
    cells = tuple(("adult", 1e-5, each) for each in ("dcd", "liblinear", "linear-svc"))
    assert {(doubt.sweep, doubt.cells, doubt.text) for doubt in found} == {
        (1, cells, "adult, λ = 1e-5, ε = 0.01")
    }
    assert all(doubt.more > 0 for doubt in found)


@pytest.mark.parametrize(
    ("scatter", "stand_in", "pairs", "asks"),
    [
        (0.7, False, 14, True),
        (0.0, False, 14, False),
        (0.7, True, 14, False),  # nobody quotes numbers of stand-ins
        (0.0, False, 3, True),  # its interval has no ends yet
    ],
)
def test_ratios_that_may_be_quoted_ask_for_narrow_intervals(
    scatter, stand_in, pairs, asks, monkeypatch
):
    rng = np.random.default_rng(1)
    ours, theirs = np.exp(scatter * rng.standard_normal((2, pairs)))
    rows_of = [group("dcd", ours), group("liblinear", 1000 * theirs, solver="liblinear")]
    rows_of = [replace(each, stand_in=stand_in) for each in rows_of]
    found = doubts_of(swept(rows_of, monkeypatch), monkeypatch)
    assert {doubt.sweep for doubt in found} == ({1} if asks else set())
    assert all(doubt.more > 0 for doubt in found)
