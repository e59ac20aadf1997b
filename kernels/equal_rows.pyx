# Rows that are equal, entry for entry, and have the same number given, such as their class.
#
#   count_alike   estimates from a few entries of each row how many differ; some ns a row
#   group_equal   finds the groups of equal rows: reads each row once for its hash and, if an
#                 earlier row has the same, once more beside that
#   source        linear counting: Whang, Vander-Zanden and Taylor, ACM Transactions on Database
#                 Systems 15 (1990); linear probing: Knuth, The Art of Computer Programming,
#                 volume 3, section 6.4

from libc.math cimport log
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy

import numpy as np

from .provenance cimport build_record
from .rows cimport DENSE_F32, I32_F32, U16_F32, U16_F64, CompactRows, Rows, prefetch, row_nonzeros

__build__ = build_record()

# Places of a table that are looked at for a row. At half its places taken, one row in thousands
# needs more and stays alone; rows made to have the same hash cost no more than this each.
cdef enum:
    MOST_PROBES = 32
    AHEAD = 16          # rows ahead whose place in the table is asked for

ctypedef fused number_t:
    int8_t
    int64_t

cdef struct Entries:
    const char *columns     # NULL for dense rows
    const char *values      # NULL where all are one
    Py_ssize_t column_bytes
    Py_ssize_t value_bytes


