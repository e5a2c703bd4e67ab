/* k-ary randomized response to the number of cuts <= x. docs/proofs/bins.md. */
#ifndef LDP_BINS_H
#define LDP_BINS_H

#include "privatize/randomized_response.h"

enum { MAX_CUTS = 255 };

typedef struct {
    randomized_response answer; /* k - 1 cuts */
    /* Ascending, for float and for double records: -infinity instead of a cut that all of these reach, NaN instead of one that none
     * reaches, so that infinities count as the largest numbers. */
    double cuts[2][MAX_CUTS];
} bins;

privatize_fn privatize_bins_f32, privatize_bins_f64;

#endif
