/* l2 ball: a uniform direction U, drawn without looking at the record, times scale times one private sign.
 *
 * side = sign of <U, x> (in floating point, ties plus), rounding = plus with probability (1 + |x|/radius)/2, coin = plus
 * with probability heads / 2^64; the report is scale * side * rounding * coin * U / |U|: a function of (sign, U).
 * docs/proofs/l2_ball.md. */
#ifndef LDP_L2_H
#define LDP_L2_H

#include "coins.h"
#include "kernel.h"

typedef struct {
    size_t dim;
    double per_radius; /* 1 / radius */
    double tiny, far;  /* 2^-60 and 2^40 radii, within the normal numbers of single precision: see select.h */
    double scale;
    uint64_t heads;
} l2_ball;

enum { L2_PIECE = 4096 }; /* coordinates */

LDP_INLINE size_t l2_rows(size_t dim) { return dim > L2_PIECE ? 1 : L2_PIECE / dim; }

/* Records and reports: n rows of dim numbers. */
privatize_fn privatize_l2_f32, privatize_l2_f64;

#endif