cdef inline Entries entries_of(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """The entries of a row as bytes."""
    cdef Entries row
    cdef int storage = rows.storage
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef bint single = storage == U16_F32 or storage == I32_F32 or storage == DENSE_F32
    cdef Py_ssize_t begin = i * rows.d if storage >= DENSE_F32 else rows.indptr[i]
    cdef Py_ssize_t wide = 2 if storage <= U16_F64 else 4, value_wide = 4 if single else 8
    row.columns, row.column_bytes, row.values, row.value_bytes = NULL, 0, NULL, 0
    if n and storage < DENSE_F32:
        row.columns, row.column_bytes = <const char *> rows.indices + wide * begin, wide * n
    if n and rows.values != NULL:
        row.values = <const char *> rows.values + value_wide * begin
        row.value_bytes = value_wide * n
    return row


cdef inline uint64_t mixed(uint64_t state, uint64_t word) noexcept nogil:
    state = (state ^ word) * <uint64_t> 0x9E3779B97F4A7C15
    return state ^ (state >> 29)


cdef inline uint64_t mixed_two(uint64_t state, const char *bytes) noexcept nogil:
    """The hash of 16 bytes that follow those of ``state``."""
    cdef uint64_t word, next_word
    memcpy(&word, bytes, 8)
    memcpy(&next_word, bytes + 8, 8)
    # This product need not wait for the state.
    return mixed(state, word * <uint64_t> 0xD1B54A32D192ED03 ^ next_word)


cdef inline uint64_t hash_of(uint64_t state, const char *bytes, Py_ssize_t n) noexcept nogil:
    """The hash of n bytes that follow those of ``state``."""
    cdef uint64_t word
    while n >= 16:
        state = mixed_two(state, bytes)
        bytes, n = bytes + 16, n - 16
    while n > 0:
        word = 0
        memcpy(&word, bytes, n if n < 8 else 8)
        state = mixed(state, word)
        bytes, n = bytes + 8, n - 8
    return state


cdef inline uint64_t part_of(uint64_t state, const char *bytes, Py_ssize_t n) noexcept nogil:
    """The hash of 32 of n bytes, away from both ends, or of all if there are no more."""
    cdef Py_ssize_t left_out = (n - 32) // 4 if n > 32 else 0
    if n < 16:
        return hash_of(state, bytes, n)
    return mixed_two(mixed_two(state, bytes + left_out), bytes + n - 16 - left_out)


cdef inline uint64_t begun(const Rows *rows, Py_ssize_t i, int64_t number) noexcept nogil:
    return mixed(<uint64_t> number, <uint64_t> row_nonzeros(rows, i))


def count_alike(CompactRows rows, const number_t[::1] numbers):
    """Estimate how many rows differ in their length, their number or a few entries.

    Equal rows count once, and others that are alike there, too: more rows may differ in all.
    """
    cdef Py_ssize_t m = rows.c.m, i, places = 64, taken = 0
    if numbers.shape[0] != m:
        raise ValueError("rows and numbers do not belong together")
    while places < 4 * m:
        places *= 2
    cdef unsigned char[::1] marked = np.zeros(places // 8, dtype=np.uint8)
    cdef uint64_t state, last = places - 1
    cdef unsigned char bit
    cdef Entries row
    with nogil:
        for i in range(m):
            row = entries_of(&rows.c, i)
            state = part_of(begun(&rows.c, i, numbers[i]), row.columns, row.column_bytes)
            state = mixed(part_of(state, row.values, row.value_bytes), 0) & last
            bit = <unsigned char> (1 << (state & 7))
            taken += not marked[state >> 3] & bit
            marked[state >> 3] |= bit
    return min(<double> m, -places * log(1.0 - <double> taken / places))


def group_equal(CompactRows rows, const number_t[::1] numbers, const double[::1] weights,
                Py_ssize_t most, int32_t[::1] group_of=None):
    """Find groups of rows that have equal entries and equal numbers, at most ``most``.

    The first row of each group, ascending, and the sum of its rows' weights are returned; None and
    None if there are more groups. A few equal rows may have groups of their own. ``group_of`` is
    filled with the group of each row.
    """
    cdef Py_ssize_t m = rows.c.m, i, k, places = 2, groups = 0, group
    cdef bint fits = numbers.shape[0] == m and 0 <= most <= m, wanted = group_of is not None
    if not fits or (weights is not None and weights.shape[0] != m) \
            or (wanted and group_of.shape[0] != m):
        raise ValueError("rows, numbers, weights, most and groups do not belong together")
    while places < 2 * most:
        places *= 2
    firsts, totals = np.empty(most, dtype=np.int32), np.zeros(most)
    cdef int32_t[::1] table = np.full(places, -1, dtype=np.int32), first = firsts
    cdef uint64_t[::1] hashes = np.empty(most, dtype=np.uint64)
    cdef double[::1] sums = totals
    cdef const double *weight = NULL if weights is None or m == 0 else &weights[0]
    cdef uint64_t[AHEAD] coming
    cdef uint64_t state, place, last = places - 1
    with nogil:
        for i in range(min(AHEAD, m)):
            coming[i] = whole_hash(&rows.c, i, numbers[i])
        for i in range(m):
            state = coming[i % AHEAD]
            if i + AHEAD < m:
                coming[i % AHEAD] = whole_hash(&rows.c, i + AHEAD, numbers[i + AHEAD])
                prefetch(&table[coming[i % AHEAD] & last])
            group = groups
            for k in range(MOST_PROBES):
                place = (state + k) & last
                if table[place] < 0:
                    break
                if (hashes[table[place]] == state and numbers[first[table[place]]] == numbers[i]
                        and is_equal(&rows.c, first[table[place]], i)):
                    group = table[place]
                    break
            if group == groups:
                if groups == most:
                    break
                if table[place] < 0:
                    table[place] = <int32_t> group
                first[group], hashes[group] = <int32_t> i, state
                groups += 1
            sums[group] += weight[i] if weight != NULL else 1.0
            if wanted:
                group_of[i] = <int32_t> group
        else:
            i = m
    if i < m:
        return None, None
    return firsts[:groups].copy(), totals[:groups].copy()


cdef inline uint64_t whole_hash(const Rows *rows, Py_ssize_t i, int64_t number) noexcept nogil:
    cdef Entries row = entries_of(rows, i)
    cdef uint64_t state = hash_of(begun(rows, i, number), row.columns, row.column_bytes)
    return mixed(hash_of(state, row.values, row.value_bytes), 0)


cdef inline bint is_equal(const Rows *rows, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    cdef Entries one = entries_of(rows, a), other = entries_of(rows, b)
    if one.column_bytes != other.column_bytes or one.value_bytes != other.value_bytes:
        return False
    if one.column_bytes and memcmp(one.columns, other.columns, one.column_bytes) != 0:
        return False
    return one.value_bytes == 0 or memcmp(one.values, other.values, one.value_bytes) == 0
