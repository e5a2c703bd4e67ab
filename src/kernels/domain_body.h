/* Memory-bound: one comparison pair, or one multiplication, per number. */
static int NAME(any_outside)(const void *numbers, size_t n, double lower, double upper)
{
    const REAL *x = numbers;
    const REAL least = (REAL)lower, most = (REAL)upper;
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
