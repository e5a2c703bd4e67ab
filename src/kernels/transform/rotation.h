/* Public random rotations: R = H D2 H D1 / size, where H is the Walsh-Hadamard matrix of `size` rows and D1, D2 are random signs. Everybody
 * can compute R from its seed. docs/proofs/rotated_signs.md.
 *
 * A report uses one row of each stratum of a block of BLOCK_ROWS consecutive rows of R, which follow from a seed of its own. */
#ifndef LDP_ROTATION_H
#define LDP_ROTATION_H

#include "random/directions.h"
#include "random/sign_patterns.h"

enum { BLOCK_BITS = 12, BLOCK_ROWS = 1 << BLOCK_BITS, MAX_ROTATION_BITS = 24 };

/* Writes the signs of a rotation of 2^bits rows, those of D1 and then those of D2: 64 per word, 1 for minus. `bits` is at least
 * BLOCK_BITS. This is the only place where a seed becomes a rotation. */
void rotation_signs(uint64_t seed, uint32_t bits, uint64_t *signs);

/* Replaces v by size R^T v: the columns of R, weighted by v and added up. There is no overflow if 2^bits times the sum of the magnitudes
 * is below 2^63. */
void rotate_back_i64(const uint64_t *signs, uint32_t bits, int64_t *v);

/* The rows of a report: their block, and their numbers in it. */
typedef struct {
    uint32_t block;
    uint16_t row[MAX_SIGNS];
} rotated_rows;

/* The rows that follow from a seed, one of each of n strata, where n is a power of two. `key` is that of directions_open. */
LDP_INLINE void rows_of_seed(stream_key *key, uint64_t seed, uint32_t bits, uint32_t n, rotated_rows *rows)
{
    uint16_t drawn[MAX_SIGNS + 8] LDP_ALIGNED;
    const uint32_t stratum = BLOCK_ROWS / n;
    stream source = stream_open(key, STREAM_ROTATED_ROWS, seed);
    stream_draw(&source, drawn, blocks_for(n + 8, 2));
    rows->block = drawn[0] & ((1u << (bits - BLOCK_BITS)) - 1);
    for (uint32_t j = 0; j < n; j++)
        rows->row[j] = (uint16_t)(j * stratum + (drawn[8 + j] & (stratum - 1)));
}

#endif
