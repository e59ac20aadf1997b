# Dense SGD, and SGD with scheduled components: svmsgd2, sgd-qn as published and as corrected.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), hinge, squared or smoothed hinge
#   update    t = 0, 1, ...; the next row x, y;  g = -loss'(y w.x);  B = b/lam diagonal
#     sgd         w <- (1 - 1/(t+t0)) w + g/(lam (t+t0)) y x
#     svmsgd2     w += g/(lam (t+t0)) y x;      every skip steps  w *= 1 - skip/(t+t0)
#     sgd-qn      w += g/(t+t0) y B x;          every skip steps  w_j *= 1 - skip b_j/(t+t0),
#                 and the next row then moves b, which starts at 1:
#                     b_j += 2/r (q_j - b_j),  b_j >= 0.01,  r = 2, 3, ...
#                     q = lam (change of w)/(change of that row's gradient), 0/0 read as 1
#     corrected   w += g y B x;  b starts at 1/t0;  every skip steps, ahead of the row's own
#                 step, w is saved and w_j *= 1 - skip b_j; the next row, if its g is not
#                 what it is at the saved w, then moves b:
#                     lam/b_j += (steps since the last time) rho_j,  j with x_j != 0:
#                     rho_j = clip(lam - y (change of g) x_j/(change of w_j), lam/10, 100 lam),
#                     101 lam where w_j did not change;  rho_j = lam where x_j = 0
#             Where 1 - skip c < 0.8, (1 - c)^skip stands in for it, as in the code released
#             with the erratum, whose first factor, 1 - skip/t0, is negative for t0 < skip.
#             That of svmsgd2 and sgd-qn never is: it comes at t = skip - 1 at the earliest,
#             where 1 - skip/(t+t0) = (t0 - 1)/(t0 + skip - 1), and t0 >= 1.
#   in closed form   the row's own step changes w_j by g/(t+t0) y b_j x_j / lam, so that with
#             g' after it q_j = g b_j/(g b_j + (t+t0)(g - g')): no old w is kept for it, and
#             b <= 1 holds in rounded arithmetic as in exact.
#   cost      n_i for the inner product, n_i more where g > 0; every skip steps d multiply-adds,
#             which skip = 16/(share of nonzeros) makes a sixteenth of a row's; sgd makes them
#             every step, as the yardstick that the schedule is measured by
#   source    Bordes, Bottou and Gallinari, JMLR 10 (2009), figure 2; the correction is their
#             erratum, JMLR 11 (2010), in the form of the code released with it.

from libc.math cimport pow
from libc.stdint cimport int32_t, int64_t, uint16_t

from .counters cimport Counters
from .loss cimport Loss, best_alpha, loss_value, make_loss
from .provenance cimport build_record
from .rows cimport (
    DENSE_F32,
    I32_F32,
    I32_F64,
    I32_ONES,
    U16_F32,
    U16_F64,
    U16_ONES,
    CompactRows,
    Rows,
    index_t,
    look_ahead,
    row_axpy,
    row_dot,
    row_nonzeros,
    value_t,
    weight_t,
)

__build__ = build_record()


cdef class ScheduleState(Counters):
    """Counters, the place in the order of rows, and the schedule of the other components.

    ``Counters.presentations`` is t of the paper.

    Attributes
    ----------
    position : int
        Entries of the order that have been presented.
    count : int
        Steps until w is shrunk again.
    due : bool
        Whether the next row moves b.
    r : float
        2/r is the weight of the next ratio; inf keeps b as it is.
    moved : int
        t at which b was last moved, by the corrected form.
    """

    cdef public Py_ssize_t position
    cdef public int64_t count, moved
    cdef public bint due
    cdef public double r

    def __init__(self, int64_t skip):
        self.count = skip
        self.r = 2.0


