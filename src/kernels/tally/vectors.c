#include "tally/vectors.h"

#include "tally/wide.h"

enum { TILE = 256, MAX_ROWS = 4096 };

#define KERNEL_REALS
#define KERNEL_BODY "tally/vectors_body.h"
#include "simd/each_isa.h"

#define DEFINE_TALLY_VECTORS(dtype)                                                            \
    void tally_vectors_##dtype(const void *format, const void *reports, size_t n, void *state) \
    {                                                                                          \
        LDP_BEST(tally_vectors_##dtype)(format, reports, n, state);                            \
    }

DEFINE_TALLY_VECTORS(f32)
DEFINE_TALLY_VECTORS(f64)

void tally_with_squares(size_t dim, double bound, float *rows, size_t n, uint64_t *sums, uint64_t *squares)
{
    const vector_format numbers = {dim, bound}, shares = {dim, 1};
    const float per_bound = (float)(1 / bound);
    tally_vectors_f32(&numbers, rows, n, sums);
    for (size_t i = 0; i < n * dim; i++) {
        const float share = rows[i] * per_bound;
        rows[i] = share * share;
    }
    tally_vectors_f32(&shares, rows, n, squares);
}
