#include "domain.h"

#include <float.h>

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
                    if (any[ldp_isa()](x + i, 1, lower, upper))                                                   \
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

#define FIRST_CODE(type)                                                                                          \
    static size_t first_##type(const void *codes, size_t n, uint64_t k)                                           \
    {                                                                                                             \
        const type##_t *x = codes;                                                                                \
        for (size_t at = 0; at < n; at += PIECE) {                                                                \
            size_t now = n - at < PIECE ? n - at : PIECE;                                                         \
            type##_t least = x[at], most = x[at];                                                                 \
            for (size_t i = at; i < at + now; i++) {                                                              \
                least = x[i] < least ? x[i] : least;                                                              \
                most = x[i] > most ? x[i] : most;                                                                 \
            }                                                                                                     \
            if ((uint64_t)least >= k || (uint64_t)most >= k) /* a negative number is a huge one */                \
                for (size_t i = at; i < at + now; i++)                                                            \
                    if ((uint64_t)x[i] >= k)                                                                      \
                        return i;                                                                                 \
        }                                                                                                         \
        return n;                                                                                                 \
    }

FIRST_CODE(int8)
FIRST_CODE(int16)
FIRST_CODE(int32)
FIRST_CODE(int64)
FIRST_CODE(uint8)
FIRST_CODE(uint16)
FIRST_CODE(uint32)
FIRST_CODE(uint64)

size_t first_code_outside(const void *x, int size, int is_signed, size_t n, uint64_t k)
{
    switch (size) {
    case 1:
        return is_signed ? first_int8(x, n, k) : first_uint8(x, n, k);
    case 2:
        return is_signed ? first_int16(x, n, k) : first_uint16(x, n, k);
    case 4:
        return is_signed ? first_int32(x, n, k) : first_uint32(x, n, k);
    default:
        return is_signed ? first_int64(x, n, k) : first_uint64(x, n, k);
    }
}
