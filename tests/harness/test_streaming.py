"""The unit of time: one streaming pass over the rows."""

import numpy as np
import pytest

from svmbench.data.dataset import Dataset, Provenance
from svmbench.harness import measurement as streaming


def rows(m, nonzeros, values=None):
    indices = np.tile(np.arange(nonzeros, dtype=np.uint16), m)
    indptr = np.arange(0, m * nonzeros + 1, nonzeros, dtype=np.int64)
    labels = np.ones(m, dtype=np.int8)
    return Dataset("made", nonzeros, indptr, indices, values, labels, Provenance("test", ""))


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (rows(3, 5), 4 * 8 + 24),  # 30 bytes of indices are three words and a rest
        (rows(4, 8, np.ones(32, dtype=np.float32)), 5 * 8 + 64 + 128),
        (
            Dataset("dense", 6, None, None, np.ones((2, 6)), np.ones(2, dtype=np.int8)),
            96,
        ),
    ],
)
def test_a_pass_reads_every_array_of_the_rows(monkeypatch, data, size):
    read = []
    monkeypatch.setattr(
        streaming, "stream_sum", lambda words, rounds: read.append(words.nbytes * rounds)
    )
    assert streaming.pass_seconds(data) >= 0.0
    rounds = streaming.LEAST_BYTES // size
    assert sum(read) == streaming.TIMES * rounds * size


def test_the_fastest_pass_counts(monkeypatch):
    monkeypatch.setattr(streaming, "LEAST_BYTES", 1)
    taken = iter([0.05, 0.04, 0.03, 0.02, 0.03, 0.01, 0.3, 0.2, 0.1])
    monkeypatch.setattr(streaming, "_seconds", lambda arrays, rounds: next(taken))
    assert streaming.pass_seconds(rows(3, 5)) == 0.02
    next(taken)  # five were enough
    assert streaming.pass_seconds(rows(3, 5)) == 0.2  # and two are where they take so long
