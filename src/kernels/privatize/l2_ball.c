#include "privatize/l2_ball.h"

#include "random/normals.h"
#include "simd/branchless.h"

enum { PIECE = 4096 };          /* coordinates whose squares are added in the precision of the records */
enum { TOGETHER = 64 };         /* rows whose signs are computed at once */
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
