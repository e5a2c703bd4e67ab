/* An end of a domain in the records' precision; a finite end stays finite. */
LDP_INLINE REAL NAME(limit)(double end)
{
    const double largest = sizeof(REAL) == 4 ? (double)FLT_MAX : DBL_MAX;
    return (REAL)(end > largest ? largest : end < -largest ? -largest : end);
}

/* Memory-bound: one comparison pair, or one multiplication, per number. */
static int NAME(any_outside)(const void *numbers, size_t n, double lower, double upper)
{
    const REAL *x = numbers;
    const REAL least = NAME(limit)(lower), most = NAME(limit)(upper);
    uint32_t outside = 0;
    for (size_t i = 0; i < n; i++) /* vector loop */
        outside |= (uint32_t)!(x[i] >= least) | (uint32_t)!(x[i] <= most);
    return outside != 0;
}

static double NAME(norm)(const void *row, size_t n)
{
    enum { LANES = 16 };
    const REAL *x = row;
    double sum[LANES] = {0}, total = 0;
    size_t whole = n / LANES * LANES;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t l = 0; l < LANES; l++) /* vector loop */
            sum[l] += (double)x[j + l] * (double)x[j + l];
    for (size_t j = whole; j < n; j++)
        total += (double)x[j] * (double)x[j];
    for (size_t l = 0; l < LANES; l++)
        total += sum[l];
    return __builtin_sqrt(total);
}
