/* Hadamard response: a code whose bits have an even number of ones in common with those of the record + 1, with the
 * probability of the private coin. docs/proofs/hadamard_response.md.
 *
 * Privacy: a code is drawn uniformly. If its parity is not that of the coin, the lowest bit of record + 1 is flipped, which maps
 * the codes of one parity to those of the other one to one. No branch and no address depends on the record or the coin. */
#ifndef LDP_HADAMARD_RESPONSE_H
#define LDP_HADAMARD_RESPONSE_H

#include "privatize/randomized_response.h"

typedef struct {
    uint64_t heads; /* of 2^bits words */
    uint32_t k, mask; /* number of categories, number of codes - 1 */
    int bits; /* 32 or 64; or fewer than 32, which the coin and the code share */
} hadamard_response;

/* privatize_hadamard_response_u<bits of a record>_u<bits of a report> */
privatize_fn privatize_hadamard_response_u8_u8, privatize_hadamard_response_u8_u16, privatize_hadamard_response_u16_u16,
    privatize_hadamard_response_u16_u32, privatize_hadamard_response_u32_u32;

#endif
