/* Discrete Gaussian noise, exact: integers n with chances proportional to exp(-n^2 / (2 variance)).
 *
 * C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, algorithms 1 to 3. Every
 * coin has a rational chance and is tossed exactly: doubles decide where they can, and are given up where they cannot. */
#ifndef LDP_GAUSSIAN_H
#define LDP_GAUSSIAN_H

#include "coins.h"

#define MOST_VARIANCE ((uint64_t)1 << 48)

/* n integers of the given variance parameter, 1 to MOST_VARIANCE; returns 1 where the stream was exhausted. */
int draw_gaussian(const stream_key *key, uint64_t block, uint64_t variance, size_t n, int64_t *out);

#endif
