/* A word for the code and one for the coin, or one word of 32 bits for both. Bottleneck: the key stream. */

/* Replaces uniform codes by those whose parity with truth + 1 is that of the coin: bit 0 of `tails` is 0 (even) or 1. The number of
 * bits of the codes is at most 16 where `narrow` is set. */
LDP_INLINE uint32_t NAME(set_parity)(uint32_t truth, uint32_t tails, uint32_t code, int narrow)
{
    const uint32_t row = truth + 1;
    uint32_t parity = code & row;
    if (!narrow)
        parity ^= parity >> 16;
    parity ^= parity >> 8;
    parity ^= parity >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return code ^ (row & -row & -((parity ^ tails) & 1));
}

/* Draws uniform codes, with other bits above them, and 1 (tails) or 0 for the private coins of n records: at most CODE_PIECE, or
 * WIDE_PIECE with two words each. */
static void NAME(draw_codes)(const hadamard_response *p, stream *s, uint32_t *code, uint32_t *tails, size_t n)
{
    const uint32_t heads = (uint32_t)p->heads, shift = 32 - (uint32_t)p->bits;
    uint64_t word[WIDE_PIECE] LDP_ALIGNED;
    stream_draw(s, code, blocks_for(n, 4));
    if (p->bits == 64) {
        stream_draw(s, word, blocks_for(n, 8));
        for (size_t i = 0; i < n; i++) /* vector loop */
            tails[i] = word[i] >= p->heads;
        return;
    }
    const uint32_t *coin = code;
    if (p->bits == 32) {
        stream_draw(s, tails, blocks_for(n, 4));
        coin = tails;
    }
    for (size_t i = 0; i < n; i++) /* vector loop */
        tails[i] = coin[i] >> shift >= heads;
}

#define DEFINE_BODY(in, in_type, out, out_type, narrow)                                                                       \
    static int NAME(hadamard_response_##in##_##out)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                                    size_t n, void *reports)                                                  \
    {                                                                                                                         \
        const hadamard_response *p = params;                                                                                  \
        const uint32_t mask = p->mask, last = p->k - 1;                                                                       \
        stream s = stream_open(key, STREAM_HADAMARD_RESPONSE, block);                                                         \
        uint32_t code[CODE_PIECE] LDP_ALIGNED, tails[CODE_PIECE] LDP_ALIGNED;                                                 \
        const size_t piece = p->bits < 32 ? CODE_PIECE : WIDE_PIECE;                                                          \
        in_type most = 0;                                                                                                     \
        for (size_t at = 0; at < n; at += piece) {                                                                            \
            const in_type *x = (const in_type *)records + at;                                                                 \
            out_type *report = (out_type *)reports + at;                                                                      \
            const size_t now = n - at < piece ? n - at : piece;                                                               \
            NAME(draw_codes)(p, &s, code, tails, now);                                                                        \
            for (size_t i = 0; i < now; i++) {                                                                                \
                const uint32_t record = x[i], truth = record < last ? record : last;                                          \
                report[i] = (out_type)NAME(set_parity)(truth, tails[i], code[i] & mask, narrow);                              \
                most = x[i] > most ? x[i] : most;                                                                             \
            }                                                                                                                 \
        }                                                                                                                     \
        return most > last;                                                                                                   \
    }

DEFINE_BODY(u8, uint8_t, u8, uint8_t, 1) /* vector loop */
DEFINE_BODY(u8, uint8_t, u16, uint16_t, 1) /* vector loop */
DEFINE_BODY(u16, uint16_t, u16, uint16_t, 1) /* vector loop */
DEFINE_BODY(u16, uint16_t, u32, uint32_t, 0) /* vector loop */
DEFINE_BODY(u32, uint32_t, u32, uint32_t, 0) /* vector loop */
#undef DEFINE_BODY
