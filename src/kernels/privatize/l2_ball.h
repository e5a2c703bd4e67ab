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

/* Reports of a block of rows that are known only up to a factor (sgd/glm.h). The report of factor * row i is
 *     sign(factor) * size[i] * direction i, with the opposite sign if |factor| <= level[i].
 * The side of the half-space for the factor 1 and the private coin are in the sign of size[i], and the rounding coin is in
 * level[i]. */
typedef struct {
    float *normals;      /* room for normals_room(n dim) numbers, not part of the result */
    float *direction;    /* n rows of `padded` numbers, zeros from dim on */
    double *size, *level;
} l2_ball_reports;

/* `rows` holds n <= l2_ball_rows(padded) rows of `padded` numbers, a multiple of 32, with zeros from dim on, and `row_squares`
 * the sums of their squares. */
void l2_ball_parts(const l2_ball *p, stream_key *key, uint64_t block, const float *rows, const float *row_squares, size_t n,
                   size_t padded, const l2_ball_reports *out);

#endif
