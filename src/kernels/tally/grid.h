/* Exact sums, over reports lower + grid (j + 1/2), of the integer j and of its square. */
#ifndef LDP_TALLY_GRID_H
#define LDP_TALLY_GRID_H

#include "privatize/kernel.h"

typedef struct {
    size_t dim;
    double lower, grid;
} grid_format;

/* reports: n rows of dim doubles; state: 128-bit sums of j, one per coordinate, then those of j^2. */
tally_fn tally_grid;

/* Index of the first of n reports that does not equal lower + grid (j + 1/2) exactly for an integer |j| <= GRID_LIMIT; n if
 * there is none. */
size_t first_off_grid(const grid_format *p, const double *reports, size_t n);

#endif
