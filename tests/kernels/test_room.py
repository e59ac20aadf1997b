"""Arrays that share memory: zeros, apart from each other, of the sizes and types wanted."""

import mmap

import numpy as np
import pytest

from svmbench.kernels.room import HUGE_PAGE, LINE, WORTH, new_map, zeros

RECORD = np.dtype([("start", "i8"), ("n", "i4"), ("y", "f4")])


@pytest.mark.parametrize("n", [0, 1, 1000, WORTH // 8, HUGE_PAGE // 8 + 1])
def test_arrays_are_zeros_and_do_not_overlap(n):
    wanted = [(n, np.float64), (3, RECORD), (0, np.int32), (n, np.int8), (2 * n + 1, np.int32)]
    arrays = zeros(wanted)
    assert [(len(array), array.dtype) for array in arrays] == wanted
    assert not any(array.view(np.uint8).any() for array in arrays)
    for k, array in enumerate(arrays):
        array.view(np.uint8)[:] = k + 1
    assert all(np.all(array.view(np.uint8) == k + 1) for k, array in enumerate(arrays))


@pytest.mark.parametrize("n", [3, WORTH])
def test_arrays_begin_at_lines_of_the_cache_and_large_ones_in_a_huge_page(n):
    arrays = [array for array in zeros([(n, np.int8), (5, np.float64)]) if len(array)]
    assert all(array.ctypes.data % LINE == 0 for array in arrays)
    if n >= WORTH:
        assert arrays[0].ctypes.data % HUGE_PAGE == 0


def test_arrays_outlive_each_other():
    first = zeros([(WORTH, np.int8), (WORTH, np.int8)])[1]
    others = [zeros([(WORTH, np.int8)])[0] for _ in range(10)]
    for other in others:
        other[:] = 7
    assert not first.any()


def test_memory_that_there_is_not_is_a_memory_error():
    with pytest.raises(MemoryError, match="no room for"):
        zeros([(1 << 60, np.int8)])


@pytest.mark.skipif(not hasattr(mmap, "MADV_HUGEPAGE"), reason="no huge pages here")
def test_a_system_that_refuses_huge_pages_gives_others(monkeypatch):
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", -1)
    room = new_map(100)
    room[:100] = b"x" * 100
    assert room[:100] == b"x" * 100
