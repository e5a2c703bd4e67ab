/* Exact sums of the records of a trusted curator, which are clipped to a ball first. A record becomes integers, multiples of
 * radius 2^-40, and is added to 128-bit integers, so that the sums do not depend on the order. The kernel may branch on
 * records: a curator's time is not claimed to be independent of them. */
#ifndef LDP_CLIPPED_H
#define LDP_CLIPPED_H

#include "simd/platform.h"

typedef struct {
    size_t dim;
    double radius;
} clipping;

/* Adds n rows to `state`, one wide integer per coordinate; `scratch` has room for 2 dim doubles. Rows with a number that is
 * not finite count as zero. Returns their number. */
size_t add_clipped_f32(const clipping *p, const float *x, size_t n, double *scratch, void *state);
size_t add_clipped_f64(const clipping *p, const double *x, size_t n, double *scratch, void *state);

#endif
