#include "clipped.h"

#include <math.h>

#include "select.h"
#include "wide.h"

enum { LANES = 32, ROW_LANES = 16, MOST_ROWS = 4096 };

#define KERNEL_REALS
#define KERNEL_BODY "clipped_body.h"
#include "each_isa.h"

typedef struct {
    size_t (*numbers)(const void *, size_t, double, double *);
    size_t (*rows)(const void *, size_t, size_t, double, double *, double *);
} clipped_builds;

static size_t add_clipped(const clipping *p, const clipped_builds *use, size_t item, const char *x, size_t n, double *scratch,
                          void *state)
{
    size_t bad = 0, most = p->dim == 1 ? LANES * MOST_ROWS : MOST_ROWS;
    for (size_t done = 0; done < n; done += most) {
        size_t now = n - done < most ? n - done : most;
        if (p->dim == 1) {
            double sum[LANES] = {0};
            bad += use->numbers(x + done * item, now, p->radius, sum);
            for (size_t l = 0; l < LANES; l++)
                add_wide(state, 0, (wide)(int64_t)sum[l]);
            continue;
        }
        double *total = scratch + p->dim;
        memset(total, 0, p->dim * sizeof *total);
        bad += use->rows(x + done * p->dim * item, now, p->dim, p->radius, scratch, total);
        for (size_t j = 0; j < p->dim; j++)
            add_wide(state, j, (wide)(int64_t)total[j]);
    }
    return bad;
}

#define BUILDS(dtype, real, isa) {clip_numbers_##dtype##_##isa, clip_rows_##dtype##_##isa}

#define ADD_CLIPPED(dtype, real)                                                                                       \
    size_t add_clipped_##dtype(const clipping *p, const void *x, size_t n, double *scratch, void *state)               \
    {                                                                                                                  \
        static const clipped_builds builds[LDP_ISA_COUNT] = LDP_EACH_BUILD(BUILDS, dtype, real);                       \
        return add_clipped(p, &builds[ldp_isa()], sizeof(real), x, n, scratch, state);                                 \
    }

ADD_CLIPPED(f32, float)
ADD_CLIPPED(f64, double)
