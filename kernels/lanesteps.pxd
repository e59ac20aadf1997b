# The steps of folds.pyx on one row in all lanes: what a lane does depends on no other.
#
#   steps_of(...)    what a pass does not change, and its sums
#   take_step(...)   the best change of alpha in each lane, given the margins; whether any lane
#                    has moved, or the row may be left out of the next passes
#   entropies(...)   q(alpha) of the logistic loss
#
# In vectors of GCC and Clang, of eight floats. A lane that is not active, or that does not have the
# row, does not move and counts nothing.

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    typedef struct {
        svmbench_f8 C;          /* 1/(lam m) */
        svmbench_u32x8 active;  /* all bits, or none */
        svmbench_d8 estimates;  /* of the gap */
        svmbench_d8 slopes;     /* of rows that moved, without their signs */
        float nu, upper, enough;
        int logistic;
    } svmbench_steps;

    #define SVMBENCH_CHOICE(mask, yes, no)                                                        \\
        ((svmbench_f8) (((svmbench_u32x8) (yes) & (svmbench_u32x8) (mask))                        \\
                        | ((svmbench_u32x8) (no) & ~(svmbench_u32x8) (mask))))
    #define SVMBENCH_WIDE(x) __builtin_convertvector((x), svmbench_d8)

    static inline svmbench_f8 svmbench_size(svmbench_f8 x)
    {
        return (svmbench_f8) ((svmbench_u32x8) x & 0x7fffffffu);
    }
    /* -alpha log(alpha) - (1 - alpha) log(1 - alpha). What rounding takes from 1 - alpha, its
       logarithm lacks, to first order. */
    static inline void svmbench_entropies(const float *alphas, double *found)
    {
        const svmbench_f8 zero = {0};
        svmbench_f8 alpha, other, lost, inside, left;
        svmbench_d8 entropy;
        memcpy(&alpha, alphas, sizeof alpha);
        other = 1.0f - alpha;
        inside = SVMBENCH_CHOICE(alpha > 1e-30f, alpha, zero + 1e-30f);
        left = SVMBENCH_CHOICE(other > 1e-30f, other, zero + 1e-30f);
        lost = ((1.0f - other) - alpha) / left;
        entropy = SVMBENCH_WIDE(-alpha * svmbench_log_f8(inside)
                                - other * (svmbench_log_f8(left) + lost));
        memcpy(found, &entropy, sizeof entropy);
    }
    static inline int svmbench_any(svmbench_u32x8 mask)
    {
        uint64_t part[4];
        memcpy(part, &mask, sizeof part);
        return (part[0] | part[1] | part[2] | part[3]) != 0;
    }
    static inline svmbench_steps svmbench_steps_of(const float *C, const float *active, float nu,
                                                   float upper, float enough, int logistic)
    {
        svmbench_steps steps;
        svmbench_f8 on;
        memset(&steps, 0, sizeof steps);
        memcpy(&steps.C, C, sizeof steps.C);
        memcpy(&on, active, sizeof on);
        steps.active = (svmbench_u32x8) (on > 0.0f);
        steps.nu = nu;
        steps.upper = upper;
        steps.enough = enough;
        steps.logistic = logistic;
        return steps;
    }
    static inline void svmbench_sums_of(const svmbench_steps *steps, double *estimates,
                                        double *slopes)
    {
        memcpy(estimates, &steps->estimates, sizeof steps->estimates);
        memcpy(slopes, &steps->slopes, sizeof steps->slopes);
    }

    /* The new alpha of a hinge, its slope, and loss(s) - q(alpha) + alpha s. */
    static inline svmbench_f8 svmbench_hinge_step(const svmbench_steps *steps, svmbench_f8 alpha,
                                                  svmbench_f8 s, svmbench_f8 q,
                                                  svmbench_f8 *slope, svmbench_f8 *share)
    {
        const svmbench_f8 zero = {0}, short_by = 1.0f - s;
        const svmbench_f8 loss = SVMBENCH_CHOICE(short_by > 0.0f, short_by, zero);
        svmbench_f8 new;
        *slope = short_by - steps->nu * alpha;
        new = alpha + *slope / (q + steps->nu);
        new = SVMBENCH_CHOICE(new > 0.0f, new, zero);
        *share = loss - alpha * short_by;
        if (steps->nu != 0.0f)
            *share += 0.5f * (loss * loss + alpha * alpha) - loss;
        return SVMBENCH_CHOICE(new < steps->upper, new, zero + steps->upper);
    }
    /* The same of the logistic loss, by Newton steps like those of best_logistic (loss.pxd). t =
       log((1 - alpha)/alpha) is the margin at which alpha is minus the slope of the loss. With p
       that slope at s, the share and its counterpart with s and t exchanged have the sum
       (s - t)(alpha - p): half of it serves as an estimate. */
    static inline svmbench_f8 svmbench_logistic_step(const svmbench_steps *steps,
                                                     svmbench_f8 alpha, svmbench_f8 s,
                                                     svmbench_f8 q, svmbench_f8 *slope,
                                                     svmbench_f8 *share)
    {
        const svmbench_f8 zero = {0};
        svmbench_f8 inside, before, t, p, off, enough;
        svmbench_u32x8 positive, far;
        int step;
        inside = SVMBENCH_CHOICE(alpha > 1e-30f, alpha, zero + 1e-30f);
        inside = SVMBENCH_CHOICE(inside < 0.9999999f, inside, zero + 0.9999999f);
        before = svmbench_log_f8((1.0f - inside) / inside);
        *slope = before - s;
        *share = 0.5f * (s - before) * (alpha - 1.0f / (1.0f + svmbench_exp_f8(s)));
        positive = (svmbench_u32x8) (s + q * (0.5f - alpha) > 0.0f);
        t = SVMBENCH_CHOICE((svmbench_u32x8) (before > 0.0f) ^ ~positive, before, zero);
        enough = svmbench_size(*slope);
        enough = 0.1f * SVMBENCH_CHOICE(enough < 1.0f, enough, zero + 1.0f);
        for (step = 0; step < 20; step++) {
            p = 1.0f / (1.0f + svmbench_exp_f8(t));
            off = t - s - q * (p - alpha);
            far = (svmbench_u32x8) (svmbench_size(off) > enough);
            if (!svmbench_any(far & steps->active))
                break;
            off = t - off / (1.0f + q * p * (1.0f - p));
            off = SVMBENCH_CHOICE((svmbench_u32x8) (off > 0.0f) ^ ~positive, off, zero);
            t = SVMBENCH_CHOICE(far, off, t);
        }
        return p;
    }
    /* 1 where a lane moved, 2 where none did and all slopes are steep, else 0; alpha becomes the
       new one, and change by how much w moves along the row. */
    static inline int svmbench_take_step(svmbench_steps *steps, const float *margins, float count,
                                         float norm2, int out, float *alphas, float *change)
    {
        const svmbench_u32x8 lanes = {0, 1, 2, 3, 4, 5, 6, 7};
        const svmbench_u32x8 on = steps->active & (svmbench_u32x8) (lanes != (uint32_t) out);
        const svmbench_f8 zero = {0};
        svmbench_f8 alpha, s, slope, share, new;
        svmbench_u32x8 moved;
        memcpy(&alpha, alphas, sizeof alpha);
        memcpy(&s, margins, sizeof s);
        new = (steps->logistic ? svmbench_logistic_step : svmbench_hinge_step)(
            steps, alpha, s, steps->C * norm2, &slope, &share);
        steps->estimates += SVMBENCH_WIDE(SVMBENCH_CHOICE(on, count * share, zero));
        moved = on & (svmbench_u32x8) (new != alpha);
        slope = svmbench_size(slope);
        if (!svmbench_any(moved))
            return svmbench_any(on & ~(svmbench_u32x8) (slope > steps->enough))
                || !svmbench_any(on) ? 0 : 2;
        steps->slopes += SVMBENCH_WIDE(SVMBENCH_CHOICE(moved, slope, zero));
        new = SVMBENCH_CHOICE(moved, new, alpha);
        s = steps->C * (new - alpha);
        memcpy(alphas, &new, sizeof new);
        memcpy(change, &s, sizeof s);
        return 1;
    }
    """
    ctypedef struct Steps "svmbench_steps":
        pass
    Steps steps_of "svmbench_steps_of"(
        const float *C, const float *active, float nu, float upper, float enough,
        bint logistic) noexcept nogil
    int take_step "svmbench_take_step"(
        Steps *steps, const float *margins, float count, float norm2, int out, float *alphas,
        float *change) noexcept nogil
    void entropies "svmbench_entropies"(const float *alphas, double *found) noexcept nogil
    void sums_of "svmbench_sums_of"(
        const Steps *steps, double *estimates, double *slopes) noexcept nogil
