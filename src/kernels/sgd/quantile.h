/* Stochastic gradient descent on the quantile loss: each person in turn answers one bit about the current position.
 *
 * Person i: bit = response to 1{x_i >= position}; then position += rate_i (bit ? up : down), clamped to [lower, upper];
 * rate_i is 1, or 1 / sqrt(i). Nothing but the bit depends on x_i. docs/proofs/median_sgd.md. */
#ifndef LDP_QUANTILE_H
#define LDP_QUANTILE_H

#include "random/stream.h"

typedef struct {
    double lower, upper;
    double up, down; /* steps at rate 1; up > 0 > down */
    uint64_t keep;   /* the true bit is reported where the word of the person is below */
    int bits;        /* of a word: 32 or 64 */
    int any_time;    /* whether the rates fall */
} quantile_sgd;

/* Sums over the positions of a segment, with u the distance from its origin: of u, u^2, u^3, u^4 over all, and of 1, u, u^2 over
 * those who answered 1. The mean of the positions and a local regression of the answers on them are made from these sums. */
typedef struct {
    double position, count; /* count: positions of all segments */
    double origin;
    double moments[4], ones[3];
} quantile_state;

/* n people, in order; `words` are their coins. */
void quantile_steps_f32(const quantile_sgd *p, const void *words, const float *x, size_t n, quantile_state *state);
void quantile_steps_f64(const quantile_sgd *p, const void *words, const double *x, size_t n, quantile_state *state);

/* The step after a reported bit. */
void quantile_answer(const quantile_sgd *p, int bit, quantile_state *state);

#endif
