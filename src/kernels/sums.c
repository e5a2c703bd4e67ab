#include "sums.h"
#include "wide.h"

enum { TILE = 256, MOST_ROWS = 4096 };

#define KERNEL_REALS
#define KERNEL_BODY "sums_body.h"
#include "each_isa.h"

typedef void vectors_fn(const vector_format *, const void *, size_t, size_t, size_t, double *);

static void tally_vectors(const vector_format *p, vectors_fn *vectors, size_t item, int64_t weight, const char *reports,
                          size_t n, void *state)
{
    double total[TILE];
    for (size_t done = 0; done < n; done += MOST_ROWS) {
        size_t rows = n - done < MOST_ROWS ? n - done : MOST_ROWS;
        for (size_t first = 0; first < p->dim; first += TILE) {
            size_t width = p->dim - first < TILE ? p->dim - first : TILE;
            vectors(p, reports + done * p->dim * item, rows, first, width, total);
            for (size_t j = 0; j < width; j++)
                add_wide(state, first + j, (wide)(int64_t)total[j] * weight);
        }
    }
}

void tally_vectors_f32(const void *format, const void *reports, size_t n, void *state)
{
    static vectors_fn *const vectors[LDP_ISA_COUNT] = LDP_DISPATCH(vectors_f32);
    tally_vectors(format, vectors[ldp_isa()], sizeof(float), 1 << 10, reports, n, state);
}

void tally_vectors_f64(const void *format, const void *reports, size_t n, void *state)
{
    static vectors_fn *const vectors[LDP_ISA_COUNT] = LDP_DISPATCH(vectors_f64);
    tally_vectors(format, vectors[ldp_isa()], sizeof(double), 1, reports, n, state);
}

/* The conversion of numbers past the integers is undefined: they are clamped first (a report is checked elsewhere). */
LDP_INLINE int64_t grid_integer(const grid_format *p, double y)
{
    double j = (y - p->lower) / p->grid - 0.5, far = 2 * GRID_LIMIT;
    j = j < far ? j : far;
    j = j > -far ? j : -far;
    return (int64_t)__builtin_rint(j);
}

void tally_grid(const void *format, const void *reports, size_t n, void *state)
{
    const grid_format *p = format;
    const double *y = reports;
    for (size_t j = 0; j < p->dim; j++) {
        wide sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) {
            int64_t v = grid_integer(p, y[i * p->dim + j]);
            sum += v;
            squares += (wide)v * v;
        }
        add_wide(state, j, sum);
        add_wide(state, p->dim + j, squares);
    }
}

size_t first_off_grid(const grid_format *p, const double *reports, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double j = (double)grid_integer(p, reports[i]);
        if (!(p->lower + p->grid * (j + 0.5) == reports[i] && j <= GRID_LIMIT && -j <= GRID_LIMIT))
            return i;
    }
    return n;
}
