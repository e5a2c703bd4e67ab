/* Exact sums of real vectors. Reports are rounded to integers, so that the sums do not depend on the order. */
#ifndef LDP_TALLY_VECTORS_H
#define LDP_TALLY_VECTORS_H

#include "privatize/kernel.h"

/* Reports in [-bound, bound] are rounded to multiples of bound 2^-40. In single precision they are rounded to multiples of
 * bound 2^-30, each of which counts as 2^10 steps. */
typedef struct {
    size_t dim;
    double bound;
} vector_format;

/* state: one 128-bit sum per coordinate. */
tally_fn tally_vectors_f32, tally_vectors_f64;

/* Adds n rows to `sums` as tally_vectors_f32 does, and their squares to `squares`, in steps of bound^2 2^-40. The rows are
 * overwritten. */
void tally_with_squares(size_t dim, double bound, float *rows, size_t n, uint64_t *sums, uint64_t *squares);

#endif
