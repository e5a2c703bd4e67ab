/* l2 ball: a uniform direction U, drawn independently of the record, times a constant, times one private sign.
 *
 * side is the sign of <U, x> (in floating point, ties are plus); rounding is plus with probability (1 + |x| / radius) / 2;
 * coin is plus with probability heads / 2^64. The report is scale * side * rounding * coin * U / |U|, a function of U and
 * one sign. docs/proofs/l2_ball.md. */
#ifndef LDP_L2_BALL_H
#define LDP_L2_BALL_H

#include "privatize/kernel.h"
#include "random/coins.h"

typedef struct {
    size_t dim;
    double per_radius; /* 1 / radius */
    double tolerance;  /* norms of valid rows are at most radius (1 + tolerance u), u the unit roundoff of the dtype */
    double scale;
    uint64_t heads;
} l2_ball;

/* Rows per block: 4096 coordinates. */
LDP_INLINE size_t l2_ball_rows(size_t dim) { return dim > 4096 ? 1 : 4096 / dim; }

/* Records and reports: n rows of dim numbers. */
privatize_fn privatize_l2_ball_f32, privatize_l2_ball_f64;

/* One block in two phases: draw all directions, then finish the rows in order. It is for rows that are known only up to a
 * factor when the directions are drawn (sgd/glm.h). */
typedef struct {
    const l2_ball *ball;
    reader sign;
} l2_ball_block;

/* Draws n directions, `stride` numbers apart; `packed` has room for normals_room(n dim). */
void l2_ball_draw(l2_ball_block *b, const l2_ball *ball, stream_key *key, uint64_t block, size_t n, size_t stride,
                  float *packed, float *directions);

/* Adds the sums of u^2, u y and y^2 of n coordinates, a multiple of 32, to sum[0..2]. */
void l2_ball_products(const float *u, const float *y, size_t n, double sum[3]);

/* Returns the factor of the next direction in the report of the row factor * y. `sum` is the result of l2_ball_products. */
double l2_ball_finish(l2_ball_block *b, const double sum[3], double factor);

#endif
