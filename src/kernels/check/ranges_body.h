/* Memory-bound: one pair of comparisons, or one multiplication, per number. */
static int NAME(any_outside)(const REAL *x, size_t n, double lower, double upper)
{
    const REAL least = (REAL)range_end(lower, sizeof *x), most = (REAL)range_end(upper, sizeof *x);
    REAL_BITS outside = 0;
    for (size_t i = 0; i < n; i++) /* vector loop */
        outside |= (REAL_BITS) !(x[i] >= least) | (REAL_BITS) !(x[i] <= most);
    return outside != 0;
}

static double NAME(norm)(const REAL *x, size_t n)
{
    enum { SUMS = 16 };
    double sum[SUMS] = {0}, total = 0;
    size_t whole = n / SUMS * SUMS;
    for (size_t j = 0; j < whole; j += SUMS)
        for (size_t l = 0; l < SUMS; l++) /* vector loop */
            sum[l] += (double)x[j + l] * (double)x[j + l];
    for (size_t j = whole; j < n; j++)
        total += (double)x[j] * (double)x[j];
    for (size_t l = 0; l < SUMS; l++)
        total += sum[l];
    return __builtin_sqrt(total);
}

static size_t NAME(first_outside)(const REAL *x, size_t n, double lower, double upper)
{
    for (size_t at = 0; at < n; at += PIECE) {
        const size_t now = n - at < PIECE ? n - at : PIECE;
        if (NAME(any_outside)(x + at, now, lower, upper))
            for (size_t i = at; i < at + now; i++)
                if (NAME(any_outside)(x + i, 1, lower, upper))
                    return i;
    }
    return n;
}

static size_t NAME(first_norm_outside)(const REAL *x, size_t n, size_t dim, double least, double most)
{
    for (size_t i = 0; i < n; i++) {
        const double length = NAME(norm)(x + i * dim, dim);
        if (!(length >= least && length <= most))
            return i;
    }
    return n;
}
