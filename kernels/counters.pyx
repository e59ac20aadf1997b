from .provenance cimport build_record

__build__ = build_record()


cdef class Counters:
    """Work a solver has done so far."""
