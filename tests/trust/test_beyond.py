"""Offsets of entries beyond 2^31 are kept in 64 bits.

A file of some rows is mapped many times into consecutive address ranges, so that arrays of more
than 2^31 entries take the memory of one piece.
"""

import ctypes
import mmap
import os
import sys
import weakref

import numpy as np
import pytest

from svmbench.data.dataset import Dataset
from svmbench.kernels import objective
from svmbench.kernels.sgd_primal import Perceptron
from svmbench.problem import Problem

if not sys.platform.startswith("linux"):
    pytest.skip("rows are mapped repeatedly by calls that Linux has", allow_module_level=True)

#: Features, so many that 2^31 entries make few rows; filler rows per piece; and pieces, which
#: together hold slightly more than 2^31 entries.
FEATURES, PIECE_ROWS, PIECES = 1 << 16, 64, 513
ROWS = 40

MAP_SHARED, MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MAP_NORESERVE = 0x01, 0x02, 0x10, 0x20, 0x4000


def repeated(piece, tail):
    """PIECES times ``piece``, of whole pages, then ``tail``, in the memory of both once."""
    assert piece.nbytes % mmap.PAGESIZE == 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    word, number = ctypes.c_size_t, ctypes.c_int
    libc.mmap.argtypes = [ctypes.c_void_p, word, number, number, number, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, word]

    def mapped(at, size, protection, flags, file):
        address = libc.mmap(at, size, protection, flags, file, 0)
        assert address not in (None, ctypes.c_void_p(-1).value), os.strerror(ctypes.get_errno())
        return address

    size, end = piece.nbytes, piece.nbytes * PIECES
    # Reserve the whole range first, so that the pieces are adjacent.
    reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    start = mapped(None, end + tail.nbytes + size, 0, reserved, -1)
    file = os.memfd_create("rows")
    os.write(file, piece.tobytes())
    for at in range(start, start + end, size):
        mapped(at, size, mmap.PROT_READ, MAP_SHARED | MAP_FIXED, file)
    os.close(file)
    writable, private = mmap.PROT_READ | mmap.PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    mapped(start + end, tail.nbytes + size, writable, private, -1)
    ctypes.memmove(start + end, tail.tobytes(), tail.nbytes)
    buffer = (ctypes.c_ubyte * (end + tail.nbytes)).from_address(start)
    weakref.finalize(buffer, libc.munmap, start, end + tail.nbytes + size)
    return np.frombuffer(memoryview(buffer), dtype=piece.dtype)


def beyond(dense):
    """ROWS rows after fillers of 2^31 explicit entries, and after as many rows without entries.

    Dense rows are filled with zeros; the entries of the others are implicit ones.
    """
    rng = np.random.default_rng(1)
    lengths, fillers = rng.integers(1, 20, size=ROWS), PIECE_ROWS * PIECES
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    # Few columns, so that rows share some; they include the first and the last column.
    known = np.unique([0, FEATURES - 1, *rng.choice(FEATURES, 98, replace=False)])
    columns = np.concatenate([np.sort(rng.choice(known, n, replace=False)) for n in lengths])
    values = (rng.integers(1, 33, size=len(columns)) / 16.0).astype(np.float32)
    labels = np.concatenate([np.tile([1, -1], fillers // 2), rng.choice([-1, 1], size=ROWS)])
    labels = labels.astype(np.int8)
    short, empty = columns.astype(np.int32 if dense else np.uint16), np.zeros(fillers, np.int64)
    pointers = np.concatenate([empty, indptr])
    small = Dataset("small", FEATURES, pointers, short, values if dense else None, labels)
    if dense:
        rows = np.zeros((ROWS, FEATURES), np.float32)
        rows[np.repeat(np.arange(ROWS), lengths), columns] = values
        stored = repeated(np.zeros(PIECE_ROWS * FEATURES, np.float32), rows.reshape(-1))
        return Dataset("large", FEATURES, None, None, stored.reshape(-1, FEATURES), labels), small
    indices = repeated(np.tile(np.arange(FEATURES).astype(np.uint16), PIECE_ROWS), short)
    pointers = np.concatenate([np.arange(fillers) * FEATURES, fillers * FEATURES + indptr])
    return Dataset("large", FEATURES, pointers, indices, None, labels), small


def touched(data):
    """What comes of the last rows alone: their combination, and a after presenting them."""
    m = data.n_samples
    alpha, run = np.zeros(m), Perceptron(data.rows, np.arange(m, dtype=np.int32), 2.0**-10)
    alpha[-ROWS:] = np.arange(1, ROWS + 1) / 64.0
    run.position = m - ROWS
    run.advance(ROWS)
    assert run.presentations == ROWS
    return objective.combination(data.rows, alpha), run.a


@pytest.mark.parametrize("dense", [False, True])
def test_rows_beyond_the_offsets_of_32_bits_are_the_rows_that_were_stored(dense):
    large, small = beyond(dense)
    assert (large.n_samples - ROWS) * FEATURES > 1 << 31
    for found, expected in zip(touched(large), touched(small), strict=True):
        assert expected.any()
        np.testing.assert_array_equal(found, expected)
    if dense:  # the filler rows are zeros: P is that of empty ones
        w = np.round(16.0 * np.random.default_rng(0).normal(size=FEATURES)) / 16.0
        assert Problem(large, 1e-3).evaluate(w) == Problem(small, 1e-3).evaluate(w)
