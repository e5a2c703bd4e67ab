/* Sums of records that are moved into a ball first: of a trusted curator, who may branch on them. A record becomes integers,
 * multiples of radius 2^-40, and is added to 128-bit integers: no order of the records changes the sums. */
#ifndef LDP_CLIPPED_H
#define LDP_CLIPPED_H

#include "platform.h"

typedef struct {
    size_t dim;
    double radius;
} clipping;

/* Adds n rows to `state`, one wide integer per coordinate; `scratch` has room for 2 dim doubles. Rows with a number that is
 * not finite count as zero; returns how many there were. */
typedef size_t clipped_fn(const clipping *p, const void *x, size_t n, double *scratch, void *state);
clipped_fn add_clipped_f32, add_clipped_f64;

#endif
