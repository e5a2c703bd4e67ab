#include "privatize/l2_ball.h"

#include "random/normals.h"
#include "simd/branchless.h"

/* Returns the factor of the direction u in the report of the record factor * y, in units of the radius. `sum` holds the sums of
 * u^2, u y and y^2. The first word is the rounding coin, the second the private coin. */
LDP_INLINE double signed_scale(const l2_ball *p, const double sum[3], double factor, reader *sign)
{
    const uint64_t rounding = reader_word(sign), coin = reader_word(sign);
    double norm = clamp_unit(__builtin_sqrt(sum[2]) * __builtin_fabs(factor), 0); /* with a NaN anywhere: the center */
    uint64_t minus =
        (uint64_t)(factor * sum[1] < 0) ^ (uint64_t)(unit_interval(rounding) >= (1 + norm) / 2) ^ (uint64_t)(coin >= p->heads);
    return p->scale / __builtin_sqrt(sum[0]) * (1 - 2 * (double)(int64_t)minus);
}

/* 64 bytes of ones, then zeros: masks of vectors. */
#define ONES_8 255, 255, 255, 255, 255, 255, 255, 255
static const uint8_t full_then_empty[128] = {ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8};

enum { PIECE = 4096 }; /* coordinates whose squares are added in the precision of the records */

#define KERNEL_REALS
#define KERNEL_BODY "privatize/l2_ball_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(l2_ball_f32)
DEFINE_PRIVATIZE(l2_ball_f64)

void l2_ball_draw(l2_ball_block *b, const l2_ball *ball, stream_key *key, uint64_t block, size_t n, size_t stride,
                  float *packed, float *directions)
{
    stream direction = stream_open(key, STREAM_L2_DIRECTION, block);
    b->ball = ball;
    reader_open(&b->sign, key, STREAM_L2_SIGN, block, 2 * n);
    normals_f32(&direction, packed, n * ball->dim);
    for (size_t i = 0; i < n; i++)
        memcpy(directions + i * stride, packed + i * ball->dim, ball->dim * sizeof(float));
}

void l2_ball_products(const float *u, const float *y, size_t n, double sum[3]) { LDP_BEST(products_f32)(u, y, 1, n, sum); }

double l2_ball_finish(l2_ball_block *b, const double sum[3], double factor)
{
    return signed_scale(b->ball, sum, factor * b->ball->per_radius, &b->sign);
}
