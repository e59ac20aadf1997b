from .provenance cimport build_record

__build__ = build_record()


cdef class Counters:
    """Work a solver has done so far.

    Attributes
    ----------
    presentations : int
        Rows looked at, m to an epoch.
    updates : int
        Presentations that changed the weights (margin errors, for the perceptron-like methods).
    nonzeros : int
        Stored entries read or written by inner products and updates.
    """
