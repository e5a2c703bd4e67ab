/* Finite answers to one question: k-ary response after a symbol, and the sign bit; and how codes are counted.
 *
 * Privacy: one word decides each report, compared whole and without a branch. docs/proofs/randomized_response.md,
 * docs/proofs/sign_bit.md. */
#ifndef LDP_CODES_H
#define LDP_CODES_H

#include "kernel.h"

/* A word U of `bits` (32 or 64) bits: keep the symbol iff U < keep, else send other symbol number (U - keep) / share.
 * keep + (k - 1) share = 2^bits exactly; reciprocal = min(floor(2^bits / share), 2^bits - 1). Codes of more than one
 * byte take 64 bits. */
typedef struct {
    uint64_t k, keep, share, reciprocal;
    uint32_t bits, purpose;
} response;

/* Which symbol a number has, and the response after it. */
typedef struct {
    response answer;      /* bytes: k <= 256 */
    double width, offset; /* Residue: floor((x - offset) / width) mod k */
    double cuts[255];     /* Bins: number of cuts <= x; k - 1 of them, ascending */
} symbol_rule;

/* Heads (toward upper) iff U < low + span (x - lower) / (upper - lower), where 2 low + span = 2^64. */
typedef struct {
    double lower, per_range; /* 1 / (upper - lower) */
    double tiny;             /* 2^-60 (upper - lower), not subnormal: smaller records are taken as 0 */
    uint64_t low, span;
} sign_bit;

enum { CODE_ROWS = 2048 };

privatize_fn privatize_response_u8, privatize_response_u16, privatize_response_u32, privatize_response_u64;
privatize_fn privatize_residue_f32, privatize_residue_f64, privatize_bins_f32, privatize_bins_f64;
privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64;

/* state: int64 counts[k]; format: size_t k. A code >= k is not counted, or as k - 1: nothing else is ever written. */
tally_fn tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64;

#endif
