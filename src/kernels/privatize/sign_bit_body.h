/* floor(a b / 2^52) for b <= 2^52, from full products of 32-bit numbers, the widest ones of the vector instructions in use. */
LDP_INLINE uint64_t NAME(scaled)(uint64_t a, uint64_t b)
{
    const uint64_t word = 0xffffffffu, rest = (1u << 20) - 1;
    uint64_t high = (a >> 32) * (b >> 32), first = (a >> 32) * (b & word);
    uint64_t second = (a & word) * (b >> 32) + ((a & word) * (b & word) >> 32); /* below 2^53 */
    return (high << 12) + (first >> 20) + (second >> 20) + (((first & rest) + (second & rest)) >> 20);
}

/* The position u in the interval is used in steps of 2^-52: the mantissa of 1 + u, or 2^52 at the upper end. */
static void NAME(privatize_sign_bit)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                     void *reports)
{
    const sign_bit *p = params;
    const REAL *x = records;
    uint8_t *out = reports;
    const REAL tiny = (REAL)p->tiny + (sizeof(REAL) == 4 ? FLT_MIN : 0); /* not subnormal */
    const double lower = p->lower, per_range = p->per_range;
    const uint64_t low = p->low, span = p->span;
    uint64_t word[CODE_ROWS] LDP_ALIGNED;
    stream s = stream_open(key, STREAM_SIGN_BIT, block);
    stream_draw(&s, word, blocks_for(n, 8));
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double u = clamp_unit(((double)FLUSH(x[i], tiny) - lower) * per_range, 0.5);
        out[i] = word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1));
    }
}
