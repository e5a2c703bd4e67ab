#include "simd/lane_sums_body.h"

/* Copies a row and pads it with zeros. Returns the sum of its squares, which is not finite if a number is not. */
LDP_INLINE REAL NAME(copy_row)(const glm *p, const REAL *from, float *row)
{
    typedef float floats __attribute__((vector_size(NAME(PER_VECTOR) * sizeof(float))));
    NAME(vector) square[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < p->padded; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            const size_t at = j + v * NAME(PER_VECTOR);
            const NAME(vector) x = NAME(load_first)(from + at, p->features > at ? p->features - at : 0);
            const floats copy = __builtin_convertvector(x, floats);
            memcpy(row + at, &copy, sizeof copy);
            square[v] += x * x;
        }
    return NAME(lane_sum)(square);
}

/* Clips a row. Returns nonzero if a number is not finite. */
static int NAME(clip_row)(const glm *p, const REAL *from, float *row, REAL *square)
{
    const double most = p->max_norm ? p->radius : 1e12 * p->radius; /* within single precision */
    int invalid = 0;
    for (size_t j = 0; j < p->features; j++) { /* vector loop */
        double v = (double)from[j];
        invalid |= !(v - v == 0);
        v = v < most ? v : most;
        row[j] = (float)(v > -most ? v : -most);
    }
    if (!p->max_norm) {
        const double norm = PER_ISA(shrink)(p, row);
        *square = (REAL)(norm * norm);
    }
    return invalid;
}

static int NAME(glm_rows)(const glm *p, const REAL *x, const int64_t *index, size_t n, float *rows, float *squares)
{
    /* The sum of squares of a row that is not clipped is below this by more than its rounding error. */
    const REAL inside = (REAL)(p->radius * p->radius * (1 - (double)p->padded * 0x1p-24));
    int invalid = 0;
    for (size_t i = 0; i < n; i++) {
        const REAL *from = x + (index ? (size_t)index[i] : i) * p->features;
        float *row = rows + i * p->padded;
        REAL square = NAME(copy_row)(p, from, row);
        if (!(square <= inside) || p->max_norm)
            invalid |= NAME(clip_row)(p, from, row, &square);
        if (p->dim > p->features)
            row[p->features] = (float)p->column;
        squares[i] = (float)((double)square + p->column * p->column);
    }
    return invalid;
}
