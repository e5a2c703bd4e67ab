/* k-ary randomized response. Warner's response is the case k = 2 with its own stream. residue.h and bins.h apply the response
 * to the symbol of a number. docs/proofs/randomized_response.md.
 *
 * Privacy: one word determines each report. It is compared as a whole and without a branch. */
#ifndef LDP_RANDOMIZED_RESPONSE_H
#define LDP_RANDOMIZED_RESPONSE_H

#include "privatize/kernel.h"

/* U is a word of `bits` (32 or 64) bits. The true symbol is reported iff U < direct, else the symbol with number
 * (U - direct) / words_per_symbol, which can also be the true one. direct + k words_per_symbol = 2^bits exactly.
 *
 * The division is a multiplication. 32 bits: words_per_symbol is even, and with d = words_per_symbol / 2,
 * 2^shift < d <= 2^(shift + 1) and reciprocal = ceil(2^(32 + shift) / d), the quotient of a past word v is exactly
 * floor(floor(v / 2) reciprocal / 2^(32 + shift)). 64 bits: reciprocal = min(floor(2^64 / words_per_symbol), 2^64 - 1), and the
 * quotient is corrected by one. Codes of more than one byte use 64 bits. */
typedef struct {
    uint64_t k, direct, words_per_symbol, reciprocal;
    uint32_t shift, bits, stream;
} randomized_response;

/* Records per block and per piece, for all mechanisms whose report is one code. The words of a piece are drawn just before they
 * are used: encryption, arithmetic and access to memory then overlap. A client has one record, and little room on the stack. */
#if !defined(LDP_FREESTANDING)
enum { CODE_PIECE = 512 };
#else
enum { CODE_PIECE = 128 };
#endif
enum { CODE_ROWS = 2048, WIDE_PIECE = CODE_PIECE / 2 }; /* WIDE_PIECE: with words or records of 64 bits */

/* Records and reports: categories in the smallest unsigned type that holds k - 1. */
privatize_fn privatize_randomized_response_u8, privatize_randomized_response_u16, privatize_randomized_response_u32,
    privatize_randomized_response_u64;

/* The responses to the symbols of the next n <= CODE_PIECE records; `s` is the stream of the block. Returns nonzero if a symbol
 * is not below k. */
int respond_u8(const randomized_response *p, stream *s, const uint8_t *symbol, size_t n, uint8_t *out);
int respond_u16(const randomized_response *p, stream *s, const uint16_t *symbol, size_t n, uint16_t *out);

#endif
