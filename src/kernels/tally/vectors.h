/* Exact sums of real vectors, which do not depend on the order: reports are rounded to integers. */
#ifndef LDP_TALLY_VECTORS_H
#define LDP_TALLY_VECTORS_H

#include "privatize/kernel.h"

/* Reports in [-bound, bound] are rounded to multiples of bound 2^-40; in single precision, to multiples of bound 2^-30, each
 * of which counts 2^10. */
typedef struct {
    size_t dim;
    double bound;
} vector_format;

/* state: one 128-bit sum per coordinate. */
tally_fn tally_vectors_f32, tally_vectors_f64;

#endif
