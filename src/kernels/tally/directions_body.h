#if !REAL_IS_DOUBLE
#include "simd/row_products_body.h"

static void NAME(expand_directions)(const direction_format *p, const uint64_t *reports, size_t n, float *rows)
{
    float u[MAX_DIRECTION] LDP_ALIGNED;
    stream_key key;
    directions_open(&key);
    for (size_t i = 0; i < n; i++) {
        const uint64_t index = reports[i] & (((uint64_t)1 << p->bits) - 1);
        direction_rows drawn = directions_of(&key, reports[i] >> p->bits, p->dim, (size_t)1 << (p->bits - 1));
        double sum[3] = {0};
        const float *row = direction_row(&drawn, index / 2, u);
        NAME(add_products)(row, row, 1, p->dim, sum);
        const float scale = (float)(p->bound * (index & 1 ? 1 : -1)) / __builtin_sqrtf((float)sum[0]);
        for (size_t j = 0; j < p->dim; j++) /* vector loop */
            rows[i * p->dim + j] = row[j] * scale;
    }
}
#endif
