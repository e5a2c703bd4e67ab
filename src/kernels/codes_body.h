/* One 32-bit word per report: the key stream (0.3 ns) weighs as much as the arithmetic. The division is a multiplication
 * by the reciprocal, which is short by at most one, and one correction. */
static void NAME(respond)(const response *p, const uint32_t *word, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint32_t keep = (uint32_t)p->keep, share = (uint32_t)p->share, reciprocal = (uint32_t)p->reciprocal;
    const uint8_t last = (uint8_t)(p->k - 1);
    for (size_t i = 0; i < n; i++) { /* vector loop */
        uint32_t truth = x[i] < last ? x[i] : last;
        uint32_t past = word[i] - keep; /* garbage where the truth is kept */
        uint32_t other = (uint32_t)((uint64_t)past * reciprocal >> 32);
        other += past - other * share >= share;
        uint32_t lie = other + (other >= truth); /* skip over the true symbol */
        uint32_t lies = -(uint32_t)(word[i] >= keep);
        out[i] = (uint8_t)((truth & ~lies) | (lie & lies));
    }
}

/* Two symbols and a 64-bit coin: the other symbol is known. */
static void NAME(respond_bit)(const response *p, const uint64_t *word, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint64_t keep = p->keep;
    for (size_t i = 0; i < n; i++) /* vector loop */
        out[i] = (uint8_t)((x[i] < 1 ? x[i] : 1) ^ (word[i] >= keep));
}

/* Histogram of few codes: one comparison per code and vector; a byte holds 255 rounds of 64 codes. */
typedef uint8_t NAME(bytes) __attribute__((vector_size(V_BYTES)));

static void NAME(count_few)(size_t k, const uint8_t *codes, size_t rounds, int64_t *counts)
{
    enum { MOST = 255, LANES = 64, VECTORS = LANES / V_BYTES };
    for (; rounds; codes += LANES * MOST, rounds -= rounds < MOST ? rounds : MOST)
        for (size_t c = 0; c < k; c++) {
            NAME(bytes) seen[VECTORS] = {0};
            for (size_t r = 0; r < (rounds < MOST ? rounds : MOST); r++)
#pragma GCC unroll 4
                for (size_t v = 0; v < VECTORS; v++) {
                    NAME(bytes) code;
                    memcpy(&code, codes + r * LANES + v * V_BYTES, V_BYTES);
                    seen[v] -= (NAME(bytes))(code == (uint8_t)c); /* true is all ones */
                }
            uint8_t lane[LANES];
            memcpy(lane, seen, LANES);
            for (size_t l = 0; l < LANES; l++)
                counts[c] += lane[l];
        }
}
