/* Unary encoding: one row of k packed bits per person, little bit order, rows padded with zeros to whole bytes. Every bit
 * but the own one is heads with probability other / 2^64. The own bit: one minus such a coin (symmetric), or a fair coin
 * (optimized). docs/proofs/unary_encoding.md. */
#ifndef LDP_UNARY_H
#define LDP_UNARY_H

#include "coins.h"
#include "kernel.h"

typedef struct {
    size_t k;
    uint64_t other;
    int optimized;
} unary;

/* Rows per block: 8 KiB of coins. */
LDP_INLINE size_t unary_rows(size_t k) { return (k + 7) / 8 > 8192 ? 1 : 8192 / ((k + 7) / 8); }

/* Records are categories of the smallest unsigned type that holds k - 1. */
privatize_fn privatize_unary_u8, privatize_unary_u16, privatize_unary_u32, privatize_unary_u64;

#endif
