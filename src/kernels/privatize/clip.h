/* Nearest valid vectors, for `clip=True`. No branch and no address depends on a record. */
#ifndef LDP_CLIP_H
#define LDP_CLIP_H

#include "privatize/kernel.h"

/* Rows of the l2 ball. Coordinates are limited to FAR_RADII, so that no square overflows; kernels use the direction and the norm,
 * limited by the radius. A row with a NaN becomes the center, 0. */
typedef struct {
    size_t dim;
    double radius;
} row_range;

clip_fn clip_rows_f32, clip_rows_f64;

#endif
