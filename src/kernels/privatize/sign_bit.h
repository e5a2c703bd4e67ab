/* One bit of a number in an interval. docs/proofs/sign_bit.md.
 *
 * Heads (toward upper) iff U < low + span (x - lower) / (upper - lower), where 2 low + span = 2^64: the threshold is between
 * low and 2^64 - low whatever the record and the rounding are. */
#ifndef LDP_SIGN_BIT_H
#define LDP_SIGN_BIT_H

#include "privatize/randomized_response.h"

typedef struct {
    double lower, per_range; /* 1 / (upper - lower) */
    double tiny;             /* 2^-60 (upper - lower), not subnormal: smaller records are taken as 0 */
    uint64_t low, span;
} sign_bit;

privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64;

#endif
