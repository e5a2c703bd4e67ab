/* l-infinity ball: a uniform direction of packed signs, times one private sign. docs/proofs/linf_ball.md.
 *
 * The direction U is drawn independently of the record. The record is rounded at random to a vertex V of the cube, coordinate
 * by coordinate. side is the sign of <U, V>, an exact integer. The report is U times side times a coin that is plus with
 * probability heads / 2^64. So the report is a function of U and one sign, for every rounding. */
#ifndef LDP_LINF_BALL_H
#define LDP_LINF_BALL_H

#include "privatize/kernel.h"

typedef struct {
    size_t dim;
    double radius, per_unit; /* per_unit: 2^30 / radius */
    uint64_t heads;
    uint64_t keep_tie; /* ties = "thin": 2 (2^64 - heads), a tie is kept if its word is below, else redrawn. 0: always kept */
} linf_ball;

/* Rows per block: 32768 coordinates. */
LDP_INLINE size_t linf_ball_rows(size_t dim) { return dim > 32768 ? 1 : 32768 / dim; }

/* Records: n rows of dim coordinates; reports: packed signs, bit 1 = plus, rows padded to whole bytes. */
privatize_fn privatize_linf_ball_f32, privatize_linf_ball_f64;

#endif
