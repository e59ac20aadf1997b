# exp and log of eight numbers at a time, in vectors of GCC and Clang.
#
#   svmbench_exp_f8(x), exp_double(x)    exp(x) for |x| <= 87 in single and 700 in double precision;
#                                        other numbers count as the nearest of these
#   svmbench_log_f8(x), log_double(x)    log(x) for positive normal numbers
#
# Both are off by less than 2 units in the last place: x = k log(2) + r with |r| <= log(2)/2, and
# exp(r) is a Taylor polynomial; x = 2^k z with sqrt(1/2) <= z < sqrt(2), and log(z) = 2 artanh(s)
# is one in s = (z - 1)/(z + 1).

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* Vectors that a processor does not have are passed in memory, which GCC warns of; functions
       here are all of one file. */
    #if defined(__GNUC__) && !defined(__clang__)
    #pragma GCC diagnostic ignored "-Wpsabi"
    #endif
    typedef float svmbench_f8 __attribute__((vector_size(32)));
    typedef uint32_t svmbench_u32x8 __attribute__((vector_size(32)));
    typedef double svmbench_d8 __attribute__((vector_size(64)));
    typedef uint64_t svmbench_u64x8 __attribute__((vector_size(64)));

    /* max(low, min(x, high)); a nan becomes one of both. */
    #define SVMBENCH_WITHIN(x, low, high, bits)                                                   \\
        do {                                                                                      \\
            const bits above = (bits) ((x) > (low)), below = (bits) ((x) < (high));               \\
            (x) = (__typeof__(x)) ((above & below & (bits) (x))                                   \\
                                   | (~above & (bits) ((x) * 0 + (low)))                          \\
                                   | (above & ~below & (bits) ((x) * 0 + (high))));               \\
        } while (0)

    static inline svmbench_f8 svmbench_exp_f8(svmbench_f8 x)
    {
        svmbench_f8 n, r, y;
        svmbench_u32x8 power;
        SVMBENCH_WITHIN(x, -87.0f, 87.0f, svmbench_u32x8);
        n = x * 1.44269504f + 12582912.0f;          /* 1.5 2^23: k is in the lowest bits */
        power = (svmbench_u32x8) n << 23;
        n -= 12582912.0f;
        r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
        y = r * (1.0f / 5040) + 1.0f / 720;
        y = y * r + 1.0f / 120;
        y = y * r + 1.0f / 24;
        y = y * r + 1.0f / 6;
        y = y * r + 0.5f;
        y = y * (r * r) + r + 1.0f;
        return (svmbench_f8) ((svmbench_u32x8) y + power);
    }
    static inline svmbench_f8 svmbench_log_f8(svmbench_f8 x)
    {
        svmbench_f8 k, s, t;
        svmbench_u32x8 bits, biased;
        bits = (svmbench_u32x8) x;
        biased = (bits + (0x3f800000u - 0x3f3504f3u)) >> 23;
        k = (svmbench_f8) (biased | 0x4b000000u) - (8388608.0f + 127.0f);
        x = (svmbench_f8) (bits - ((biased - 127u) << 23));
        s = (x - 1.0f) / (x + 1.0f);
        t = s * s;
        x = t * (1.0f / 9) + 1.0f / 7;
        x = x * t + 1.0f / 5;
        x = x * t + 1.0f / 3;
        return k * 0.693359375f + (2.0f * s + (2.0f * s * (t * x) - k * 2.12194440e-4f));
    }
    static inline void svmbench_exp_double(double *at)
    {
        svmbench_d8 x, n, r, y;
        svmbench_u64x8 power;
        memcpy(&x, at, sizeof x);
        SVMBENCH_WITHIN(x, -700.0, 700.0, svmbench_u64x8);
        n = x * 1.4426950408889634 + 6755399441055744.0;        /* 1.5 2^52 */
        power = (svmbench_u64x8) n << 52;
        n -= 6755399441055744.0;
        r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
        y = r * (1.0 / 6227020800) + 1.0 / 479001600;
        y = y * r + 1.0 / 39916800;
        y = y * r + 1.0 / 3628800;
        y = y * r + 1.0 / 362880;
        y = y * r + 1.0 / 40320;
        y = y * r + 1.0 / 5040;
        y = y * r + 1.0 / 720;
        y = y * r + 1.0 / 120;
        y = y * r + 1.0 / 24;
        y = y * r + 1.0 / 6;
        y = y * r + 0.5;
        y = y * (r * r) + r + 1.0;
        x = (svmbench_d8) ((svmbench_u64x8) y + power);
        memcpy(at, &x, sizeof x);
    }
    static inline void svmbench_log_double(double *at)
    {
        svmbench_d8 x, k, s, t;
        svmbench_u64x8 bits, biased;
        memcpy(&x, at, sizeof x);
        bits = (svmbench_u64x8) x;
        biased = (bits + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu)) >> 52;
        k = (svmbench_d8) (biased | 0x4330000000000000u) - (4503599627370496.0 + 1023.0);
        x = (svmbench_d8) (bits - ((biased - 1023u) << 52));
        s = (x - 1.0) / (x + 1.0);
        t = s * s;
        x = t * (1.0 / 21) + 1.0 / 19;
        x = x * t + 1.0 / 17;
        x = x * t + 1.0 / 15;
        x = x * t + 1.0 / 13;
        x = x * t + 1.0 / 11;
        x = x * t + 1.0 / 9;
        x = x * t + 1.0 / 7;
        x = x * t + 1.0 / 5;
        x = x * t + 1.0 / 3;
        x = k * 6.93147180369123816490e-01
            + (2.0 * s + (2.0 * s * (t * x) + k * 1.90821492927058770002e-10));
        memcpy(at, &x, sizeof x);
    }
    """
    void exp_double "svmbench_exp_double"(double *x) noexcept nogil
    void log_double "svmbench_log_double"(double *x) noexcept nogil
