/* One bit of a number in an interval. docs/proofs/sign_bit.md.
 *
 * The bit is 1 iff U < low + span (x - lower) / (upper - lower), where 2 low + span = 2^64. The threshold is between low and
 * 2^64 - low for every record and rounding. */
#ifndef LDP_SIGN_BIT_H
#define LDP_SIGN_BIT_H

#include "privatize/randomized_response.h"

typedef struct {
    double lower, per_range; /* 1 / (upper - lower) */
    double tiny;             /* 2^-60 (upper - lower), not subnormal; smaller records become 0 */
    uint64_t low, span;
} sign_bit;

privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64;

#endif
