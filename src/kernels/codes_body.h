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

/* Histogram of few codes: one comparison per code and vector; a byte holds 255 rounds. */
static void NAME(count_few)(size_t k, const uint8_t *codes, size_t rounds, int64_t *counts)
{
    enum { MOST = 255, LANES = 64 };
    for (; rounds; codes += LANES * MOST, rounds -= rounds < MOST ? rounds : MOST)
        for (size_t c = 0; c < k; c++) {
            uint8_t seen[LANES] = {0};
            for (size_t r = 0; r < (rounds < MOST ? rounds : MOST); r++)
                for (size_t l = 0; l < LANES; l++) /* vector loop */
                    seen[l] = (uint8_t)(seen[l] + (codes[r * LANES + l] == c));
            for (size_t l = 0; l < LANES; l++)
                counts[c] += seen[l];
        }
}
