/* k-ary randomized response. Warner's response is the case k = 2 with its own stream. residue.h and bins.h apply the response
 * to the symbol of a number. docs/proofs/randomized_response.md.
 *
 * Privacy: one word determines each report. It is compared as a whole and without a branch. */
#ifndef LDP_RANDOMIZED_RESPONSE_H
#define LDP_RANDOMIZED_RESPONSE_H

#include "privatize/kernel.h"

/* U is a word of `bits` (32 or 64) bits. The true symbol is reported iff U < keep, else the other symbol with number
 * (U - keep) / words_per_symbol. keep + (k - 1) words_per_symbol = 2^bits exactly.
 * reciprocal = min(floor(2^bits / words_per_symbol), 2^bits - 1). Codes of more than one byte use 64 bits. */
typedef struct {
    uint64_t k, keep, words_per_symbol, reciprocal;
    uint32_t bits, stream;
} randomized_response;

enum { CODE_ROWS = 2048 }; /* records per block, for all mechanisms whose report is one code */

/* Records and reports: categories in the smallest unsigned type that holds k - 1. */
privatize_fn privatize_randomized_response_u8, privatize_randomized_response_u16, privatize_randomized_response_u32,
    privatize_randomized_response_u64;

#endif
