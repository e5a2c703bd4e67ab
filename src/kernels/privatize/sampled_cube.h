/* Sampled cube: signs of a few sampled coordinates of a vector in a box, or of all. docs/proofs/sampled_cube.md.
 *
 * The sampled coordinates are drawn without the record and each is rounded at random to a sign. Privacy: with the probability of
 * the private coin the reported signs are uniform among those that agree with these in at least `threshold` places, else
 * uniform among the others, by exact uniform integers. Only the sampled coordinates are read. The time depends on the coin. */
#ifndef LDP_SAMPLED_CUBE_H
#define LDP_SAMPLED_CUBE_H

#include "privatize/kernel.h"

/* Records per block; most signs that are drawn as a number; most coordinates if all are reported. */
enum { CUBE_ROWS = 512, CUBE_SAMPLED = 62, CUBE_DIM = 4096 };

typedef struct {
    double radius, per_unit; /* 2^31 / radius */
    uint64_t heads;          /* of 2^64 words */
    uint64_t patterns;       /* number of patterns of `sampled` signs with few disagreements, if sampled <= CUBE_SAMPLED */
    uint64_t up_to[CUBE_SAMPLED + 1]; /* those with at most so many disagreements */
    uint32_t dim, sampled, threshold;
} sampled_cube;

/* Records: n rows of dim coordinates. Reports: `sampled` items 2 j + (1 for plus) of the given type; or, with sampled = dim, packed
 * signs. */
privatize_fn privatize_sampled_cube_f32_u8, privatize_sampled_cube_f32_u16, privatize_sampled_cube_f32_u32,
    privatize_sampled_cube_f64_u8, privatize_sampled_cube_f64_u16, privatize_sampled_cube_f64_u32, privatize_cap_cube_f32,
    privatize_cap_cube_f64;

#endif
