# The Python side of scaled weight vectors.

from .provenance cimport build_record

__build__ = build_record()


cdef class ScaledState(Counters):
    """Counters, and the scalars of w = scale v and of the sum of iterates, tau v + u.

    Attributes
    ----------
    steps : int
        Steps taken, t of the papers.
    scale : float
        Factor of the stored vector v.
    norm2 : float
        ||w||^2, kept by recurrence where a projection needs it.
    tau : float
        Factor of v in the sum.
    bias, bias_sum : float
        The bias b, 0 where there is none, and the sum of its iterates.
    position : int
        Entries of the order of rows that have been presented.
    """

    def __init__(self):
        self.scale = 1.0
