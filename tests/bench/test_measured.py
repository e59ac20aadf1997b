"""What is measured: passes, rows of a size, and measurements that die."""

from __future__ import annotations

from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_rows import epochs

from svmbench.bench import rows
from svmbench.bench.measure import READERS
from svmbench.bench.pace import ForeignPace, nanoseconds
from svmbench.bench.profile import Growth, ReaderName
from svmbench.bench.tasks import run_job
from svmbench.data.cache import open_cached
from svmbench.data.libsvm import read_libsvm
from svmbench.kernels.counters import Counters
from svmbench.records.samples import samples
from svmbench.solvers.base import Parameters, parameter


def test_nanoseconds_are_of_a_stored_nonzero_and_leave_out_what_took_no_time():
    assert nanoseconds(16e-6, 2.0, 4000) == pytest.approx(2.0)
    assert nanoseconds(-1e-6, 1.0, 4000) is None
    part = epochs()
    dcd, liblinear = part.groups
    assert samples(dcd, part.asked()) == {0: 2.0, 1: 2.0, 2: 1.0}
    assert samples(liblinear, part.asked()) == {0: 4.0}


class Fake:
    """A program that makes ever more passes, the tighter its tolerance."""

    name, foreign = "liblinear", True

    class schema(Parameters):  # noqa: N801
        """What it is told."""

        tolerance: float = parameter(0.0, "A tolerance.", source="a test")

    def __init__(self, first, second):
        self.first, self.second = first, second
        self.parameters = self.schema()

    def convert(self, problem):
        pass

    def start(self, problem, seed):
        self.counters = Counters()

    def advance(self, steps):
        tolerance = self.parameters.tolerance
        passes = 1 if tolerance > self.first else 2 if tolerance > self.second else 50
        self.counters.presentations = 10 * passes


@given(st.floats(1e-3, 4.0), st.floats(1.2, 3.0))
def test_a_second_pass_is_found_however_narrow_its_tolerances(first, ratio):
    problem = SimpleNamespace(data=SimpleNamespace(n_samples=10))
    pace = ForeignPace(Fake(first, first / ratio), problem)
    assert pace.sample(0)[1] == 1.0
    assert pace.how == "runs of 1 and 2 passes"


def test_rows_of_a_size_and_the_text_of_them(monkeypatch, tmp_path):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(rows, "last_cache", lambda: 9000)
    dense = Growth(name="dense", nnz_row=4, d=(4, 8), caches=(1.0, 2.0))
    assert rows.sizes(dense) == [(529, 4), (1059, 4), (529, 8)]
    sparse = Growth(name="sparse", nnz_row=5, d=(50,), caches=(1.0,))
    for growth, (m, d), storage in (
        (dense, (529, 8), "dense float32"),
        (sparse, (200, 50), "uint16+float32"),
    ):
        data = open_cached(rows.made_rows(growth, m, d))
        assert (data.n_samples, data.n_features, data.storage) == (m, d, storage)
        assert set(np.unique(data.labels)) == {-1, 1}
        text = tmp_path / "rows.libsvm"
        text.write_bytes(rows._lines(data, 0, m))
        read = read_libsvm(text, n_features=d)
        np.testing.assert_array_equal(read.labels, data.labels)
        np.testing.assert_allclose(
            np.ravel(read.values), np.ravel(data.values), rtol=1e-5, atol=1e-9
        )
        rows.drop_rows(growth, m, d)
        assert open_cached(rows.entry_path(f"bench-{growth.name}-{m}x{d}")) is None


def test_a_measurement_that_dies_says_why():
    assert run_job({"kind": "nothing", "label": "a", "first": 3}, 60.0) == [
        {
            "kind": "nothing",
            "label": "a",
            "repeat": 3,
            "state": "failed",
            "reason": "KeyError: 'nothing'",
        }
    ]


def test_every_reader_of_profiles_can_be_measured():
    assert set(READERS) == set(get_args(ReaderName))
