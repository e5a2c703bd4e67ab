#include "survey/encode.h"

#include "random/coins.h"
#include "simd/branchless.h"

void encode_low_high(const uint64_t *word, const double *x, size_t n, double lower, double per_range, uint32_t missing,
                     uint32_t *symbol)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t high = unit_interval(word[i]) < (x[i] - lower) * per_range;
        symbol[i] = choose_u32((uint32_t)nan_mask_f64(x[i]), missing, high);
    }
}

void encode_steps(double *x, size_t n, double lower, double upper, uint32_t steps)
{
    for (size_t i = 0; i < n; i++) {
        const double share = clamp_unit((x[i] - lower) / (upper - lower), 0);
        x[i] = unless_nan_f64(x[i], (double)(int32_t)(share * steps + 0.5), x[i]);
    }
}

void encode_bins(const double *x, size_t n, const double *edge, size_t edges, uint32_t missing, uint32_t *symbol)
{
    for (size_t i = 0; i < n; i++) {
        const double v = x[i];
        uint64_t count = 0;
        for (size_t e = 0; e < edges; e++)
            count += v >= edge[e];
        symbol[i] = choose_u32((uint32_t)nan_mask_f64(v), missing, (uint32_t)count);
    }
}
