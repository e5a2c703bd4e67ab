/* Symbols of numbers. NaN has symbol 0 (it is taken as the offset); infinities are absorbed by the clamp. */
static void NAME(residues)(const symbol_rule *p, const void *records, size_t n, uint8_t *symbol)
{
    const REAL *x = records;
    const double offset = p->offset, width = p->width, k = (double)p->answer.k, far = 0x1p52;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double v = (double)x[i];
        double cell = PER_ISA(floor)(tame_f64((unless_nan_f64(v, v, offset) - offset) / width, far));
        symbol[i] = (uint8_t)(int32_t)(cell - k * PER_ISA(floor)(cell / k));
    }
}

static void NAME(bins)(const symbol_rule *p, const void *records, size_t n, uint8_t *symbol)
{
    const REAL *x = records;
    REAL value[CODE_ROWS]; /* read once */
    memcpy(value, x, n * sizeof *x);
    memset(symbol, 0, n);
    for (size_t c = 0; c + 1 < p->answer.k; c++) {
        const double cut = p->cuts[c];
        for (size_t i = 0; i < n; i++) /* vector loop */
            symbol[i] = (uint8_t)(symbol[i] + ((double)value[i] >= cut));
    }
}

/* floor(a b / 2^52) for b <= 2^52, from products of 32 bits: the only ones that vectors have. */
LDP_INLINE uint64_t NAME(scaled)(uint64_t a, uint64_t b)
{
    const uint64_t word = 0xffffffffu, rest = (1u << 20) - 1;
    uint64_t high = (a >> 32) * (b >> 32), first = (a >> 32) * (b & word);
    uint64_t second = (a & word) * (b >> 32) + ((a & word) * (b & word) >> 32); /* below 2^53 */
    return (high << 12) + (first >> 20) + (second >> 20) + (((first & rest) + (second & rest)) >> 20);
}

/* Where in the interval, in steps of 2^-52: the mantissa of 1 + u, 2^52 at the upper end. */
static void NAME(sign_bits)(const sign_bit *p, const uint64_t *word, const void *records, size_t n, uint8_t *out)
{
    const REAL *x = records;
    const REAL tiny = (REAL)p->tiny + (sizeof(REAL) == 4 ? FLT_MIN : 0); /* not subnormal */
    const double lower = p->lower, per_range = p->per_range;
    const uint64_t low = p->low, span = p->span;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double u = clamp_unit(((double)FLUSH(x[i], tiny) - lower) * per_range, 0.5);
        out[i] = word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1));
    }
}
