# Sums of products two at a time: what compilers do not make of scattered sparse rows by themselves.
#
#   dot_in_pairs(j, x, n, w)        x . w            four accumulators, two in each vector
#   axpy_in_pairs(c, j, x, n, w)    w += c x         columns differ, so that their order is free
#
# For float values and double weights. Vectors of two doubles are part of every x86-64, and four
# 16-bit columns are one load. The additions are those of the plain loops of rows.pxd and
# descent.pyx, in the same order: both give the same bits, and other architectures take the loops.

from libc.stdint cimport int32_t, uint16_t

ctypedef fused index_t:
    uint16_t
    int32_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__SSE2__) && (defined(__x86_64__) || defined(_M_X64))
    #include <emmintrin.h>

    /* Four columns, the first in the lowest bits. */
    #define SVMBENCH_FOUR_uint16_t                                                                \\
        uint64_t four;                                                                            \\
        memcpy(&four, j + k, sizeof four);                                                        \\
        const size_t j0 = (uint16_t) four, j1 = (uint16_t) (four >> 16),                          \\
                     j2 = (uint16_t) (four >> 32), j3 = four >> 48;
    #define SVMBENCH_FOUR_int32_t                                                                 \\
        const size_t j0 = (size_t) j[k], j1 = (size_t) j[k + 1], j2 = (size_t) j[k + 2],          \\
                     j3 = (size_t) j[k + 3];
    #define SVMBENCH_LOW(x) _mm_cvtps_pd(x)
    #define SVMBENCH_HIGH(x) _mm_cvtps_pd(_mm_movehl_ps(x, x))
    #define SVMBENCH_TWO(a, b) _mm_loadh_pd(_mm_load_sd(w + a), w + b)

    #define SVMBENCH_PAIRS(index)                                                                 \\
    static inline double svmbench_dot_##index(const index *j, const float *x, ptrdiff_t n,        \\
                                              const double *w)                                    \\
    {                                                                                             \\
        __m128d low = _mm_setzero_pd(), high = _mm_setzero_pd();                                  \\
        ptrdiff_t k = 0;                                                                          \\
        for (; k + 4 <= n; k += 4) {                                                              \\
            const __m128 values = _mm_loadu_ps(x + k);                                            \\
            SVMBENCH_FOUR_##index                                                                 \\
            low = _mm_add_pd(low, _mm_mul_pd(SVMBENCH_LOW(values), SVMBENCH_TWO(j0, j1)));        \\
            high = _mm_add_pd(high, _mm_mul_pd(SVMBENCH_HIGH(values), SVMBENCH_TWO(j2, j3)));     \\
        }                                                                                         \\
        double s0 = _mm_cvtsd_f64(low);                                                           \\
        for (; k < n; k++)                                                                        \\
            s0 += x[k] * w[j[k]];                                                                 \\
        return (s0 + _mm_cvtsd_f64(_mm_unpackhi_pd(low, low)))                                    \\
            + (_mm_cvtsd_f64(high) + _mm_cvtsd_f64(_mm_unpackhi_pd(high, high)));                 \\
    }                                                                                             \\
    static inline void svmbench_axpy_##index(double c, const index *j, const float *x,            \\
                                             ptrdiff_t n, double *w)                              \\
    {                                                                                             \\
        const __m128d both = _mm_set1_pd(c);                                                      \\
        ptrdiff_t k = 0;                                                                          \\
        for (; k + 4 <= n; k += 4) {                                                              \\
            const __m128 values = _mm_loadu_ps(x + k);                                            \\
            SVMBENCH_FOUR_##index                                                                 \\
            const __m128d low = _mm_add_pd(SVMBENCH_TWO(j0, j1),                                  \\
                                           _mm_mul_pd(both, SVMBENCH_LOW(values)));               \\
            const __m128d high = _mm_add_pd(SVMBENCH_TWO(j2, j3),                                 \\
                                            _mm_mul_pd(both, SVMBENCH_HIGH(values)));             \\
            _mm_storel_pd(w + j0, low);                                                           \\
            _mm_storeh_pd(w + j1, low);                                                           \\
            _mm_storel_pd(w + j2, high);                                                          \\
            _mm_storeh_pd(w + j3, high);                                                          \\
        }                                                                                         \\
        for (; k < n; k++)                                                                        \\
            w[j[k]] += c * x[k];                                                                  \\
    }
    #else
    #define SVMBENCH_PAIRS(index)                                                                 \\
    static inline double svmbench_dot_##index(const index *j, const float *x, ptrdiff_t n,        \\
                                              const double *w)                                    \\
    {                                                                                             \\
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                    \\
        ptrdiff_t k = 0;                                                                          \\
        for (; k + 4 <= n; k += 4) {                                                              \\
            s0 += x[k] * w[j[k]];                                                                 \\
            s1 += x[k + 1] * w[j[k + 1]];                                                         \\
            s2 += x[k + 2] * w[j[k + 2]];                                                         \\
            s3 += x[k + 3] * w[j[k + 3]];                                                         \\
        }                                                                                         \\
        for (; k < n; k++)                                                                        \\
            s0 += x[k] * w[j[k]];                                                                 \\
        return (s0 + s1) + (s2 + s3);                                                             \\
    }                                                                                             \\
    static inline void svmbench_axpy_##index(double c, const index *j, const float *x,            \\
                                             ptrdiff_t n, double *w)                              \\
    {                                                                                             \\
        ptrdiff_t k;                                                                              \\
        for (k = 0; k < n; k++)                                                                   \\
            w[j[k]] += c * x[k];                                                                  \\
    }
    #endif
    SVMBENCH_PAIRS(uint16_t)
    SVMBENCH_PAIRS(int32_t)
    """
    double dot_u16 "svmbench_dot_uint16_t"(const uint16_t *j, const float *x, Py_ssize_t n,
                                           const double *w) noexcept nogil
    double dot_i32 "svmbench_dot_int32_t"(const int32_t *j, const float *x, Py_ssize_t n,
                                          const double *w) noexcept nogil
    void axpy_u16 "svmbench_axpy_uint16_t"(double c, const uint16_t *j, const float *x,
                                           Py_ssize_t n, double *w) noexcept nogil
    void axpy_i32 "svmbench_axpy_int32_t"(double c, const int32_t *j, const float *x,
                                          Py_ssize_t n, double *w) noexcept nogil


cdef inline double dot_in_pairs(const index_t *j, const float *x, Py_ssize_t n,
                                const double *w) noexcept nogil:
    if index_t is uint16_t:
        return dot_u16(j, x, n, w)
    else:
        return dot_i32(j, x, n, w)


cdef inline void axpy_in_pairs(double c, const index_t *j, const float *x, Py_ssize_t n,
                               double *w) noexcept nogil:
    if index_t is uint16_t:
        axpy_u16(c, j, x, n, w)
    else:
        axpy_i32(c, j, x, n, w)
