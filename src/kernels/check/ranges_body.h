#include "simd/doubles_body.h"

/* Memory-bound: one pair of comparisons, or one multiplication, per number. */
static int NAME(any_outside)(const REAL *x, size_t n, double lower, double upper)
{
    const REAL least = (REAL)range_end(lower, sizeof *x), most = (REAL)range_end(upper, sizeof *x);
    REAL_BITS outside = 0;
    for (size_t i = 0; i < n; i++) /* vector loop */
        outside |= (REAL_BITS) !(x[i] >= least) | (REAL_BITS) !(x[i] <= most);
    return outside != 0;
}

/* The order of the additions is the same for all instruction sets. */
static double NAME(row_norm)(const REAL *x, size_t n)
{
    enum { LANES = 16, PER_VECTOR = V_BYTES / 8, VECTORS = LANES / PER_VECTOR };
    PER_ISA(doubles) sum[VECTORS] = {0};
    REAL rest[LANES] = {0};
    for (size_t j = 0; j < n; j += LANES) {
        const REAL *from = n - j >= LANES ? x + j : memcpy(rest, x + j, (n - j) * sizeof *x);
#pragma GCC unroll 8
        for (size_t v = 0; v < VECTORS; v++) {
            const PER_ISA(doubles) y = NAME(load_doubles)(from + v * PER_VECTOR);
            sum[v] += y * y;
        }
    }
    for (size_t half = VECTORS / 2; half; half /= 2)
        for (size_t v = 0; v < half; v++)
            sum[v] += sum[v + half];
    return __builtin_sqrt(PER_ISA(sum_doubles)(sum[0]));
}

static size_t NAME(first_outside)(const REAL *x, size_t n, double lower, double upper)
{
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t now = n - at < PIECE ? n - at : PIECE;
        if (NAME(any_outside)(x + at, now, lower, upper))
            for (size_t i = at; i < at + now; i++)
                if (NAME(any_outside)(x + i, 1, lower, upper))
                    return i;
    }
    return n;
}

static size_t NAME(first_norm_outside)(const REAL *x, size_t n, size_t dim, double least, double most)
{
    for (size_t i = 0; i < n; i++) {
        const double length = NAME(row_norm)(x + i * dim, dim);
        if (!(length >= least && length <= most))
            return i;
    }
    return n;
}
