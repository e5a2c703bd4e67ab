/* k-ary randomized response. Warner's response is the case k = 2 with a stream of its own; residue.h and bins.h apply it to
 * the symbol of a number. docs/proofs/randomized_response.md.
 *
 * Privacy: one word decides each report; it is compared as a whole and without a branch. */
#ifndef LDP_RANDOMIZED_RESPONSE_H
#define LDP_RANDOMIZED_RESPONSE_H

#include "privatize/kernel.h"

/* A word U of `bits` (32 or 64) bits: the symbol is kept iff U < keep, else other symbol number
 * (U - keep) / words_per_symbol is sent. keep + (k - 1) words_per_symbol = 2^bits exactly;
 * reciprocal = min(floor(2^bits / words_per_symbol), 2^bits - 1). Codes of more than one byte take 64 bits. */
typedef struct {
    uint64_t k, keep, words_per_symbol, reciprocal;
    uint32_t bits, stream;
} randomized_response;

enum { CODE_ROWS = 2048 }; /* reports of a block, of all mechanisms that send one code */

/* Records and reports: categories in the smallest unsigned type that holds k - 1. */
privatize_fn privatize_randomized_response_u8, privatize_randomized_response_u16, privatize_randomized_response_u32,
    privatize_randomized_response_u64;

#endif
