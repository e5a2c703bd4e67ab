/* Exact sums of the records of a trusted curator, which are clipped to a ball first. The coordinates of a record are rounded to
 * multiples of radius 2^-40 and added to 128-bit integers, so that the sums do not depend on the order. The kernel may branch
 * on records, because resistance to timing attacks is not claimed in the central model. */
#ifndef LDP_CLIPPED_H
#define LDP_CLIPPED_H

#include "simd/platform.h"

typedef struct {
    size_t dim;
    double radius;
} clipping;

/* Adds n rows to `state`, one wide integer per coordinate. `scratch` has room for 2 dim doubles. Returns the number of rows
 * with a number that is not finite; they count as zero. */
size_t add_clipped_f32(const clipping *p, const float *x, size_t n, double *scratch, void *state);
size_t add_clipped_f64(const clipping *p, const double *x, size_t n, double *scratch, void *state);

#endif
