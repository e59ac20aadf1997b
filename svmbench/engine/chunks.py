"""Dual coordinate descent on rows in a file, for more rows than fit into memory.

A pass visits ranges of rows, the chunks, in random order, and in each of them random blocks of
rows, as in Yu, Hsieh, Chang and Lin, Large linear classification when data cannot fit in memory
(ACM TKDD 5, 2012). All share one w, and the next chunk is read while this one is visited.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise

import numpy as np

from svmbench.data.dataset import Array, Dataset, mapping_of
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.pairs import PrimalAndDual

#: So many chunks have room in the free memory: the one that is visited, the next one, which is read
#: meanwhile, and what the system keeps for longer than necessary.
IN_MEMORY = 6

#: Most chunks: each has weights of its own.
MOST_CHUNKS = 64

#: Neighbouring rows that are visited one after the other.
BLOCK_ROWS = 32

#: Bytes for each row: a record of the kernel, its order and marks, and dual variables.
ROW_BYTES = 104

#: A certificate reads the rows three times. It is due when the estimated gap is within the
#: tolerance, and at the latest when the passes since the last one have grown by this factor.
CERTIFICATE_GROWTH = 2.0

#: Advice to the system, since Linux 5.4; Python has no name for it. Unlike MADV_DONTNEED, it never
#: discards anything.
_MADV_COLD = 20


def chunks_of(rows: Dataset, available: int) -> int:
    """Number of chunks of rows for so many bytes of free memory."""
    wanted = -(-IN_MEMORY * rows.mapped_bytes // max(available, 1))
    return int(max(2, min(wanted, MOST_CHUNKS)))


def descent_by_chunks(
    problem: Problem, chunks: int, tolerance: float, seed: int, due: Callable[[], bool]
) -> Iterator[PrimalAndDual]:
    """Weights and dual variables, whenever they may be certified to the tolerance."""
    m, d = problem.data.n_samples, problem.data.n_features
    bounds = np.linspace(0, m, min(chunks, m) + 1).astype(np.int64).tolist()
    places = list(pairwise(bounds))
    parts = [problem.data.between(*place) for place in places]
    # Descent on a chunk with lambda m/m_k takes the steps of descent on all rows with lambda.
    states = [Descent(each.rows, problem.lam * m / each.n_samples) for each in parts]
    rng, order = Generator(seed), np.arange(len(parts), dtype=np.int32)
    w = np.zeros(d)
    passes, next_certificate = 0, 1.0
    ended = False
    while not ended:
        rng.shuffle(order)
        read_ahead(parts[order[0]])
        for k, following in zip(order, [*order[1:], None], strict=True):
            if following is not None:
                read_ahead(parts[following])
            state = states[k]
            state.w[:d] = w
            state.descend(rng, BLOCK_ROWS, False)
            w[:] = state.w[:d]
            let_go(parts[k])
            ended = due()
            if ended:
                break
        passes += 1
        dual = sum(state.alpha_sum for state in states) / m - 0.5 * problem.lam * float(w @ w)
        gap = sum(state.slack_sum for state in states) / m  # each row's share as it was met
        if not (ended or passes >= next_certificate or relative_gap(dual + gap, dual) <= tolerance):
            continue
        next_certificate = max(next_certificate, CERTIFICATE_GROWTH * passes)
        alpha = np.empty(m)  # the caller may keep the last one
        for (begin, end), state in zip(places, states, strict=True):
            alpha[begin:end] = state.alpha
        w = problem.weights(alpha)
        yield w.copy(), 0.0, alpha
        del alpha


def read_ahead(data: Dataset) -> None:
    """Have the system read the entries of these rows: one request for a range is read in order."""
    _advise(data, getattr(mmap, "MADV_WILLNEED", None))


def let_go(data: Dataset) -> None:
    """Tell the system that the entries of these rows are the first that memory can do without."""
    _advise(data, _MADV_COLD)


def _advise(data: Dataset, advice: int | None) -> None:
    for array in (data.indices, data.values):
        mapping = None if array is None else mapping_of(array)
        if array is not None and mapping is not None and advice is not None and array.nbytes:
            start, end = _range_in(array, mapping)
            with suppress(OSError, AttributeError):  # a system without it
                mapping.madvise(advice, start, end - start)


def _range_in(array: Array, mapping: mmap.mmap) -> tuple[int, int]:
    """First byte, at the start of a page, and end of a contiguous array in its file."""
    begin = array.ctypes.data - np.frombuffer(mapping, np.uint8, 1).ctypes.data
    return begin // mmap.PAGESIZE * mmap.PAGESIZE, begin + array.nbytes
