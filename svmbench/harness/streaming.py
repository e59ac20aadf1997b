"""One streaming pass over the rows: a unit of time that is comparable between machines."""

from __future__ import annotations

from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

from svmbench.data.dataset import Dataset
from svmbench.kernels.physics import stream_sum

#: Bytes that a measurement reads at least: a pass over fewer bytes is repeated.
LEAST_BYTES = 1 << 20

#: Number of measurements, and the seconds after which two suffice. The fastest one counts, since
#: any disturbance makes a measurement slower.
TIMES, LARGE = 5, 0.2


def pass_seconds(data: Dataset) -> float:
    """Seconds to read the arrays of the rows once and in order, without the labels.

    No method that reads every row can take less per pass. Rows in a processor's cache are read
    from there, as in training.
    """
    arrays = [_words(a) for a in (data.indptr, data.indices, data.values) if a is not None]
    size = sum(words.nbytes for words in arrays)
    rounds = max(1, LEAST_BYTES // max(1, size))
    found = [_seconds(arrays, rounds) for _ in range(2)]
    while len(found) < TIMES and sum(found) < LARGE:
        found.append(_seconds(arrays, rounds))
    return min(found) / rounds


def _seconds(arrays: list[NDArray[np.uint64]], rounds: int) -> float:
    begun = perf_counter_ns()
    for words in arrays:
        stream_sum(words, rounds)
    return (perf_counter_ns() - begun) / 1e9


def _words(array: NDArray[np.generic]) -> NDArray[np.uint64]:
    """The array's bytes as whole words; up to seven bytes at the end are left out."""
    octets = array.reshape(-1).view(np.uint8)
    return octets[: octets.size // 8 * 8].view(np.uint64)