cdef struct Walk:
    # A call's walk along the order: what it is of, what it has counted, and the row it is at.
    const Rows *rows
    const int32_t *order
    Py_ssize_t position, end
    int64_t t, target, updates, nonzeros, count
    Py_ssize_t i
    double y


cdef inline Walk take_up(ScheduleState state, CompactRows rows, const int32_t[::1] order,
                         int64_t target) noexcept:
    """The walk that a state stands for, before its next row."""
    cdef Walk walk
    walk.rows = &rows.c
    walk.order = &order[0] if order.shape[0] else NULL
    walk.position = state.position
    walk.end = order.shape[0]
    walk.t = state.presentations
    walk.target = target
    walk.updates = state.updates
    walk.nonzeros = state.nonzeros
    walk.count = state.count
    walk.i = 0
    walk.y = 0.0
    return walk


cdef inline void lay_down(Walk walk, ScheduleState state) noexcept:
    """Leave in the state where the walk has come to."""
    state.position = walk.position
    state.presentations = walk.t
    state.updates = walk.updates
    state.nonzeros = walk.nonzeros
    state.count = walk.count


cdef inline bint goes_on(const Walk *walk) noexcept nogil:
    return walk.t < walk.target and walk.position < walk.end


cdef inline double pull_at(Walk *walk, Loss loss, const weight_t *w) noexcept nogil:
    """Minus the loss's slope on the row by these weights; its nonzeros are counted."""
    cdef double pull = best_alpha(loss, walk.y * row_dot(walk.rows, walk.i, w))
    walk.nonzeros += row_nonzeros(walk.rows, walk.i)
    return pull


cdef inline double present(Walk *walk, Loss loss, const weight_t *w) noexcept nogil:
    """Go to the next row of the order and return its pull."""
    walk.i = walk.order[walk.position]
    look_ahead(walk.rows, walk.order, walk.position, walk.end)
    walk.position += 1
    walk.y = walk.rows.labels[walk.i]
    return pull_at(walk, loss, w)


cdef inline void count_update(Walk *walk) noexcept nogil:
    walk.nonzeros += row_nonzeros(walk.rows, walk.i)
    walk.updates += 1


cdef inline bint comes_round(Walk *walk, int64_t skip) noexcept nogil:
    """Whether this step, of every skip steps, is the one that shrinks w."""
    walk.count -= 1
    if walk.count > 0:
        return False
    walk.count = skip
    return True


cdef inline double shrinkage(double rate, int64_t skip) noexcept nogil:
    """What is left of a weight after skip steps of that rate."""
    cdef double left = 1.0 - skip * rate
    return left if left >= 0.8 else pow(1.0 - rate, skip)


cdef inline void scale(weight_t *w, Py_ssize_t d, weight_t factor) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        w[j] = w[j] * factor


