/* l-infinity ball: a uniform direction of packed signs and one private sign. docs/proofs/linf_ball.md.
 *
 * The direction U is drawn without looking at the record. The record is rounded at random to a vertex V of the cube,
 * coordinate by coordinate; side = sign of <U, V>, an exact integer; the report is U times side times a coin that is plus
 * with probability heads / 2^64. So the report is a function of (sign, U), whatever the rounding does. */
#ifndef LDP_LINF_BALL_H
#define LDP_LINF_BALL_H

#include "privatize/kernel.h"

typedef struct {
    size_t dim;
    double per_unit; /* 128 / radius */
    double tiny;     /* 2^-60 radii, not subnormal in single precision: smaller coordinates are taken as 0 */
    uint64_t heads;
    uint64_t keep_tie; /* ties = "thin": 2 (2^64 - heads); a tie is kept where its word is below, else drawn again. 0: kept */
} linf_ball;

enum { LINF_PIECE = 32768 }; /* coordinates */

LDP_INLINE size_t linf_ball_rows(size_t dim) { return dim > LINF_PIECE ? 1 : LINF_PIECE / dim; }

/* Records: n rows of dim coordinates; reports: packed signs, bit 1 = plus, rows padded to whole bytes. */
privatize_fn privatize_linf_ball_f32, privatize_linf_ball_f64;

#endif
