/* Rotated signs: ranked signs (ranked_signs.h) for rows of a public rotation that all reports share. docs/proofs/rotated_signs.md.
 *
 * Privacy: as for ranked signs. The seed of a report, which decides about its rows, is drawn without the record, and the record only
 * decides which row has which sign, by the ranks of its inner products. No branch and no address depends on the record, the coin or
 * the pattern. */
#ifndef LDP_ROTATED_SIGNS_H
#define LDP_ROTATED_SIGNS_H

#include "privatize/kernel.h"
#include "transform/rotation.h"

enum { COLUMNS = 32 }; /* of the table of numbers that are transformed together */
#define LARGEST_NUMBER 0x1p41f /* in units of the radius, far above those of clipped records */

typedef struct {
    double per_radius, tolerance;
    uint32_t dim, bits; /* the rotation has 2^bits rows, at least dim */
    const sign_patterns *patterns;
    const uint64_t *signs; /* of the rotation */
    float *workspace; /* of the thread, rotated_workspace(bits) numbers */
} rotated_signs;

/* Room for a transformed record, and for some columns of its table of rows of BLOCK_ROWS numbers. */
LDP_INLINE size_t rotated_workspace(uint32_t bits) { return ((size_t)1 << bits) + ((size_t)COLUMNS << (bits - BLOCK_BITS)); }

/* Records per block: fewer in many dimensions, so that threads share the work on few people. */
LDP_INLINE size_t rotated_block(uint32_t bits) { return bits < 18 ? (size_t)1 << (18 - bits) : 1; }

/* Records: n rows of dim numbers; reports: rows of words of 64 bits, a seed and then the signs. */
privatize_fn privatize_rotated_signs_f32, privatize_rotated_signs_f64;

#endif
