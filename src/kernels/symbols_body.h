/* Symbols of numbers, compiled per real type. NaN has symbol 0; infinities are absorbed by the clamp. */
static void NAME(residues)(const symbol_rule *p, const void *records, size_t n, uint8_t *symbol)
{
    const REAL *x = records;
    const double offset = p->offset, width = p->width, k = (double)p->answer.k, far = 0x1p52;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double cell = __builtin_floor(((double)x[i] - offset) / width);
        cell = cell < far ? cell : far; /* NaN becomes far ... */
        cell = cell > -far ? cell : -far;
        double r = cell - k * __builtin_floor(cell / k);
        symbol[i] = (uint8_t)(x[i] == x[i] ? (int32_t)r : 0); /* ... and then 0 */
    }
}

static void NAME(bins)(const symbol_rule *p, const void *records, size_t n, uint8_t *symbol)
{
    const REAL *x = records;
    memset(symbol, 0, n);
    for (size_t c = 0; c + 1 < p->answer.k; c++) {
        const double cut = p->cuts[c];
        for (size_t i = 0; i < n; i++) /* vector loop */
            symbol[i] = (uint8_t)(symbol[i] + ((double)x[i] >= cut));
    }
}

static void NAME(sign_bits)(const sign_bit *p, const uint64_t *word, const void *records, size_t n, uint8_t *out)
{
    const REAL *x = records;
    for (size_t i = 0; i < n; i++) {
        double u = ((double)x[i] - p->lower) * p->per_range;
        u = u == u ? u : 0.5;
        u = u > 0 ? u : 0;
        u = u < 1 ? u : 1;
        uint64_t part = (uint64_t)(int64_t)(u * 0x1p52 + 0.5); /* 2^52 at the upper end: the threshold is exact there */
        uint64_t threshold = p->low + (uint64_t)((unsigned __int128)p->span * part >> 52);
        out[i] = word[i] < threshold;
    }
}
