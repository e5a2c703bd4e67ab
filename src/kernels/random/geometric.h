/* Exact two-sided geometric noise: the integers of discrete Laplace mechanisms. docs/proofs/laplace.md.
 *
 * N is G or -1 - G with a fair sign, so that every integer has one representation. The binary digits of G below 2^digits are
 * drawn in groups of up to five. The value of a group has integer weights, and is drawn by an alias table. The rest of G is a
 * multiple of 2^digits, and the multiplier is the number of successive heads of the carry coin. ldpfast/_coins bounds the
 * two-sided rounding error of the weights. */
#ifndef LDP_GEOMETRIC_H
#define LDP_GEOMETRIC_H

#include "random/coins.h"

enum { GROUP_DIGITS = 5, GROUP_VALUES = 1 << GROUP_DIGITS, MAX_GROUPS = 9, SET_GROUPS = 3 };
enum { NOISE_PIECE = 512 }; /* numbers that are drawn together */

/* The value is i & mask if a coin of 144 bits is below (threshold[i], rest[i]), else alias[i], where i is uniform below 32. A
 * group of fewer digits repeats its entries. */
typedef struct {
    uint16_t threshold[GROUP_VALUES], alias[GROUP_VALUES];
    coin rest[GROUP_VALUES];
    uint16_t mask;
} LDP_ALIGNED digit_group;

typedef struct {
    uint32_t digits, groups, stream; /* stream: words of all numbers; stream + 1: words for ties and carries */
    digit_group group[MAX_GROUPS];  /* lowest digits first */
    coin carry;
} geometric_noise;

typedef struct {
    const geometric_noise *noise;
    stream words;
    reader rest;
} noise_source;

/* Opens the streams of a block. */
void noise_open(noise_source *s, const geometric_noise *noise, stream_key *key, uint64_t block);

/* Draws n <= NOISE_PIECE integers as doubles. `out` has room for n rounded up to a multiple of 32. Returns nonzero if there were
 * carries; without them, the integers are between -2^digits and 2^digits. */
int noise_draw(noise_source *s, size_t n, double *out);

#endif
