# Online limited-memory BFGS: SGD through an inverse Hessian of low rank.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), the loss with a slope that has no
#             jumps: squared or smoothed hinge
#   update    t = 0, 1, ...; the next row x, y;  G(w) = lam w + loss'(y w.x) y x:
#                 p = -H G(w), H by the two-loop recursion over the last pairs (sigma, psi),
#                     its middle the mean of sigma.psi/psi.psi over them, 1e-4 without any
#                 sigma = gain (t0/lam)/(t0 + t) p;  w_new = w + sigma
#                 psi = G(w_new) - G(w) + t0 sigma, of the same row
#             The last term keeps sigma.psi > 0, and makes t0 the least curvature H knows of.
#             A pair with sigma = 0 is not kept.
#   in closed form   psi = (lam + t0) sigma + (change of loss') y x
#   cost      4 d multiply-adds a pair and step, some 6 d more, and n_i four times
#   source    Schraudolph, Yu and Guenter, AISTATS 2007, as reimplemented for Bordes, Bottou
#             and Gallinari, JMLR 10 (2009), section 6; the gain is reconstructed

from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .loss cimport Loss, best_alpha, make_loss
from .provenance cimport build_record
from .rows cimport (
    CompactRows,
    dense_axpy,
    dense_dot,
    look_ahead,
    row_axpy,
    row_dot,
    row_nonzeros,
    weight_t,
)

__build__ = build_record()


cdef class PairState(Counters):
    """Counters, the place in the order of rows, and the ring of pairs.

    ``Counters.presentations`` is t.

    Attributes
    ----------
    position : int
        Entries of the order that have been presented.
    pairs : int
        Pairs at hand.
    head : int
        Slot of the next pair; where all slots are taken, of the oldest.
    """

    cdef public Py_ssize_t position, pairs, head


def advance(CompactRows rows, weight_t[::1] w, weight_t[::1] q, weight_t[:, ::1] sigmas,
            weight_t[:, ::1] psis, double[:, ::1] scalars, const int32_t[::1] order,
            PairState state, double lam, double t0, double gain, int kind, double gamma,
            int64_t target):
    """Take steps until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    w : ndarray of float32 or float64, shape (d,)
        Updated in place, as are the pairs and ``state``.
    q : ndarray like w, shape (d,)
        Room for a direction.
    sigmas, psis : ndarray like w, shape (rank, d)
    scalars : ndarray of float64, shape (3, rank)
        1/(sigma.psi) and sigma.psi/psi.psi of each pair, and room for the recursion.
    order : ndarray of int32
        Rows to present, from state.position on.
    state : PairState
    lam, t0, gain : float
    kind, gamma
        The loss: 1 squared hinge, 2 smoothed hinge of width gamma; 0, the hinge, is legal.
    target : int
        Number of presentations t at which to return.
    """
    cdef Loss loss = make_loss(kind, gamma)
    cdef int64_t t = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t pairs = state.pairs
    cdef Py_ssize_t head = state.head
    cdef Py_ssize_t rank = sigmas.shape[0]
    cdef Py_ssize_t d = rows.c.d
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if d else &nothing
    cdef weight_t *direction = &q[0] if d else &nothing
    cdef weight_t *sigma
    cdef weight_t *psi
    cdef double y, pull, change, middle, product, squared, factor
    cdef Py_ssize_t i, j, k, slot
    cdef bint moved
    if not (w.shape[0] == q.shape[0] == sigmas.shape[1] == psis.shape[1] == d):
        raise ValueError("w, q, sigmas, psis and rows do not belong together")
    if not (rank == psis.shape[0] == scalars.shape[1] and scalars.shape[0] == 3 and rank > 0):
        raise ValueError("sigmas, psis and scalars do not belong together")
    with nogil:
        while t < target and position < order.shape[0]:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            position += 1
            y = rows.c.labels[i]
            pull = best_alpha(loss, y * row_dot(&rows.c, i, weights))
            for j in range(d):
                direction[j] = <weight_t> (lam * weights[j])
            row_axpy(&rows.c, i, <weight_t> (-pull * y), direction)
            nonzeros += 2 * row_nonzeros(&rows.c, i)
            if pull != 0.0:
                updates += 1
            middle = 0.0 if pairs else 1e-4
            for k in range(pairs):                              # from the newest
                slot = (head + rank - 1 - k) % rank
                sigma = &sigmas[slot, 0] if d else &nothing
                psi = &psis[slot, 0] if d else &nothing
                product = scalars[0, slot] * dense_dot(sigma, d, direction)
                scalars[2, slot] = product
                dense_axpy(<weight_t> -product, psi, d, direction)
                middle += scalars[1, slot] / pairs
            for j in range(d):
                direction[j] = <weight_t> (direction[j] * middle)
            for k in range(pairs):                              # from the oldest
                slot = (head + rank - pairs + k) % rank
                sigma = &sigmas[slot, 0] if d else &nothing
                psi = &psis[slot, 0] if d else &nothing
                product = scalars[2, slot] - scalars[0, slot] * dense_dot(psi, d, direction)
                dense_axpy(<weight_t> product, sigma, d, direction)
            factor = -gain * (t0 / lam) / (t0 + t)
            moved = False
            sigma = &sigmas[head, 0] if d else &nothing
            psi = &psis[head, 0] if d else &nothing
            for j in range(d):
                direction[j] = <weight_t> (factor * direction[j])
                moved = moved or direction[j] != 0
                weights[j] += direction[j]
            if moved:
                change = best_alpha(loss, y * row_dot(&rows.c, i, weights)) - pull
                for j in range(d):
                    sigma[j] = direction[j]
                    psi[j] = <weight_t> ((lam + t0) * direction[j])
                row_axpy(&rows.c, i, <weight_t> (-change * y), psi)
                nonzeros += 2 * row_nonzeros(&rows.c, i)
                product = dense_dot(sigma, d, psi)
                squared = dense_dot(psi, d, psi)
                # Of a pair so small that its products vanish, nothing can be learnt; the
                # oldest one then goes without a new one in its place.
                if product > 0.0 and squared > 0.0:
                    scalars[0, head] = 1.0 / product
                    scalars[1, head] = product / squared
                    head = (head + 1) % rank
                    pairs = min(pairs + 1, rank)
                elif pairs == rank:
                    pairs -= 1
            t += 1
    state.presentations = t
    state.updates = updates
    state.nonzeros = nonzeros
    state.position = position
    state.pairs = pairs
    state.head = head
