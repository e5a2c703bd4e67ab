/* Two words per report: the code and the coin. Bottleneck: the key stream. */

/* Replaces uniform codes by those whose parity with truth + 1 is that of the coin: `tails` is 0 (even) or 1. */
static void NAME(set_parity)(uint32_t mask, const uint32_t *truth, const uint32_t *tails, uint32_t *code, size_t n)
{
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const uint32_t row = truth[i] + 1, drawn = code[i] & mask;
        uint32_t parity = drawn & row;
        parity ^= parity >> 16;
        parity ^= parity >> 8;
        parity ^= parity >> 4;
        parity ^= parity >> 2;
        parity ^= parity >> 1;
        code[i] = drawn ^ (row & -row & -((parity ^ tails[i]) & 1));
    }
}

/* Private coins of n <= CODE_PIECE records: 1 is tails. */
static void NAME(draw_tails)(const hadamard_response *p, stream *s, uint32_t *tails, size_t n)
{
    uint64_t word[CODE_PIECE] LDP_ALIGNED;
    if (p->bits == 32) {
        const uint32_t heads = (uint32_t)p->heads;
        stream_draw(s, tails, blocks_for(n, 4));
        for (size_t i = 0; i < n; i++) /* vector loop */
            tails[i] = tails[i] >= heads;
    } else {
        stream_draw(s, word, blocks_for(n, 8));
        for (size_t i = 0; i < n; i++) /* vector loop */
            tails[i] = word[i] >= p->heads;
    }
}

#define DEFINE_BODY(in, in_type, out, out_type)                                                                            \
    static int NAME(hadamard_response_##in##_##out)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                                    size_t n, void *reports)                                               \
    {                                                                                                                      \
        const hadamard_response *p = params;                                                                               \
        const uint32_t last = p->k - 1;                                                                                    \
        stream s = stream_open(key, STREAM_HADAMARD_RESPONSE, block);                                                      \
        uint32_t truth[CODE_PIECE] LDP_ALIGNED, code[CODE_PIECE] LDP_ALIGNED, tails[CODE_PIECE] LDP_ALIGNED, most = 0;     \
        for (size_t at = 0; at < n; at += CODE_PIECE) {                                                                    \
            const in_type *x = (const in_type *)records + at;                                                              \
            out_type *report = (out_type *)reports + at;                                                                   \
            const size_t now = n - at < CODE_PIECE ? n - at : CODE_PIECE;                                                  \
            for (size_t i = 0; i < now; i++) { /* vector loop */                                                           \
                const uint32_t record = x[i];                                                                              \
                truth[i] = record < last ? record : last;                                                                  \
                most = record > most ? record : most;                                                                      \
            }                                                                                                              \
            stream_draw(&s, code, blocks_for(now, 4));                                                                     \
            NAME(draw_tails)(p, &s, tails, now);                                                                           \
            NAME(set_parity)(p->mask, truth, tails, code, now);                                                            \
            for (size_t i = 0; i < now; i++) /* vector loop */                                                             \
                report[i] = (out_type)code[i];                                                                             \
        }                                                                                                                  \
        return most > last;                                                                                                \
    }

DEFINE_BODY(u8, uint8_t, u8, uint8_t)
DEFINE_BODY(u8, uint8_t, u16, uint16_t)
DEFINE_BODY(u16, uint16_t, u16, uint16_t)
DEFINE_BODY(u16, uint16_t, u32, uint32_t)
DEFINE_BODY(u32, uint32_t, u32, uint32_t)
#undef DEFINE_BODY
