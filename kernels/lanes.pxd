# Eight weight vectors at a time: what a row adds to each of them, and its products with all.
#
#   w[LANES j + k]                   weight j of vector k: an entry of a row meets all eight at once
#   lanes_dot(rows, i, w, s)         s[k] = x_i . w_k         n_i times LANES multiply-adds
#   lanes_axpy(rows, i, c, w)        w_k += c[k] x_i          n_i times LANES multiply-adds
#
# For sparse rows. Compilers do not keep the eight sums in registers by themselves; with vectors of
# GCC and Clang they do, of whatever width the processor has. No sum goes across lanes, so that the
# bits are the same with all.

from .rows cimport Rows, weight_t

cdef enum:
    LANES = 8

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    typedef float svmbench_eight_float __attribute__((vector_size(32)));
    typedef double svmbench_eight_double __attribute__((vector_size(64)));

    #define SVMBENCH_ONE(k) 1
    #define SVMBENCH_VALUE(k) x[k]
    #define SVMBENCH_LANES(name, index, value, entry, real)                                       \\
    static inline void svmbench_dots_##name##_##real(const index *j, const value *x, ptrdiff_t n, \\
                                                     const real *w, real *s)                      \\
    {                                                                                             \\
        typedef svmbench_eight_##real eight;                                                      \\
        eight even = {0}, odd = {0}, at;                                                          \\
        ptrdiff_t k = 0;                                                                          \\
        (void) x;                                                                                 \\
        for (; k + 2 <= n; k += 2) {                                                              \\
            memcpy(&at, w + 8 * (size_t) j[k], sizeof at);                                        \\
            even += at * (real) entry(k);                                                         \\
            memcpy(&at, w + 8 * (size_t) j[k + 1], sizeof at);                                    \\
            odd += at * (real) entry(k + 1);                                                      \\
        }                                                                                         \\
        if (k < n) {                                                                              \\
            memcpy(&at, w + 8 * (size_t) j[k], sizeof at);                                        \\
            even += at * (real) entry(k);                                                         \\
        }                                                                                         \\
        even += odd;                                                                              \\
        memcpy(s, &even, sizeof even);                                                            \\
    }                                                                                             \\
    static inline void svmbench_axpys_##name##_##real(const real *c, const index *j,              \\
                                                      const value *x, ptrdiff_t n, real *w)       \\
    {                                                                                             \\
        svmbench_eight_##real factors, at;                                                        \\
        ptrdiff_t k;                                                                              \\
        (void) x;                                                                                 \\
        memcpy(&factors, c, sizeof factors);                                                      \\
        for (k = 0; k < n; k++) {                                                                 \\
            memcpy(&at, w + 8 * (size_t) j[k], sizeof at);                                        \\
            at += factors * (real) entry(k);                                                      \\
            memcpy(w + 8 * (size_t) j[k], &at, sizeof at);                                        \\
        }                                                                                         \\
    }
    #define SVMBENCH_STORAGES(real)                                                               \\
    SVMBENCH_LANES(u16_ones, uint16_t, float, SVMBENCH_ONE, real)                                 \\
    SVMBENCH_LANES(u16_f32, uint16_t, float, SVMBENCH_VALUE, real)                                \\
    SVMBENCH_LANES(u16_f64, uint16_t, double, SVMBENCH_VALUE, real)                               \\
    SVMBENCH_LANES(i32_ones, int32_t, float, SVMBENCH_ONE, real)                                  \\
    SVMBENCH_LANES(i32_f32, int32_t, float, SVMBENCH_VALUE, real)                                 \\
    SVMBENCH_LANES(i32_f64, int32_t, double, SVMBENCH_VALUE, real)                                \\
    /* The storages in the order of rows.pxd. */                                                  \\
    static inline void svmbench_lanes_dot_##real(int storage, const void *j, const void *x,       \\
                                                 ptrdiff_t k, ptrdiff_t n, const real *w,         \\
                                                 real *s)                                         \\
    {                                                                                             \\
        const uint16_t *u16 = (const uint16_t *) j + k;                                           \\
        const int32_t *i32 = (const int32_t *) j + k;                                             \\
        const float *f32 = (const float *) x + k;                                                 \\
        const double *f64 = (const double *) x + k;                                               \\
        switch (storage) {                                                                        \\
        case 0: svmbench_dots_u16_ones_##real(u16, NULL, n, w, s); break;                         \\
        case 1: svmbench_dots_u16_f32_##real(u16, f32, n, w, s); break;                           \\
        case 2: svmbench_dots_u16_f64_##real(u16, f64, n, w, s); break;                           \\
        case 3: svmbench_dots_i32_ones_##real(i32, NULL, n, w, s); break;                         \\
        case 4: svmbench_dots_i32_f32_##real(i32, f32, n, w, s); break;                           \\
        default: svmbench_dots_i32_f64_##real(i32, f64, n, w, s);                                 \\
        }                                                                                         \\
    }                                                                                             \\
    static inline void svmbench_lanes_axpy_##real(int storage, const real *c, const void *j,      \\
                                                  const void *x, ptrdiff_t k, ptrdiff_t n,        \\
                                                  real *w)                                        \\
    {                                                                                             \\
        const uint16_t *u16 = (const uint16_t *) j + k;                                           \\
        const int32_t *i32 = (const int32_t *) j + k;                                             \\
        const float *f32 = (const float *) x + k;                                                 \\
        const double *f64 = (const double *) x + k;                                               \\
        switch (storage) {                                                                        \\
        case 0: svmbench_axpys_u16_ones_##real(c, u16, NULL, n, w); break;                        \\
        case 1: svmbench_axpys_u16_f32_##real(c, u16, f32, n, w); break;                          \\
        case 2: svmbench_axpys_u16_f64_##real(c, u16, f64, n, w); break;                          \\
        case 3: svmbench_axpys_i32_ones_##real(c, i32, NULL, n, w); break;                        \\
        case 4: svmbench_axpys_i32_f32_##real(c, i32, f32, n, w); break;                          \\
        default: svmbench_axpys_i32_f64_##real(c, i32, f64, n, w);                                \\
        }                                                                                         \\
    }
    SVMBENCH_STORAGES(float)
    SVMBENCH_STORAGES(double)
    """
    void dot_float "svmbench_lanes_dot_float"(
        int storage, const void *j, const void *x, Py_ssize_t k, Py_ssize_t n, const float *w,
        float *s) noexcept nogil
    void dot_double "svmbench_lanes_dot_double"(
        int storage, const void *j, const void *x, Py_ssize_t k, Py_ssize_t n, const double *w,
        double *s) noexcept nogil
    void axpy_float "svmbench_lanes_axpy_float"(
        int storage, const float *c, const void *j, const void *x, Py_ssize_t k, Py_ssize_t n,
        float *w) noexcept nogil
    void axpy_double "svmbench_lanes_axpy_double"(
        int storage, const double *c, const void *j, const void *x, Py_ssize_t k, Py_ssize_t n,
        double *w) noexcept nogil


cdef inline void lanes_dot(const Rows *rows, Py_ssize_t i, const weight_t *w,
                           weight_t *s) noexcept nogil:
    """Products of a sparse row with all vectors."""
    cdef Py_ssize_t k = rows.indptr[i], n = rows.indptr[i + 1] - k
    if weight_t is float:
        dot_float(rows.storage, rows.indices, rows.values, k, n, w, s)
    else:
        dot_double(rows.storage, rows.indices, rows.values, k, n, w, s)


cdef inline void lanes_axpy(const Rows *rows, Py_ssize_t i, const weight_t *c,
                            weight_t *w) noexcept nogil:
    """Add multiples of a sparse row to all vectors."""
    cdef Py_ssize_t k = rows.indptr[i], n = rows.indptr[i + 1] - k
    if weight_t is float:
        axpy_float(rows.storage, c, rows.indices, rows.values, k, n, w)
    else:
        axpy_double(rows.storage, c, rows.indices, rows.values, k, n, w)
