/* Unary encoding: a row of k packed bits per person, little bit order, rows padded with zeros to whole bytes. Every bit except
 * the person's own is one with probability other / 2^64. The person's own bit is one minus such a coin (symmetric), or a fair
 * coin (optimized). docs/proofs/unary_encoding.md. */
#ifndef LDP_UNARY_ENCODING_H
#define LDP_UNARY_ENCODING_H

#include "privatize/kernel.h"

typedef struct {
    size_t k;
    uint64_t other;
    int optimized;
} unary_encoding;

/* Rows per block: 8 KiB of coins. */
LDP_INLINE size_t unary_encoding_rows(size_t k) { return (k + 7) / 8 > 8192 ? 1 : 8192 / ((k + 7) / 8); }

/* Records are categories in the smallest unsigned type that holds k - 1. */
privatize_fn privatize_unary_encoding_u8, privatize_unary_encoding_u16, privatize_unary_encoding_u32,
    privatize_unary_encoding_u64;

#endif
