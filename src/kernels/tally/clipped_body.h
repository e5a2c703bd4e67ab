/* Bottleneck: memory. Numbers are rounded by adding and subtracting a large number, as in vectors_body.h, and summed as
 * doubles, exactly: 2^40 steps times MAX_ROWS stay below 2^53. */
#define ROUNDED(v) ((v) + 0x1.8p52 - 0x1.8p52)

/* Sums n <= LANES MAX_ROWS numbers in LANES accumulators, which are initially zero. Returns the number that are not finite. */
static size_t NAME(clip_numbers)(const REAL *x, size_t n, double radius, double *sum)
{
    const double scale = 0x1p40 / radius;
    uint64_t bad[LANES] = {0}, count = 0;
    for (size_t i = 0; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) { /* vector loop */
            double v = (double)x[i + l];
            uint64_t finite = -(uint64_t)((bits_f64(v) & LDP_INFINITY_F64) != LDP_INFINITY_F64);
            v = double_of(bits_f64(limit_f64(v, radius)) & finite);
            sum[l] += ROUNDED(v * scale);
            bad[l] -= ~finite;
        }
    for (size_t i = n / LANES * LANES; i < n; i++) {
        double v = (double)x[i];
        if (v - v == 0)
            sum[0] += ROUNDED(limit_f64(v, radius) * scale);
        else
            count++;
    }
    for (size_t l = 0; l < LANES; l++)
        count += bad[l];
    return count;
}

/* Copies a row and returns its squared norm. */
LDP_INLINE double NAME(load)(const REAL *x, size_t dim, double *row)
{
    double sum[ROW_LANES] = {0}, total = 0;
    size_t whole = dim / ROW_LANES * ROW_LANES;
    for (size_t j = 0; j < whole; j += ROW_LANES)
        for (size_t l = 0; l < ROW_LANES; l++) { /* vector loop */
            double v = (double)x[j + l];
            row[j + l] = v;
            sum[l] += v * v;
        }
    for (size_t j = whole; j < dim; j++) {
        row[j] = (double)x[j];
        total += row[j] * row[j];
    }
    for (size_t half = ROW_LANES / 2; half; half /= 2)
        for (size_t l = 0; l < half; l++)
            sum[l] += sum[l + half];
    return total + sum[0];
}

/* Returns `small` times the norm of a row whose squares overflow. Not finite if the row is not. */
static double NAME(small_norm)(const double *row, size_t dim, double small)
{
    double total = 0;
    for (size_t j = 0; j < dim; j++)
        total += row[j] * small * (row[j] * small);
    return __builtin_sqrt(total);
}

/* Adds n <= MAX_ROWS rows to the sums of their columns, which are initially zero. A row is read once, into `row`, so that its
 * norm and the added numbers agree. Returns the number of rows that are not finite. */
static size_t NAME(clip_rows)(const REAL *x, size_t n, size_t dim, double radius, double *row, double *total)
{
    const double small = 0x1p-600; /* squares of finite numbers times this are finite */
    size_t bad = 0;
    for (size_t i = 0; i < n; i++, x += dim) {
        double square = NAME(load)(x, dim, row), norm = __builtin_sqrt(square), factor;
        if (square < INFINITY)
            factor = 0x1p40 / (norm > radius ? norm : radius);
        else if ((norm = NAME(small_norm)(row, dim, small)) < INFINITY) /* far outside */
            factor = 0x1p40 * small / norm;
        else { /* NaN or infinite */
            bad++;
            continue;
        }
        for (size_t j = 0; j < dim; j++) /* vector loop */
            total[j] += ROUNDED(row[j] * factor);
    }
    return bad;
}

static size_t NAME(add_clipped)(const clipping *p, const REAL *x, size_t n, double *scratch, void *state)
{
    const size_t most = p->dim == 1 ? LANES * MAX_ROWS : MAX_ROWS;
    size_t bad = 0;
    for (size_t done = 0; done < n; done += most) {
        const size_t now = n - done < most ? n - done : most;
        if (p->dim == 1) {
            double sum[LANES] = {0};
            bad += NAME(clip_numbers)(x + done, now, p->radius, sum);
            for (size_t l = 0; l < LANES; l++)
                add_wide(state, 0, (wide)(int64_t)sum[l]);
            continue;
        }
        double *total = scratch + p->dim;
        memset(total, 0, p->dim * sizeof *total);
        bad += NAME(clip_rows)(x + done * p->dim, now, p->dim, p->radius, scratch, total);
        for (size_t j = 0; j < p->dim; j++)
            add_wide(state, j, (wide)(int64_t)total[j]);
    }
    return bad;
}

#undef ROUNDED
