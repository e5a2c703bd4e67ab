/* Rank codebook: one of 2 J candidate directions, +U_j and -U_j, from a public seed, for a vector in a Euclidean ball.
 * docs/proofs/rank_codebook.md.
 *
 * Privacy: the seed is drawn without the record. The candidates are compared by their inner products with the record. Exactly
 * `top` of them, whatever the rounding, are reported with the probability of the private coin, and each set is used uniformly. No
 * branch and no address depends on the record or the coin. */
#ifndef LDP_RANK_CODEBOOK_H
#define LDP_RANK_CODEBOOK_H

#include "privatize/kernel.h"
#include "random/directions.h"

enum { CODEBOOK_ROWS = 256, MAX_VECTORS = 1 << 14 };

typedef struct {
    double per_radius, tolerance;
    uint64_t heads; /* of 2^64 words */
    uint32_t dim, vectors, top, bits; /* bits: of the index in the report */
} rank_codebook;

/* Records: n rows of dim numbers; reports: words of 64 bits, the seed above the index 2 j + (1 for +U_j). */
privatize_fn privatize_rank_codebook_f32, privatize_rank_codebook_f64;

#endif
