/* k-ary randomized response to the number of cuts <= x. docs/proofs/bins.md. */
#ifndef LDP_BINS_H
#define LDP_BINS_H

#include "privatize/randomized_response.h"

enum { MAX_CUTS = 255 };

typedef struct {
    randomized_response answer; /* k - 1 cuts */
    double cuts[MAX_CUTS];     /* ascending */
} bins;

privatize_fn privatize_bins_f32, privatize_bins_f64;

#endif
