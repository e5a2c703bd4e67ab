#include "sgd/quantile.h"

#include <math.h>

#include "simd/branchless.h"

enum { QUANTILE_PIECE = 256, LANES = 16, SUMS = 7 };

/* Adding 3 2^51 to an integer below 2^51 puts it into the low bits of the double, and back. */
#define MIDDLE 0x1.8p52

LDP_INLINE int64_t integer_of(double v) { return (int64_t)(bits_f64(v + MIDDLE) - bits_f64(MIDDLE)); }
LDP_INLINE double double_of_integer(int64_t v) { return double_of((uint64_t)v + bits_f64(MIDDLE)) - MIDDLE; }

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
