/* All rows are copied before the first is read again, because a wide load must wait for narrow stores to the same address. */
static void NAME(glm_rows)(const glm *p, const REAL *x, const int64_t *index, size_t n, float *rows)
{
    const double most = p->max_norm ? p->radius : 1e12 * p->radius; /* within single precision */
    for (size_t i = 0; i < n; i++) {
        const REAL *restrict from = x + (index ? (size_t)index[i] : i) * p->features;
        float *restrict row = rows + i * p->padded;
        for (size_t j = 0; j < p->features; j++) { /* vector loop */
            double v = (double)from[j];
            v = v < most ? v : most;
            row[j] = (float)(v > -most ? v : -most);
        }
        for (size_t j = p->features; j < p->padded; j++)
            row[j] = 0;
    }
    for (size_t i = 0; i < n && !p->max_norm; i++)
        PER_ISA(shrink)(p, rows + i * p->padded);
    for (size_t i = 0; i < n && p->dim > p->features; i++)
        rows[i * p->padded + p->features] = (float)p->column;
}

static void NAME(glm_move)(const glm *p, const double *position, const REAL *report, double factor, double *moved)
{
    for (size_t j = 0; j < p->padded; j++) /* vector loop */
        moved[j] = position[j] - factor * (double)report[j];
    const double length = __builtin_sqrt(PER_ISA(square_norm)(moved, p->padded));
    if (length > p->projection) /* the position is public */
        for (size_t j = 0; j < p->padded; j++)
            moved[j] *= p->projection / length;
}
