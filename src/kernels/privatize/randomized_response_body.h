/* One 32-bit word per report; the key stream (0.3 ns) takes as long as the arithmetic. The division is a multiplication by
 * the reciprocal, whose quotient is too small by at most one, and one correction. */
static void NAME(respond)(const randomized_response *p, const uint32_t *word, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint32_t keep = (uint32_t)p->keep, each = (uint32_t)p->words_per_symbol, reciprocal = (uint32_t)p->reciprocal;
    const uint8_t last = (uint8_t)(p->k - 1);
    for (size_t i = 0; i < n; i++) { /* vector loop */
        uint32_t truth = x[i] < last ? x[i] : last;
        uint32_t past = word[i] - keep; /* not used if the true symbol is kept */
        uint32_t other = (uint32_t)((uint64_t)past * reciprocal >> 32);
        other += past - other * each >= each;
        uint32_t another = other + (other >= truth); /* skip the true symbol */
        uint32_t replaced = -(uint32_t)(word[i] >= keep);
        out[i] = (uint8_t)((truth & ~replaced) | (another & replaced));
    }
}

/* Two symbols and a 64-bit coin: there is only one other symbol. */
static void NAME(respond_bit)(const randomized_response *p, const uint64_t *word, const uint8_t *x, size_t n, uint8_t *out)
{
    const uint64_t keep = p->keep;
    for (size_t i = 0; i < n; i++) /* vector loop */
        out[i] = (uint8_t)((x[i] < 1 ? x[i] : 1) ^ (word[i] >= keep));
}
