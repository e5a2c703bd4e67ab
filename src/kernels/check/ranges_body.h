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

/* The sum of n squares, with a relative error of at most n units of the dtype. */
LDP_INLINE REAL NAME(square_sum)(const REAL *x, size_t n)
{
    enum { PER_VECTOR = V_BYTES / sizeof(REAL), VECTORS = 4 };
    typedef REAL vector __attribute__((vector_size(V_BYTES)));
    vector sum[VECTORS] = {0};
    size_t j = 0;
    for (; j + VECTORS * PER_VECTOR <= n; j += VECTORS * PER_VECTOR)
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++) {
            vector y;
            memcpy(&y, x + j + v * PER_VECTOR, sizeof y);
            sum[v] += y * y;
        }
#pragma GCC unroll 4
    for (size_t v = 0; v < VECTORS; v++) {
        const size_t at = j + v * PER_VECTOR < n ? j + v * PER_VECTOR : n;
        const vector y = NAME(load_first)(x + at, n - at);
        sum[v] += y * y;
    }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return REAL_IS_DOUBLE ? (REAL)PER_ISA(sum_doubles)((PER_ISA(doubles))sum[0])
                          : (REAL)PER_ISA(sum_floats)((PER_ISA(floats))sum[0]);
}

/* A quick sum tells that a norm is certainly inside. */
static size_t NAME(first_norm_outside)(const REAL *x, size_t n, size_t dim, double least, double most)
{
    const double error = (double)(dim + 8) * (REAL_IS_DOUBLE ? 0x1p-52 : 0x1p-23);
    const double low = least > 0 ? least * least * (1 + error) : 0, high = most * most * (1 - error);
    for (size_t i = 0; i < n; i++) {
        const double square = (double)NAME(square_sum)(x + i * dim, dim);
        if (square >= low && square <= high)
            continue;
        const double length = NAME(row_norm)(x + i * dim, dim);
        if (!(length >= least && length <= most))
            return i;
    }
    return n;
}
