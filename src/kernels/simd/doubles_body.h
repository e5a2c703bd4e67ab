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

/* What tells that one of many numbers was outside of an interval: the signs of the distances from its ends, and a sum that is
 * not finite if a number is not. */
typedef struct {
    PER_ISA(int64s) signs;
    PER_ISA(doubles) sum;
} NAME(evidence);

LDP_INLINE void NAME(watch)(NAME(evidence) * e, PER_ISA(doubles) up, PER_ISA(doubles) down)
{
    e->signs |= (PER_ISA(int64s))(up + 0.0) | (PER_ISA(int64s))(down + 0.0); /* -0.0 becomes 0.0 */
    e->sum += up;
}

LDP_INLINE int NAME(outside)(const NAME(evidence) * e)
{
    int64_t signs = 0;
    double sum = 0;
    for (size_t l = 0; l < V_BYTES / 8; l++) {
        signs |= e->signs[l];
        sum += e->sum[l];
    }
    return (int)((uint64_t)signs >> 63) | !(sum < __builtin_inf()) | !(sum > -__builtin_inf()); /* without a jump */
}
