/* One bit of a number in an interval. docs/proofs/sign_bit.md.
 *
 * The bit is 1 iff U < low + span (x - lower) / (upper - lower), where U is a word of `bits` (32 or 64) bits and
 * 2 low + span = 2^bits. The threshold is between low and 2^bits - low for every record and rounding. */
#ifndef LDP_SIGN_BIT_H
#define LDP_SIGN_BIT_H

#include "privatize/randomized_response.h"

typedef struct {
    double lower, upper, per_range; /* 1 / (upper - lower) */
    uint64_t low, span;
    int bits;
} sign_bit;

privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64;

#endif
