# Two threads that take steps on weights of their own, and now and then take over each other's.
#
#   problem   max m D = sum alpha_i - lam m/2 ||w||^2 from the common weights c along s = s_0 + s_1,
#             where s_t = w_t - c is what thread t has changed
#   merge     w_t = c + theta s in both threads. m D is at its maximum where theta =
#             (g + lam m/2 (||s_0||^2 + ||s_1||^2)) / (lam m ||s||^2), g what both have gained; at
#             most 1. D rises by at least the mean of what each thread has gained, because D is
#             concave and theta = 1/2 is half way between w_0 and w_1
#   cost      seven vectors of length d, read or written in order
#   source    ours; adding up what workers have changed: Jaggi et al., NIPS 2014 (CoCoA)

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from .partner cimport Partner, meet

cdef struct Step:
    int64_t start               # where the row's entries begin
    int32_t n                   # how many there are
    double factor               # w += factor x
    double *alpha               # the row's dual variable, and what it was before
    double old

# What a thread knows: by how much its steps would raise m D alone; of half of the columns,
# ||s_0||^2 + ||s_1||^2 and s_0.s_1.
cdef struct Known:
    double gain, squares, product

cdef struct Exchange:
    Partner partner
    Py_ssize_t times            # exchanges in a pass
    double lam_m
    double *w[2]                # of each thread
    double *common              # as of the last exchange; NULL where steps are taken over singly
    Step *steps[2][2]           # of each thread, two lists in turn
    Py_ssize_t listed[2][2]
    Known known[2]


cdef inline double best_share(const Exchange *shared) noexcept nogil:
    cdef double gain = shared.known[0].gain + shared.known[1].gain
    cdef double squares = shared.lam_m * (shared.known[0].squares + shared.known[1].squares)
    cdef double product = shared.lam_m * (shared.known[0].product + shared.known[1].product)
    cdef double slope = gain + 0.5 * squares, curvature = squares + 2.0 * product
    return 1.0 if slope >= curvature else slope / curvature


cdef inline double merge(Exchange *shared, int t, Py_ssize_t d, double gain) noexcept nogil:
    """Have both threads go the best share of the sum of their ways; the share.

    Each adds up half of the columns. ``gain`` is by how much this thread's steps would raise m D.
    """
    cdef double *first = shared.w[0]
    cdef double *second = shared.w[1]
    cdef double *common = shared.common
    cdef Py_ssize_t begin = d * t // 2, end = d * (t + 1) // 2, j
    cdef double squares = 0.0, product = 0.0, one, other, share
    meet(&shared.partner, t)
    for j in range(begin, end):
        one, other = first[j] - common[j], second[j] - common[j]
        squares += one * one + other * other
        product += one * other
    shared.known[t].gain, shared.known[t].squares, shared.known[t].product = gain, squares, product
    meet(&shared.partner, t)
    share = best_share(shared)
    for j in range(begin, end):
        common[j] += share * ((first[j] - common[j]) + (second[j] - common[j]))
    meet(&shared.partner, t)
    memcpy(shared.w[t], common, d * sizeof(double))
    return share
