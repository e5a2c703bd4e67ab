/* The row of normal numbers is read twice from cache, for the sums and for the scaling. Bottleneck: the normal numbers and
 * their key stream. */
#include "simd/lane_sums_body.h"

#define NORMALS LDP_PASTE(normals, DTYPE)

/* Adds sum u^2, sum u y and sum y^2 to sum[0..2]. */
static void NAME(products)(const REAL *u, const REAL *y, size_t n, double sum[3])
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0}, yy[NAME(VECTORS)] = {0};
    REAL rest[2][NAME(LANES)] = {{0}};
    for (size_t j = 0; j < n; j += NAME(LANES)) {
        const REAL *left = u + j, *right = y + j;
        if (n - j < NAME(LANES)) /* remainder, padded with zeros */
            left = memcpy(rest[0], left, (n - j) * sizeof *u), right = memcpy(rest[1], right, (n - j) * sizeof *y);
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) a, b;
            memcpy(&a, left + v * NAME(PER_VECTOR), sizeof a);
            memcpy(&b, right + v * NAME(PER_VECTOR), sizeof b);
            uu[v] += a * a;
            uy[v] += a * b;
            yy[v] += b * b;
        }
    }
    sum[0] += (double)NAME(lane_sum)(uu);
    sum[1] += (double)NAME(lane_sum)(uy);
    sum[2] += (double)NAME(lane_sum)(yy);
}

/* Turns a row `u` of normal numbers into the report of x. */
static void NAME(finish_row)(const l2_ball *p, const REAL *x, reader *sign, REAL *u)
{
    const REAL per_radius = (REAL)p->per_radius, tiny = (REAL)p->tiny, far = (REAL)p->far;
    REAL y[L2_PIECE];
    double sum[3] = {0};
    for (size_t at = 0; at < p->dim; at += L2_PIECE) {
        size_t n = p->dim - at < L2_PIECE ? p->dim - at : L2_PIECE;
        for (size_t j = 0; j < n; j++) /* vector loop */
            y[j] = LIMIT(FLUSH(x[at + j], tiny), far) * per_radius;
        NAME(products)(u + at, y, n, sum);
    }
    const REAL scale = (REAL)signed_scale(p, sum, 1, sign);
    for (size_t j = 0; j < p->dim; j++) /* vector loop */
        u[j] *= scale;
}

static void NAME(privatize_l2_ball)(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    const l2_ball *p = params;
    stream direction = stream_open(key, STREAM_L2_DIRECTION, block);
    reader sign;
    reader_open(&sign, key, STREAM_L2_SIGN, block, 2 * n);
    NORMALS(&direction, out, n * p->dim);
    for (size_t i = 0; i < n; i++)
        NAME(finish_row)(p, (const REAL *)x + i * p->dim, &sign, (REAL *)out + i * p->dim);
}

#undef NORMALS
