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

/* In two stages, for records that are known up to a multiple when the direction is drawn: adds the sums of u^2, u y and y^2 of n
 * coordinates; then, with y in radii, what u is multiplied by in the report of the record multiple * y. The words are those of
 * the rounding coin and of the private coin. */
void l2_products_f32(const float *u, const float *y, size_t n, double sum[3]);
double l2_factor(const l2_ball *p, const double sum[3], double multiple, uint64_t rounding, uint64_t coin);

#endif
