/* Uniform coordinates, `sampled` for each of n people. The number is `dim` where the word belongs to the incomplete last interval
 * of `dim` words. */
static void NAME(uniform)(uint32_t dim, uint32_t *at, size_t n)
{
    const uint32_t incomplete = -dim % dim;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const uint64_t product = (uint64_t)at[i] * dim;
        at[i] = (uint32_t)product < incomplete ? dim : (uint32_t)(product >> 32);
    }
}

/* All coordinates, more than CUBE_SAMPLED: uniform rows are drawn until one is on the side of the coin. A row whose antipode is
 * on that side is flipped. */
static void NAME(draw_side)(const sampled_cube *p, reader *signs, const uint8_t *record, uint8_t *row)
{
    const int heads = reader_word(signs) < p->heads;
    for (;;) {
        size_t agree = 0;
        for (size_t j = 0; j < p->dim; j += 64) {
            const size_t bytes = word_bytes(p->dim - j);
            const uint64_t drawn = reader_word(signs) & word_mask(p->dim - j);
            agree += PER_ISA(ones)(~(drawn ^ load_bytes(record + j / 8, bytes)) & word_mask(p->dim - j));
            store_bytes(row + j / 8, drawn, bytes);
        }
        const int flip = heads && p->dim - agree >= p->threshold;
        flip_bits(row, p->dim, -(uint64_t)flip);
        if ((agree >= p->threshold || flip) == heads || signs->source.key->exhausted)
            return;
    }
}
