/* Records of either precision as vectors of doubles. */
typedef REAL NAME(part) __attribute__((vector_size(V_BYTES / 8 * sizeof(REAL))));

/* The next V_BYTES / 8 records. */
LDP_INLINE PER_ISA(doubles) NAME(load_doubles)(const REAL *x)
{
    NAME(part) v;
    memcpy(&v, x, sizeof v);
    read_soon(x);
    return __builtin_convertvector(v, PER_ISA(doubles));
}

/* The integers that doubles hold; integer_of. */
LDP_INLINE PER_ISA(int64s) NAME(integers)(PER_ISA(doubles) v)
{
    return (PER_ISA(int64s))(v + LDP_MIDDLE) - (int64_t)bits_f64(LDP_MIDDLE);
}

/* What tells that one of many numbers was outside of an interval, or not finite: bits of differences that are 0 for all others. */
typedef struct {
    PER_ISA(int64s) bits;
} NAME(evidence);

/* The distances from `lower` of the numbers nearest to v in [lower, upper], and of the center for NaN. The ends are not -0. */
LDP_INLINE PER_ISA(doubles) NAME(distances)(NAME(evidence) * e, PER_ISA(doubles) v, double lower, double upper)
{
    const PER_ISA(doubles) inside = PER_ISA(between)(v, lower, upper);
    e->bits |= (PER_ISA(int64s))(inside - v);
    return PER_ISA(unless_nan)(v, inside - lower, 0.5 * (upper - lower));
}

LDP_INLINE void NAME(watch_finite)(NAME(evidence) * e, PER_ISA(doubles) v) { e->bits |= (PER_ISA(int64s))(v - v); }

/* LDP_OUTSIDE, or 0. */
LDP_INLINE int NAME(outside)(const NAME(evidence) * e)
{
    int64_t bits = 0;
    for (size_t l = 0; l < V_BYTES / 8; l++)
        bits |= e->bits[l];
    return (int)((uint64_t)(bits | -bits) >> 63); /* without a jump */
}
