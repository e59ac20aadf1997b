"""A folder of one small paper, whose data come with svmbench, and a cache of its own."""

from __future__ import annotations

import pytest
from small_paper import TABLE, write_small_paper

SWEEPS = """\
sweeps:
  dense:
    datasets: [tiny-dense]
    lambda: 1e-2
    solvers: [dcd, sgd-s]
    stop: {accuracy: 1e-2, max_epochs: 200, time_limit: 20s}
    repeats: 2
  plane:
    datasets: [tiny-separable]
    lambda: 1e-2
    solvers: [dcd]
    stop: {accuracy: 1e-2, max_epochs: 200, time_limit: 20s}
    repeats: 1
full:
  dense: {repeats: 3, stop: {max_epochs: 300}}
tables:
  - rows: [dataset]
    columns: [solver]
    measures: [{seconds: 1e-2}]
claims:
  - text: Both arrive.
    source: Table 1
    kind: reaches
    where: {sweep: dense}
    solvers: [dcd, sgd-s]
    measure: {seconds: 1e-2}
  - text: It is about people.
    source: Table 1
    kind: untestable
    why: no people here
"""

FIGURE = """\
version: 1
number: Figure 1
order: 2
title: The same runs
question: How do they come down?
sweeps:
  dense: {same_as: table-1/dense}
figures:
  - {x: epochs, y: accuracy}
"""


@pytest.fixture(autouse=True)
def apart(own_cache, monkeypatch):
    """Each test has a cache of its own, and no files but those that come with svmbench."""
    monkeypatch.setenv("SVMBENCH_OFFLINE", "1")
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)


@pytest.fixture
def folder(tmp_path):
    """A folder of papers that holds the one called ``small``."""
    return write_small_paper(tmp_path / "papers", table_1=TABLE + SWEEPS, figure_1=FIGURE)
