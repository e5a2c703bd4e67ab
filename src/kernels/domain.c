#include "domain.h"

#define KERNEL_REALS
#define KERNEL_BODY "domain_body.h"
#include "each_isa.h"

enum { PIECE = 4096 };

#define FIRST_OUTSIDE(name, real, build)                                                                          \
    size_t name(const real *x, size_t n, double lower, double upper)                                              \
    {                                                                                                             \
        static int (*const any[LDP_ISA_COUNT])(const void *, size_t, double, double) = LDP_DISPATCH(build);       \
        for (size_t at = 0; at < n; at += PIECE) {                                                                \
            size_t now = n - at < PIECE ? n - at : PIECE;                                                         \
            if (any[ldp_isa()](x + at, now, lower, upper))                                                        \
                for (size_t i = at; i < at + now; i++)                                                            \
                    if (!(x[i] >= (real)lower && x[i] <= (real)upper))                                            \
                        return i;                                                                                 \
        }                                                                                                         \
        return n;                                                                                                 \
    }

FIRST_OUTSIDE(first_outside_f32, float, any_outside_f32)
FIRST_OUTSIDE(first_outside_f64, double, any_outside_f64)

#define FIRST_NORM_OUTSIDE(name, real, build)                                                                     \
    size_t name(const real *x, size_t n, size_t dim, double least, double most)                                   \
    {                                                                                                             \
        static double (*const norm[LDP_ISA_COUNT])(const void *, size_t) = LDP_DISPATCH(build);                   \
        for (size_t i = 0; i < n; i++) {                                                                          \
            double length = norm[ldp_isa()](x + i * dim, dim);                                                    \
            if (!(length >= least && length <= most))                                                             \
                return i;                                                                                         \
        }                                                                                                         \
        return n;                                                                                                 \
    }

FIRST_NORM_OUTSIDE(first_norm_outside_f32, float, norm_f32)
FIRST_NORM_OUTSIDE(first_norm_outside_f64, double, norm_f64)
