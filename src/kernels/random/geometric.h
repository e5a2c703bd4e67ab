/* Exact two-sided geometric noise: the integers of discrete Laplace mechanisms. docs/proofs/laplace.md.
 *
 * N is G or -1 - G with a fair sign, so that every integer has one representation. The binary digits of G below 2^digits are
 * independent coins. The rest of G is a multiple of 2^digits, and the multiplier is the number of successive heads of the carry
 * coin. ldpfast/_coins.py bounds the two-sided rounding error of the coins. */
#ifndef LDP_GEOMETRIC_H
#define LDP_GEOMETRIC_H

#include "random/coins.h"

enum { MOST_DIGITS = 45, NOISE_PIECE = 8192 };

typedef struct {
    uint32_t digits, stream; /* stream: digits and signs; stream + 1: carries */
    coin digit[MOST_DIGITS];
    coin carry;
} geometric_noise;

typedef struct {
    const geometric_noise *noise;
    reader digits, carries;
} noise_source;

/* Opens the streams of a block; `total` numbers will be drawn from it. */
void noise_open(noise_source *s, const geometric_noise *noise, stream_key *key, uint64_t block, size_t total);

/* Draws n <= NOISE_PIECE integers as doubles. `out` has room for n rounded up to a multiple of 512. */
void noise_draw(noise_source *s, size_t n, double *out);

#endif
