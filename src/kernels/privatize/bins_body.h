/* All cuts are compared with every record. NaN has symbol 0. Infinities count as the largest numbers. */
static int NAME(privatize_bins)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                void *reports)
{
    const bins *p = params;
    stream s = stream_open(key, p->answer.stream, block);
    int invalid = 0;
    for (size_t at = 0; at < n; at += CODE_PIECE) {
        const size_t now = n - at < CODE_PIECE ? n - at : CODE_PIECE;
        uint8_t symbol[CODE_PIECE] LDP_ALIGNED;
        REAL value[CODE_PIECE] LDP_ALIGNED; /* records are read once */
        memcpy(value, (const REAL *)records + at, now * sizeof *value);
        memset(symbol, 0, now);
        for (size_t c = 0; c + 1 < p->answer.k; c++) {
            const double cut = p->cuts[REAL_IS_DOUBLE][c];
            for (size_t i = 0; i < now; i++) /* vector loop */
                symbol[i] = (uint8_t)(symbol[i] + ((double)value[i] >= cut));
        }
        invalid |= OF_REAL(any_outside)(value, now, -DBL_MAX, DBL_MAX);
        respond_u8(&p->answer, &s, symbol, now, (uint8_t *)reports + at);
    }
    return invalid;
}
