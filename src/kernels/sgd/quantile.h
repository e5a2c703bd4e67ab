/* Stochastic gradient descent on the quantile loss: each person in turn answers one bit about the current position.
 *
 * For person i, bit is the randomized response to 1{x_i >= position}. Then position += rate_i (bit ? up : down), rounded to a
 * multiple of the unit and clamped to [lower, upper]. rate_i is 1 or 1 / sqrt(i). Only the bit depends on x_i. docs/proofs/median_sgd.md. */
#ifndef LDP_QUANTILE_H
#define LDP_QUANTILE_H

#include "random/stream.h"

/* Positions are multiples of `unit`, a power of two, of at most 2^50 units: integers in the chain of steps, and doubles without
 * rounding outside of it. */
typedef struct {
    double unit, per_unit;
    int64_t lower, upper; /* first and last position */
    double up, down;      /* steps at rate 1, in units; up > 0 > down */
    uint64_t keep;        /* the true bit is reported if the person's word is below */
    int bits;             /* bits per word, 32 or 64 */
    int any_time;         /* whether the rates are 1 / sqrt(i) */
} quantile_sgd;

/* Sets the parameters, from ends and steps as numbers. */
void quantile_open(quantile_sgd *p, double lower, double upper, double up, double down, uint64_t keep, int bits, int any_time);

/* The position next to a number. */
double quantile_position(const quantile_sgd *p, double number);

/* Position and sums over the positions of a segment. With u the distance of a position from the origin, `moments` holds the
 * sums of u, u^2, u^3, u^4 over all positions, and `ones` the sums of 1, u, u^2 over the positions with answer 1. The mean of
 * the positions and a local regression of the answers on the positions are computed from these sums. */
typedef struct {
    double position, count; /* count: positions of all segments */
    double origin;
    double moments[4], ones[3];
} quantile_state;

/* Takes one step for each of n people, in order. `words` holds their coins. Returns 0 if all records are certainly finite. */
int quantile_steps_f32(const quantile_sgd *p, const void *words, const float *x, size_t n, quantile_state *state);
int quantile_steps_f64(const quantile_sgd *p, const void *words, const double *x, size_t n, quantile_state *state);

/* Takes the step after a reported bit. */
void quantile_answer(const quantile_sgd *p, int bit, quantile_state *state);

#endif
