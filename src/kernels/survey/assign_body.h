/* Bottleneck: one comparison per threshold and lane. */
static void NAME(count_thresholds)(const uint32_t *word, const uint32_t *threshold, size_t thresholds, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i += 64) {
        uint32_t count[64] LDP_ALIGNED = {0};
        for (size_t t = 0; t < thresholds; t++) {
            const uint32_t least = threshold[t];
            for (size_t l = 0; l < 64; l++) /* vector loop */
                count[l] += word[i + l] >= least;
        }
        for (size_t l = 0; l < 64 && i + l < n; l++)
            out[i + l] = (uint16_t)count[l];
    }
}

/* A person is asked with probability left / of, rounded up to a multiple of 2^-32. */
static void NAME(pick)(const uint32_t *word, uint32_t of, size_t n, uint16_t *left, uint8_t *picked)
{
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const uint32_t place = (uint32_t)((uint64_t)word[i] * of >> 32);
        const uint16_t asked = place < left[i];
        left[i] = (uint16_t)(left[i] - asked);
        picked[i] = (uint8_t)asked;
    }
}
