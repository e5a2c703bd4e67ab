#include "sgd/quantile.h"

#include <math.h>

#include "simd/branchless.h"

enum { QUANTILE_PIECE = 256, LANES = 16, SUMS = 7 };

#define KERNEL_REALS
#define KERNEL_BODY "sgd/quantile_body.h"
#include "simd/each_isa.h"

void quantile_open(quantile_sgd *p, double lower, double upper, double up, double down, uint64_t keep, int bits, int any_time)
{
    const double size = fmax(upper - lower, fmax(fabs(lower), fabs(upper)));
    const int exponent = ilogb(size) - 49;
    p->unit = ldexp(1, exponent);
    p->per_unit = ldexp(1, -exponent);
    p->lower = (int64_t)ceil(lower * p->per_unit);
    p->upper = (int64_t)floor(upper * p->per_unit);
    p->up = up * p->per_unit;
    p->down = down * p->per_unit;
    p->keep = keep;
    p->bits = bits;
    p->any_time = any_time;
}

double quantile_position(const quantile_sgd *p, double number) { return rint(number * p->per_unit) * p->unit; }

int quantile_steps_f32(const quantile_sgd *p, const void *words, const float *x, size_t n, quantile_state *state)
{
    return LDP_BEST(quantile_steps_f32)(p, words, x, n, state);
}

int quantile_steps_f64(const quantile_sgd *p, const void *words, const double *x, size_t n, quantile_state *state)
{
    return LDP_BEST(quantile_steps_f64)(p, words, x, n, state);
}

void quantile_answer(const quantile_sgd *p, int bit, quantile_state *state)
{
    const double x = bit ? __builtin_inf() : -__builtin_inf();
    const uint64_t truth = 0; /* a word below every threshold, so that the bit is kept */
    quantile_steps_f64(p, &truth, &x, 1, state);
}
