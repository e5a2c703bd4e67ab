/* Exact discrete Gaussian noise: integers n with probabilities proportional to exp(-n^2 / (2 variance)).
 *
 * Rejection from steps of equal width, each half as high as the one before. A proposal is accepted if a uniform number is below a
 * probability that is computed in double precision. Where its error could matter, the proposal is undecided, and the caller
 * compares with more digits. Proposals beyond 31 steps, at least 36 standard deviations, are rejected: a probability below e^-640.
 * docs/proofs/central.md. */
#ifndef LDP_DISCRETE_GAUSSIAN_H
#define LDP_DISCRETE_GAUSSIAN_H

#include "random/stream.h"

#define MAX_VARIANCE ((uint64_t)1 << 48)

enum { GAUSSIAN_PROPOSALS = 64, GAUSSIAN_DIGITS = 52 };
enum decision { REJECTED = 0, ACCEPTED = 1, UNDECIDED = 2 };

typedef struct {
    uint64_t width, limit; /* of a step; 2^32 mod width */
    double per_variance;   /* 1 / (2 variance) */
    double margin;         /* relative error of a probability within which a proposal is undecided; at least 2^-40 */
} gaussian_steps;

/* Proposals: the integer, the number of its step, the first binary digits of the uniform number as an integer, and a `decision`.
 * The probability is 2^step exp(-value^2 / (2 variance)). */
typedef struct {
    int64_t value[GAUSSIAN_PROPOSALS], step[GAUSSIAN_PROPOSALS], digits[GAUSSIAN_PROPOSALS], decision[GAUSSIAN_PROPOSALS];
} gaussian_proposals;

/* The variance is in 1 .. MAX_VARIANCE. */
gaussian_steps gaussian_open(uint64_t variance, double margin);

/* Makes the next proposals. Returns whether one is undecided. */
int gaussian_propose(const gaussian_steps *p, stream *s, gaussian_proposals *out);
/* The same from given words: GAUSSIAN_PROPOSALS for integers and steps, then as many for the uniform numbers. */
int gaussian_compare(const gaussian_steps *p, const uint64_t *words, gaussian_proposals *out);

#endif
