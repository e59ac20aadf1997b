# What every solver counts, whatever it does.

from libc.stdint cimport int64_t


cdef class Counters:
    """Work done so far: presentations, updates and nonzeros touched."""

    cdef public int64_t presentations, updates, nonzeros
