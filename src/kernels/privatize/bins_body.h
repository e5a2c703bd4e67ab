/* All cuts are compared with every record. NaN has symbol 0. */
static void NAME(privatize_bins)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n, void *out)
{
    const bins *p = params;
    uint8_t symbol[CODE_ROWS] LDP_ALIGNED;
    REAL value[CODE_ROWS]; /* records are read once */
    memcpy(value, records, n * sizeof *value);
    memset(symbol, 0, n);
    for (size_t c = 0; c + 1 < p->answer.k; c++) {
        const double cut = p->cuts[c];
        for (size_t i = 0; i < n; i++) /* vector loop */
            symbol[i] = (uint8_t)(symbol[i] + ((double)value[i] >= cut));
    }
    privatize_randomized_response_u8(&p->answer, key, block, symbol, n, out);
}
