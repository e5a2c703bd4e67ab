typedef uint32_t NAME(response_words) __attribute__((vector_size(V_BYTES)));

/* One 32-bit word per report. The division is a multiplication. Bottleneck: the key stream. */
static int NAME(respond)(const randomized_response *p, stream *s, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint32_t direct = (uint32_t)p->direct, reciprocal = (uint32_t)p->reciprocal;
    const int shift = (int)p->shift;
    const uint8_t last = (uint8_t)(p->k - 1);
    uint32_t word[CODE_PIECE] LDP_ALIGNED, other[CODE_PIECE] LDP_ALIGNED;
    uint8_t most = 0;
    stream_draw(s, word, blocks_for(n, 4));
    for (size_t i = 0; i < n; i += V_BYTES / 4) {
        NAME(response_words) past;
        memcpy(&past, word + i, sizeof past);
        past = (past - direct) >> 1; /* not used if the word is below `direct` */
        past = (NAME(response_words))PER_ISA(high_product)((PER_ISA(int32s))past, reciprocal) >> shift;
        memcpy(other + i, &past, sizeof past);
    }
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const uint8_t record = x[i], truth = record < last ? record : last;
        const uint32_t replaced = -(uint32_t)(word[i] >= direct);
        out[i] = (uint8_t)((truth & ~replaced) | (other[i] & replaced));
        most = record > most ? record : most;
    }
    return most > last;
}

/* Two symbols and a 64-bit coin: there is only one other symbol. */
static int NAME(respond_bit)(const randomized_response *p, stream *s, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint64_t keep = p->direct + p->words_per_symbol;
    uint64_t word[WIDE_PIECE] LDP_ALIGNED;
    uint8_t most = 0;
    for (size_t at = 0; at < n; at += WIDE_PIECE) {
        const size_t now = n - at < WIDE_PIECE ? n - at : WIDE_PIECE;
        stream_draw(s, word, blocks_for(now, 8));
        for (size_t i = 0; i < now; i++) { /* vector loop */
            uint8_t record = x[at + i];
            out[at + i] = (uint8_t)((record < 1 ? record : 1) ^ (word[i] >= keep));
            most = record > most ? record : most;
        }
    }
    return most > 1;
}
