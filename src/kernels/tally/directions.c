#include "tally/directions.h"

#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "tally/directions_body.h"
#include "simd/each_isa.h"

void expand_directions(const direction_format *p, const uint64_t *reports, size_t n, float *rows)
{
    LDP_BEST(expand_directions_f32)(p, reports, n, rows);
}

void tally_directions(const void *format, const void *reports, size_t n, void *state)
{
    const direction_format *p = format;
    float rows[MAX_DIRECTION];
    const size_t together = MAX_DIRECTION / p->dim;
    for (size_t i = 0; i < n; i += together) {
        const size_t now = n - i < together ? n - i : together;
        expand_directions(p, (const uint64_t *)reports + i, now, rows);
        tally_with_squares(p->dim, p->bound, rows, now, state, (uint64_t *)state + 2 * p->dim);
    }
}
