/* Ranked signs: signs for the vectors of a public random frame, for a vector in a Euclidean ball. docs/proofs/ranked_signs.md.
 *
 * Privacy: the seed is drawn without the record. A pattern of signs is drawn without the record, too: a weighted sum of its signs
 * reaches a limit with the probability of the private coin, and all patterns on each side are equally probable. The record only
 * decides which vector has which sign, by the ranks of its inner products, a permutation whatever the rounding. No branch and no
 * address depends on the record, the coin or the pattern. */
#ifndef LDP_RANKED_SIGNS_H
#define LDP_RANKED_SIGNS_H

#include "privatize/kernel.h"
#include "random/frames.h"

enum { FRAME_ROWS = 64 };

typedef struct {
    double per_radius, tolerance;
    frame frame;
    sign_patterns patterns;
} ranked_signs;

/* Records: n rows of dim numbers; reports: rows of words of 64 bits, a seed and then the signs. */
privatize_fn privatize_ranked_signs_f32, privatize_ranked_signs_f64;

#endif
