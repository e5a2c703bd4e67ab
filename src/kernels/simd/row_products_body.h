#include "simd/lane_sums_body.h"

/* Adds sum u^2, sum u y and sum y^2 to sum[0..2], where y = x * factor. */
LDP_INLINE void NAME(add_products)(const REAL *u, const REAL *x, REAL factor, size_t n, double sum[3])
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0}, yy[NAME(VECTORS)] = {0};
    size_t j = 0;
    for (; j + NAME(LANES) <= n; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) a, b;
            memcpy(&a, u + j + v * NAME(PER_VECTOR), sizeof a);
            memcpy(&b, x + j + v * NAME(PER_VECTOR), sizeof b);
            b *= factor;
            uu[v] += a * a;
            uy[v] += a * b;
            yy[v] += b * b;
        }
    for (size_t v = 0; v < NAME(VECTORS) && j < n; v++, j += NAME(PER_VECTOR)) {
        const NAME(vector) a = NAME(load_first)(u + j, n - j), b = NAME(load_first)(x + j, n - j) * factor;
        uu[v] += a * a;
        uy[v] += a * b;
        yy[v] += b * b;
    }
    sum[0] += (double)NAME(lane_sum)(uu);
    sum[1] += (double)NAME(lane_sum)(uy);
    sum[2] += (double)NAME(lane_sum)(yy);
}
