/* Exact sums that do not depend on the order: reports become integers, sums are 128-bit integers.
 *
 * A state is an array of wide integers, two's complement, low word first. */
#ifndef LDP_SUMS_H
#define LDP_SUMS_H

#include "kernel.h"

/* Reports on a grid: the integer j of lower + grid (j + 1/2). State: sums of j, one per coordinate, then sums of j^2. */
typedef struct {
    size_t dim;
    double lower, grid;
} grid_format;

/* Reports in [-bound, bound]: multiples of bound 2^-40; single precision: of bound 2^-30, each counting 2^10. State: one
 * sum per coordinate. */
typedef struct {
    size_t dim;
    double bound;
} vector_format;

tally_fn tally_grid, tally_vectors_f32, tally_vectors_f64;

/* Number of the first report that is not lower + grid (j + 1/2), bit for bit, for an integer |j| <= GRID_LIMIT, else n. */
size_t first_off_grid(const grid_format *p, const double *reports, size_t n);

#endif
