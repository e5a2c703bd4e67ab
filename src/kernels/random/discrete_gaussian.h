/* Exact discrete Gaussian noise: integers n with probabilities proportional to exp(-n^2 / (2 variance)).
 *
 * C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, algorithms 1 to 3. Every
 * coin has a rational probability and is drawn exactly: with doubles if their rounding cannot change the result, else with
 * integers. */
#ifndef LDP_DISCRETE_GAUSSIAN_H
#define LDP_DISCRETE_GAUSSIAN_H

#include "random/coins.h"

#define MOST_VARIANCE ((uint64_t)1 << 48)

/* Draws n integers. The variance parameter is in 1 .. MOST_VARIANCE. Returns 1 if the stream was exhausted, else 0. */
void draw_gaussian(stream_key *key, uint64_t block, uint64_t variance, size_t n, int64_t *out);

#endif
