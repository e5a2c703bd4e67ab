#include "l2.h"
#include "normal.h"
#include "select.h"

/* What the direction u is multiplied by in the report of the record `multiple` y; sum: of u^2, u y, y^2, with y in radii. */
LDP_INLINE double factor_of(const l2_ball *p, const double sum[3], double multiple, uint64_t rounding, uint64_t coin)
{
    double norm = clamp_unit(__builtin_sqrt(sum[2]) * __builtin_fabs(multiple), 0); /* NaN anywhere: the centre */
    uint64_t minus = (uint64_t)(multiple * sum[1] < 0) ^ (uint64_t)(unit_interval(rounding) >= (1 + norm) / 2) ^
                     (uint64_t)(coin >= p->heads);
    return p->scale / __builtin_sqrt(sum[0]) * (1 - 2 * (double)(int64_t)minus);
}

#define KERNEL_REALS
#define KERNEL_BODY "l2_body.h"
#include "each_isa.h"

#define PRIVATIZE_L2(name, real, normals, build)                                                                  \
    int name(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out)       \
    {                                                                                                             \
        static void (*const row[LDP_ISA_COUNT])(const l2_ball *, const void *, uint64_t, uint64_t, void *) =      \
            LDP_DISPATCH(build);                                                                                  \
        const l2_ball *p = params;                                                                                \
        stream direction = stream_open(key, PURPOSE_L2_DIRECTION, block);                                         \
        reader sign;                                                                                              \
        reader_open(&sign, key, PURPOSE_L2_SIGN, block);                                                          \
        normals(&direction, out, n * p->dim);                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                          \
            uint64_t rounding = reader_word(&sign), coin = reader_word(&sign);                                    \
            row[ldp_isa()](p, (const real *)x + i * p->dim, rounding, coin, (real *)out + i * p->dim);            \
        }                                                                                                         \
        return (int)(direction.exhausted | sign.source.exhausted);                                                \
    }

PRIVATIZE_L2(privatize_l2_f32, float, normals_f32, row_f32)
PRIVATIZE_L2(privatize_l2_f64, double, normals_f64, row_f64)

void l2_products_f32(const float *u, const float *y, size_t n, double sum[3])
{
    static void (*const products[LDP_ISA_COUNT])(const float *, const float *, size_t, double *) = LDP_DISPATCH(products_f32);
    products[ldp_isa()](u, y, n, sum);
}

double l2_factor(const l2_ball *p, const double sum[3], double multiple, uint64_t rounding, uint64_t coin)
{
    return factor_of(p, sum, multiple, rounding, coin);
}
