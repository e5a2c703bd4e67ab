/* Rounds numbers to grid indices at random: up with the probability that preserves the mean. NaN becomes the center. Records
 * are multiplied by `factor`, which is 1 except for the projection on the l2 ball. */
static void NAME(round_records)(const laplace *p, const REAL *x, double factor, const uint32_t *word, size_t n, double *index)
{
    const double lower = p->lower, per_grid = p->per_grid, span = p->span, far = p->far;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double t = (limit_f64((double)x[i], far) * factor - lower) * per_grid;
        t = t == t ? t : span / 2;
        t = t > 0 ? t : 0;
        t = t < span ? t : span;
        double whole = (double)(int32_t)t;
        index[i] = whole + ((double)(int32_t)(word[i] >> 1) < (t - whole) * 0x1p31 ? 1.0 : 0.0);
    }
}

/* Euclidean norm of a row, after limit_f64. */
static double NAME(norm)(const laplace *p, const REAL *x)
{
    enum { SUMS = 16 };
    double sum[SUMS] = {0}, total = 0;
    size_t whole = p->dim / SUMS * SUMS;
    for (size_t j = 0; j < whole; j += SUMS)
        for (size_t l = 0; l < SUMS; l++) { /* vector loop */
            double v = limit_f64((double)x[j + l], p->far);
            sum[l] += v * v;
        }
    for (size_t j = whole; j < p->dim; j++) {
        double v = limit_f64((double)x[j], p->far);
        total += v * v;
    }
    for (size_t l = 0; l < SUMS; l++)
        total += sum[l];
    return __builtin_sqrt(total);
}

/* Factor that projects a row on the l2 ball; 0 if it holds NaN. Privacy depends on limit_l1 alone. */
static double NAME(projection)(const laplace *p, const REAL *row, int *invalid)
{
    const double norm = NAME(norm)(p, row), limit = p->radius * (1 + p->tolerance * (sizeof(REAL) == 4 ? 0x1p-24 : 0x1p-53));
    *invalid |= !(norm <= limit);
    return norm <= p->radius ? 1 : norm > p->radius ? p->radius / norm : 0;
}

static void NAME(add_noise)(const laplace *p, const double *index, const double *noise, size_t n, double *out)
{
    const double lower = p->lower, grid = p->grid, far = GRID_LIMIT;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double y = index[i] + noise[i]; /* integers */
        y = y < far ? y : far;
        y = y > -far ? y : -far;
        out[i] = lower + grid * (y + 0.5);
    }
}

/* Rounds, limits and adds noise in separate buffers, so that `out` never holds a record without noise. */
static int NAME(privatize_laplace)(const void *params, stream_key *key, uint64_t block, const void *records, size_t rows,
                                   void *reports)
{
    const laplace *p = params;
    const REAL *x = records;
    double *out = reports;
    uint32_t word[NOISE_PIECE] LDP_ALIGNED;
    double index[NOISE_PIECE] LDP_ALIGNED, noise[NOISE_PIECE] LDP_ALIGNED;
    const size_t total = rows * p->dim, row = p->l1_limit > 0 ? p->dim : total; /* row: numbers that are rounded together */
    double factor = 1;
    int64_t budget = 0;
    int invalid = 0;
    stream rounding = stream_open(key, p->noise.stream + 2, block);
    noise_source source;
    noise_open(&source, &p->noise, key, block, total);
    for (size_t at = 0; at < total; at += NOISE_PIECE) { /* whole rows, or parts of one */
        size_t n = total - at < NOISE_PIECE ? total - at : NOISE_PIECE;
        stream_draw(&rounding, word, blocks_for(n, 4));
        for (size_t j = 0, now; j < n; j += now) {
            now = row - (at + j) % row < n - j ? row - (at + j) % row : n - j;
            if (p->l1_limit > 0 && (at + j) % row == 0) {
                factor = NAME(projection)(p, x + at + j, &invalid);
                budget = (int64_t)p->l1_limit;
            }
            NAME(round_records)(p, x + at + j, factor, word + j, now, index + j);
            if (p->l1_limit > 0)
                limit_l1(p, index + j, now, &budget);
        }
        noise_draw(&source, n, noise);
        NAME(add_noise)(p, index, noise, n, out + at);
        if (!(p->l1_limit > 0))
            invalid |= OF_REAL(any_outside)(x + at, n, p->lower, p->upper);
    }
    return invalid;
}
