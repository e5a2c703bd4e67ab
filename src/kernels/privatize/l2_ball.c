#include "privatize/l2_ball.h"

#include "random/normals.h"
#include "simd/branchless.h"

/* Returns the factor of the direction u in the report of the record y, in units of the radius. `sum` holds the sums of u^2, u y
 * and y^2. The first word is the rounding coin, the second the private coin. */
LDP_INLINE double signed_scale(const l2_ball *p, const double sum[3], reader *sign)
{
    const uint64_t rounding = reader_word(sign), coin = reader_word(sign);
    const double norm = clamp_unit(__builtin_sqrt(sum[2]), 0); /* with a NaN anywhere: the center */
    const uint64_t minus =
        (uint64_t)(sum[1] < 0) ^ (uint64_t)(unit_interval(rounding) >= (1 + norm) / 2) ^ (uint64_t)(coin >= p->heads);
    return p->scale / __builtin_sqrt(sum[0]) * (1 - 2 * (double)(int64_t)minus);
}

enum { PIECE = 4096 }; /* coordinates whose squares are added in the precision of the records */
enum { MAX_PARTS = 4096 / 32 }; /* rows of l2_ball_parts, whose rows have at least 32 numbers */

#define KERNEL_REALS
#define KERNEL_BODY "privatize/l2_ball_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(l2_ball_f32)
DEFINE_PRIVATIZE(l2_ball_f64)

void l2_ball_parts(const l2_ball *p, stream_key *key, uint64_t block, const float *rows, const float *row_squares, size_t n,
                   size_t padded, const l2_ball_reports *out)
{
    uint64_t words[2 * MAX_PARTS] LDP_ALIGNED;
    stream direction = stream_open(key, STREAM_L2_DIRECTION, block), sign = stream_open(key, STREAM_L2_SIGN, block);
    normals_f32(&direction, out->normals, n * p->dim);
    stream_draw(&sign, words, blocks_for(2 * n, 8));
    LDP_BEST(l2_ball_parts)(p, words, rows, row_squares, n, padded, out);
}
