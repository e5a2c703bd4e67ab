/* Discrete Laplace mechanisms: records are rounded at random to a grid and get two-sided geometric noise (random/geometric.h).
 * A report is lower + grid (i + N + 1/2), with i the index of the record and N the noise, which does not depend on the record.
 * docs/proofs/laplace.md. */
#ifndef LDP_LAPLACE_H
#define LDP_LAPLACE_H

#include "privatize/kernel.h"
#include "random/geometric.h"

typedef struct {
    geometric_noise noise;        /* noise.stream + 2: random rounding */
    size_t dim;                   /* numbers per record */
    double lower, upper;          /* ends of the interval of each number */
    double grid, per_grid;        /* per_grid: 1 / grid */
    double span;                  /* indices are 0 .. span < 2^31 */
    double l1_limit;              /* l2 ball: bound of the sum of |index - span / 2| over a row; 0: no limit */
    double radius, tolerance;     /* l2 ball: norms are at most radius (1 + tolerance u), u the unit roundoff of the dtype */
} laplace;

/* Rows per block: 8192 numbers. */
LDP_INLINE size_t laplace_rows(size_t dim) { return dim > 8192 ? 1 : 8192 / dim; }

/* Records: n rows of dim numbers; reports: double of the same shape. */
privatize_fn privatize_laplace_f32, privatize_laplace_f64;

#endif
