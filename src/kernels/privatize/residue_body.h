/* NaN counts as the offset, with symbol 0. Infinities are clamped to the farthest cell. */
static void NAME(privatize_residue)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                    void *out)
{
    const residue *p = params;
    const REAL *x = records;
    const double offset = p->offset, width = p->width, k = (double)p->answer.k, far = 0x1p52;
    uint8_t symbol[CODE_ROWS] LDP_ALIGNED;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double v = (double)x[i];
        double cell = PER_ISA(floor)(limit_f64((unless_nan_f64(v, v, offset) - offset) / width, far));
        symbol[i] = (uint8_t)(int32_t)(cell - k * PER_ISA(floor)(cell / k));
    }
    privatize_randomized_response_u8(&p->answer, key, block, symbol, n, out);
}
