/* Sums of REAL in 128 bytes of accumulators for every vector width, so that all instruction sets give the same bits. A body
 * includes this file and adds element j to accumulator j mod LANES. */
typedef REAL NAME(vector) __attribute__((vector_size(V_BYTES)));
enum { NAME(LANES) = 128 / sizeof(REAL), NAME(PER_VECTOR) = V_BYTES / sizeof(REAL), NAME(VECTORS) = 128 / V_BYTES };

/* The sum of all lanes: the upper half of the lanes is added to the lower half, until one lane is left. */
LDP_INLINE REAL NAME(lane_sum)(NAME(vector) * sum)
{
    for (size_t half = NAME(VECTORS) / 2; half; half /= 2)
        for (size_t v = 0; v < half; v++)
            sum[v] += sum[v + half];
#if REAL_IS_DOUBLE
    return PER_ISA(sum_doubles)(sum[0]);
#else
    return PER_ISA(sum_floats)(sum[0]);
#endif
}
