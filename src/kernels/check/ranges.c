#include "check/ranges.h"

#include <float.h>

#include "simd/branchless.h"

enum { PIECE = 4096 };

double range_end(double end, size_t bytes)
{
    const double largest = bytes == sizeof(float) ? (double)FLT_MAX : DBL_MAX;
    return end > largest ? largest : end < -largest ? -largest : end;
}

#define KERNEL_REALS
#define KERNEL_BODY "check/ranges_body.h"
#include "simd/each_isa.h"

#define DEFINE_RANGES(dtype, real)                                                                    \
    int any_outside_##dtype(const real *x, size_t n, double lower, double upper)                      \
    {                                                                                                 \
        return LDP_BEST(any_outside_##dtype)(x, n, lower, upper);                                     \
    }                                                                                                 \
    double row_norm_##dtype(const real *x, size_t n) { return LDP_BEST(row_norm_##dtype)(x, n); }     \
    size_t first_outside_##dtype(const real *x, size_t n, double lower, double upper)                 \
    {                                                                                                 \
        return LDP_BEST(first_outside_##dtype)(x, n, lower, upper);                                   \
    }                                                                                                 \
    size_t first_norm_outside_##dtype(const real *x, size_t n, size_t dim, double least, double most) \
    {                                                                                                 \
        return LDP_BEST(first_norm_outside_##dtype)(x, n, dim, least, most);                          \
    }

DEFINE_RANGES(f32, float)
DEFINE_RANGES(f64, double)

#define DEFINE_FIRST_CODE(type)                                                                 \
    static size_t first_##type(const void *codes, size_t n, uint64_t k)                         \
    {                                                                                           \
        const type##_t *x = codes;                                                              \
        for (size_t at = 0; at < n; at += PIECE) {                                              \
            size_t now = n - at < PIECE ? n - at : PIECE;                                       \
            type##_t least = x[at], most = x[at];                                               \
            for (size_t i = at; i < at + now; i++) {                                            \
                least = x[i] < least ? x[i] : least;                                            \
                most = x[i] > most ? x[i] : most;                                               \
            }                                                                                   \
            if ((uint64_t)least >= k || (uint64_t)most >= k) /* negative numbers become huge */ \
                for (size_t i = at; i < at + now; i++)                                          \
                    if ((uint64_t)x[i] >= k)                                                    \
                        return i;                                                               \
        }                                                                                       \
        return n;                                                                               \
    }

DEFINE_FIRST_CODE(int8)
DEFINE_FIRST_CODE(int16)
DEFINE_FIRST_CODE(int32)
DEFINE_FIRST_CODE(int64)
DEFINE_FIRST_CODE(uint8)
DEFINE_FIRST_CODE(uint16)
DEFINE_FIRST_CODE(uint32)
DEFINE_FIRST_CODE(uint64)

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
