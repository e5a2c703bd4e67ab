#include "tally/grid.h"

#include "tally/wide.h"

/* Numbers are clamped before the conversion, which is undefined beyond the range of integers. */
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