cdef inline void ones_weighted(weight_t c, const index_t *j, Py_ssize_t n, const weight_t *b,
                               weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[j[k]] += <weight_t> (c * b[j[k]])


cdef inline void sparse_weighted(weight_t c, const index_t *j, const value_t *x, Py_ssize_t n,
                                 const weight_t *b, weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[j[k]] += <weight_t> (c * b[j[k]] * x[k])


cdef inline void dense_weighted(weight_t c, const value_t *x, Py_ssize_t n, const weight_t *b,
                                weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[k] += <weight_t> (c * b[k] * x[k])


cdef inline void row_weighted_axpy(const Rows *rows, Py_ssize_t i, weight_t c, const weight_t *b,
                                   weight_t *w) noexcept nogil:
    """w_j += c b_j x_ij, with the roundings of row_axpy where b_j = 1."""
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
    cdef int storage = rows.storage
    if storage == U16_ONES:
        ones_weighted(c, <const uint16_t *> rows.indices + k, n, b, w)
    elif storage == U16_F32:
        sparse_weighted(c, <const uint16_t *> rows.indices + k, <const float *> rows.values + k,
                        n, b, w)
    elif storage == U16_F64:
        sparse_weighted(c, <const uint16_t *> rows.indices + k, <const double *> rows.values + k,
                        n, b, w)
    elif storage == I32_ONES:
        ones_weighted(c, <const int32_t *> rows.indices + k, n, b, w)
    elif storage == I32_F32:
        sparse_weighted(c, <const int32_t *> rows.indices + k, <const float *> rows.values + k,
                        n, b, w)
    elif storage == I32_F64:
        sparse_weighted(c, <const int32_t *> rows.indices + k, <const double *> rows.values + k,
                        n, b, w)
    elif storage == DENSE_F32:
        dense_weighted(c, <const float *> rows.values + k, n, b, w)
    else:
        dense_weighted(c, <const double *> rows.values + k, n, b, w)


# One entry at a time, for what happens once in skip steps.

cdef inline Py_ssize_t first_entry(const Rows *rows, Py_ssize_t i) noexcept nogil:
    return i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]


cdef inline Py_ssize_t entry_column(const Rows *rows, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
    if rows.storage >= DENSE_F32:
        return k - i * rows.d
    if rows.storage <= U16_F64:
        return (<const uint16_t *> rows.indices)[k]
    return (<const int32_t *> rows.indices)[k]


cdef inline double entry_value(const Rows *rows, Py_ssize_t k) noexcept nogil:
    cdef int storage = rows.storage
    if rows.values == NULL:
        return 1.0
    if storage == U16_F32 or storage == I32_F32 or storage == DENSE_F32:
        return (<const float *> rows.values)[k]
    return (<const double *> rows.values)[k]


cdef inline void replace_entries(const Rows *rows, Py_ssize_t i, const weight_t *room,
                                 weight_t *b) noexcept nogil:
    """b_j <- the row's number in room, for j with a stored x_ij."""
    cdef Py_ssize_t first = first_entry(rows, i)
    cdef Py_ssize_t k
    for k in range(row_nonzeros(rows, i)):
        b[entry_column(rows, i, first + k)] = room[k]


cdef inline void move_published(const Rows *rows, Py_ssize_t i, double pull, double bend,
                                double share, weight_t *b, weight_t *room) noexcept nogil:
    """b <- b + share (q - b) with a floor; bend is (t+t0)(g - g') of the row's own step."""
    cdef Py_ssize_t first = first_entry(rows, i)
    cdef double gain
    cdef Py_ssize_t j, k
    if bend > 0.0:
        for k in range(row_nonzeros(rows, i)):
            gain = b[entry_column(rows, i, first + k)]
            if entry_value(rows, first + k) != 0.0:
                gain += share * (pull * gain / (pull * gain + bend) - gain)
            else:
                gain += share * (1.0 - gain)
            room[k] = <weight_t> max(gain, 1e-2)
    for j in range(rows.d):
        gain = b[j]
        b[j] = <weight_t> (gain + share * (1.0 - gain))
    if bend > 0.0:
        replace_entries(rows, i, room, b)


cdef inline void move_corrected(const Rows *rows, Py_ssize_t i, double change, double lam,
                                int64_t steps, const weight_t *w, const weight_t *old,
                                weight_t *b, weight_t *room) noexcept nogil:
    """lam/b += steps rho; change is that of y g from the weights old to w."""
    cdef Py_ssize_t first = first_entry(rows, i)
    cdef double x, apart, ratio
    cdef Py_ssize_t j, k
    for k in range(row_nonzeros(rows, i)):
        j = entry_column(rows, i, first + k)
        x = entry_value(rows, first + k)
        apart = <double> w[j] - old[j]
        ratio = 1.0                             # rho over lam
        if x != 0.0:
            ratio = 101.0
            if apart != 0.0:
                ratio = 1.0 - change * x / apart / lam
                ratio = max(0.1, min(ratio, 100.0))
        room[k] = <weight_t> (b[j] / (1.0 + steps * ratio * b[j]))
    for j in range(rows.d):
        b[j] = <weight_t> (b[j] / (1.0 + steps * b[j]))
    replace_entries(rows, i, room, b)


def mean_loss(CompactRows rows, const weight_t[::1] w, const int32_t[::1] order, int kind,
              double gamma):
    """Mean loss of the rows in ``order``.

    Parameters
    ----------
    rows : CompactRows
    w : ndarray of float32 or float64, shape (d,)
    order : ndarray of int32
        At least one row.
    kind, gamma
        The loss: 0 hinge, 1 squared hinge, 2 smoothed hinge of width gamma.
    """
    cdef Loss loss = make_loss(kind, gamma)
    cdef weight_t nothing = 0
    cdef const weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef double total = 0.0
    cdef Py_ssize_t k
    if w.shape[0] != rows.c.d:
        raise ValueError("w and rows do not belong together")
    with nogil:
        for k in range(order.shape[0]):
            total += loss_value(loss, rows.c.labels[order[k]] * row_dot(&rows.c, order[k], weights))
    return total / order.shape[0]


def advance_sgd(CompactRows rows, weight_t[::1] w, const int32_t[::1] order, ScheduleState state,
                double lam, double t0, int kind, double gamma, int64_t target):
    """Take steps of dense SGD until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows, w, order, state, lam, t0, kind, gamma, target
        As in `advance_svmsgd2`; of the state, the schedule is not used.
    """
    cdef Walk walk = take_up(state, rows, order, target)
    cdef Loss loss = make_loss(kind, gamma)
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef double pull
    if w.shape[0] != rows.c.d:
        raise ValueError("w and rows do not belong together")
    with nogil:
        while goes_on(&walk):
            pull = present(&walk, loss, weights)
            scale(weights, rows.c.d, <weight_t> (1.0 - 1.0 / (walk.t + t0)))
            if pull != 0.0:
                row_axpy(&rows.c, walk.i, <weight_t> (pull / (walk.t + t0) / lam * walk.y),
                         weights)
                count_update(&walk)
            walk.t += 1
    lay_down(walk, state)


def advance_svmsgd2(CompactRows rows, weight_t[::1] w, const int32_t[::1] order,
                    ScheduleState state, double lam, double t0, int64_t skip, int kind,
                    double gamma, int64_t target):
    """Take steps of svmsgd2 until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    w : ndarray of float32 or float64, shape (d,)
        Updated in place, as is ``state``.
    order : ndarray of int32
        Rows to present, from state.position on.
    state : ScheduleState
    lam, t0 : float
        t0 >= 1.
    skip : int
        Steps from one shrinking to the next.
    kind, gamma
        The loss, as in `mean_loss`.
    target : int
        Number of presentations t at which to return.
    """
    cdef Walk walk = take_up(state, rows, order, target)
    cdef Loss loss = make_loss(kind, gamma)
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef double pull
    if w.shape[0] != rows.c.d:
        raise ValueError("w and rows do not belong together")
    with nogil:
        while goes_on(&walk):
            pull = present(&walk, loss, weights)
            if pull != 0.0:
                row_axpy(&rows.c, walk.i, <weight_t> (pull / (walk.t + t0) / lam * walk.y),
                         weights)
                count_update(&walk)
            if comes_round(&walk, skip):
                scale(weights, rows.c.d, <weight_t> shrinkage(1.0 / (walk.t + t0), skip))
            walk.t += 1
    lay_down(walk, state)


def advance_sgd_qn(CompactRows rows, weight_t[::1] w, weight_t[::1] b, weight_t[::1] kept,
                   const int32_t[::1] order, ScheduleState state, double lam, double t0,
                   int64_t skip, int kind, double gamma, int64_t target):
    """Take steps of sgd-qn as published until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    w, b : ndarray of float32 or float64, shape (d,)
        The weights and lam B, updated in place, as is ``state``.
    kept : ndarray like w, shape (d,)
        Room for a row's entries of b.
    order, state, lam, t0, skip, kind, gamma, target
        As in `advance_svmsgd2`.
    """
    cdef Walk walk = take_up(state, rows, order, target)
    cdef Loss loss = make_loss(kind, gamma)
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef weight_t *scaling = &b[0] if w.shape[0] else &nothing
    cdef weight_t *room = &kept[0] if w.shape[0] else &nothing
    cdef double pull, bend
    cdef bint due = state.due
    cdef Py_ssize_t j
    if not (w.shape[0] == b.shape[0] == kept.shape[0] == rows.c.d):
        raise ValueError("w, b, kept and rows do not belong together")
    with nogil:
        while goes_on(&walk):
            pull = present(&walk, loss, weights)
            if pull != 0.0:
                row_weighted_axpy(&rows.c, walk.i,
                                  <weight_t> (pull / (walk.t + t0) / lam * walk.y), scaling,
                                  weights)
                count_update(&walk)
            if due:
                due = False
                bend = 0.0
                if pull != 0.0:
                    bend = pull - pull_at(&walk, loss, weights)
                    # The loss is convex: below 0 by rounding only.
                    bend = max(0.0, bend) * (walk.t + t0)
                    walk.nonzeros += row_nonzeros(walk.rows, walk.i)
                move_published(&rows.c, walk.i, pull, bend, 2.0 / state.r, scaling, room)
                state.r += 1.0
            if comes_round(&walk, skip):
                due = True
                for j in range(rows.c.d):
                    weights[j] *= <weight_t> shrinkage(scaling[j] / (walk.t + t0), skip)
            walk.t += 1
    lay_down(walk, state)
    state.due = due


def advance_corrected(CompactRows rows, weight_t[::1] w, weight_t[::1] b, weight_t[::1] kept,
                      weight_t[::1] saved, const int32_t[::1] order, ScheduleState state,
                      double lam, int64_t skip, int kind, double gamma, int64_t target):
    """Take steps of the corrected sgd-qn until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    w, b : ndarray of float32 or float64, shape (d,)
        The weights and lam B, updated in place, as are ``saved`` and ``state``.
    kept, saved : ndarray like w, shape (d,)
        Room for a row's entries of b; the w of the last time w was shrunk.
    order, state, lam, skip, kind, gamma, target
        As in `advance_svmsgd2`.
    """
    cdef Walk walk = take_up(state, rows, order, target)
    cdef Loss loss = make_loss(kind, gamma)
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef weight_t *scaling = &b[0] if w.shape[0] else &nothing
    cdef weight_t *room = &kept[0] if w.shape[0] else &nothing
    cdef weight_t *old = &saved[0] if w.shape[0] else &nothing
    cdef double pull, change
    cdef bint due = state.due
    cdef Py_ssize_t j
    if not (w.shape[0] == b.shape[0] == kept.shape[0] == saved.shape[0] == rows.c.d):
        raise ValueError("w, b, kept, saved and rows do not belong together")
    with nogil:
        while goes_on(&walk):
            pull = present(&walk, loss, weights)
            walk.t += 1
            if due:
                due = False
                change = pull - pull_at(&walk, loss, old)
                if change != 0.0:
                    move_corrected(&rows.c, walk.i, walk.y * change, lam, walk.t - state.moved,
                                   weights, old, scaling, room)
                    walk.nonzeros += row_nonzeros(walk.rows, walk.i)
                    state.moved = walk.t
            if comes_round(&walk, skip):
                due = True
                for j in range(rows.c.d):
                    old[j] = weights[j]
                    weights[j] *= <weight_t> shrinkage(scaling[j], skip)
            if pull != 0.0:
                row_weighted_axpy(&rows.c, walk.i, <weight_t> (pull / lam * walk.y), scaling,
                                  weights)
                count_update(&walk)
    lay_down(walk, state)
    state.due = due
