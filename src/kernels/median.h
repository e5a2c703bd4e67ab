/* Stochastic gradient descent on the quantile loss: each person in turn answers one bit about the current position.
 *
 * Person i: bit = response to 1{x_i >= position}; then position += rate_i (bit ? up : down), clamped to [lower, upper];
 * rate_i is 1, or 1 / sqrt(i). The bit is all that depends on x_i. docs/proofs/median_sgd.md. */
#ifndef LDP_MEDIAN_H
#define LDP_MEDIAN_H

#include "chacha.h"

typedef struct {
    double lower, upper;
    double up, down; /* steps at rate 1; up > 0 > down */
    uint64_t keep;   /* the true bit is reported where the word of the person is below */
    int bits;        /* of a word: 32 or 64 */
    int any_time;    /* whether the rates fall */
} median_sgd;

/* Sums over the positions of a segment, with u the distance from its origin: sums of u, u^2, u^3, u^4, and over those who
 * answered 1 of 1, u, u^2. What the mean needs, and a local regression of the answers on the positions. */
typedef struct {
    double position, count; /* count: of all positions */
    double origin;
    double moments[4], ones[3];
} median_state;

/* n people, in order; `words` are their coins. */
void median_steps_f32(const median_sgd *p, const void *words, const float *x, size_t n, median_state *state);
void median_steps_f64(const median_sgd *p, const void *words, const double *x, size_t n, median_state *state);

/* The step after a reported bit. */
void median_answer(const median_sgd *p, int bit, median_state *state);

#endif
