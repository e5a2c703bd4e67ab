/* Draws a pattern: bit r is the sign of number r in the order of the weights. All limits of a size are read. */
static void PER_ISA(draw_pattern)(const sign_patterns *p, reader *coins, uint64_t *pattern)
{
    const uint32_t heads = reader_word(coins) < p->heads;
    const uint64_t *limit = p->limit;
    uint32_t left = (p->least[0] & (heads - 1)) | (p->least[1] & -heads);
    for (uint32_t i = 0; i < p->signs; i++)
        limit += p->sum[i] + 1;
    for (uint32_t i = p->signs; i-- > 0;) {
        uint64_t own = 0;
        limit -= p->sum[i] + 1;
        for (uint64_t k = 0; k <= p->sum[i]; k++) /* vector loop */
            own |= limit[k] & -(((k ^ left) - 1) >> 63); /* if k is left */
        const uint32_t member = reader_word(coins) <= own;
        left -= p->size[i] & -member;
        left &= ~-(left >> 31); /* not below 0 */
        pattern[p->rank[i] / 64] |= (uint64_t)(member ^ heads ^ 1 ^ p->negative[i]) << p->rank[i] % 64;
    }
}

/* Gives number j the sign at its rank among all numbers. Equal ones are ranked by their positions. */
static void PER_ISA(place_signs)(uint32_t n, const uint64_t *pattern, const float *v, uint64_t *signs)
{
    int32_t order[MAX_SIGNS];
    uint32_t rank[MAX_SIGNS];
    for (uint32_t j = 0; j < n; j++) { /* integers in the order of the numbers, also for NaN */
        const int32_t bits = (int32_t)bits_f32(v[j]);
        order[j] = bits ^ (bits >> 31 & 0x7fffffff);
    }
    for (uint32_t j = 0; j < n; j++) { /* vector loop */
        const int32_t own = order[j];
        uint32_t smaller = 0;
        for (uint32_t i = 0; i < n; i++)
            smaller += (order[i] < own) | ((order[i] == own) & (i < j));
        rank[j] = smaller;
    }
    for (uint32_t j = 0; j < n; j++) {
        uint64_t word = 0;
        for (uint32_t i = 0; i < SIGN_WORDS; i++)
            word |= pattern[i] & -(uint64_t)(rank[j] / 64 == i);
        signs[j / 64] |= (word >> rank[j] % 64 & 1) << j % 64;
    }
}

/* The signs of a record, from the square of its norm and its products with the vectors of a frame, which are changed. */
static void PER_ISA(signs_of_products)(const sign_patterns *p, reader *coins, double square, float *product, uint64_t *signs)
{
    uint64_t pattern[SIGN_WORDS] = {0};
    const double norm = clamp_unit(__builtin_sqrt(square), 0); /* with a NaN anywhere: the center */
    const uint32_t flip = unit_interval(reader_word(coins)) >= (1 + norm) / 2;
    for (uint32_t j = 0; j < p->signs; j++)
        product[j] = float_of(bits_f32(product[j]) ^ flip << 31);
    PER_ISA(draw_pattern)(p, coins, pattern);
    memset(signs, 0, 8 * words_of_signs(p->signs));
    PER_ISA(place_signs)(p->signs, pattern, product, signs);
}
