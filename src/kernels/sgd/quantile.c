#include "sgd/quantile.h"

enum { QUANTILE_PIECE = 256 };

#define KERNEL_REALS
#define KERNEL_BODY "sgd/quantile_body.h"
#include "simd/each_isa.h"

void quantile_steps_f32(const quantile_sgd *p, const void *words, const float *x, size_t n, quantile_state *state)
{
    LDP_BEST(quantile_steps_f32)(p, words, x, n, state);
}

void quantile_steps_f64(const quantile_sgd *p, const void *words, const double *x, size_t n, quantile_state *state)
{
    LDP_BEST(quantile_steps_f64)(p, words, x, n, state);
}

void quantile_answer(const quantile_sgd *p, int bit, quantile_state *state)
{
    const double x = bit ? __builtin_inf() : -__builtin_inf();
    const uint64_t truth = 0; /* a word below every threshold, so that the bit is kept */
    quantile_steps_f64(p, &truth, &x, 1, state);
}
