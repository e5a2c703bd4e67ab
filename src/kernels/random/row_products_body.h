/* Writes sum u^2 and sum u y to product[0] and product[1]. The order of the additions is the same for all instruction sets. */
#include "simd/lane_sums_body.h"

static void PER_ISA(row_products)(const float *u, const float *y, size_t n, float *product)
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0};
    size_t j = 0;
    for (; j + NAME(LANES) <= n; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) a, b;
            memcpy(&a, u + j + v * NAME(PER_VECTOR), sizeof a);
            memcpy(&b, y + j + v * NAME(PER_VECTOR), sizeof b);
            uu[v] += a * a;
            uy[v] += a * b;
        }
    for (size_t v = 0; v < NAME(VECTORS) && j < n; v++, j += NAME(PER_VECTOR)) {
        const NAME(vector) a = NAME(load_first)(u + j, n - j), b = NAME(load_first)(y + j, n - j);
        uu[v] += a * a;
        uy[v] += a * b;
    }
    product[0] = NAME(lane_sum)(uu);
    product[1] = NAME(lane_sum)(uy);
}
