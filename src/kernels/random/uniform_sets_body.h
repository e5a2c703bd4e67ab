/* Uniform sets of a given size: independent bits of about the right density, then uniform members are added or removed until the
 * size is right. Every set of the size has the same probability, because all indices are treated alike.
 * Bottleneck: the additions, one after another through the cache; then the key stream.
 *
 * One file with all kernels has it once. */
#ifndef LDP_UNIFORM_SETS_BODY
#if defined(LDP_FREESTANDING)
#define LDP_UNIFORM_SETS_BODY
#endif

/* Independent bits with probability density / 2^SET_DIGITS, by comparison of binary digits, the lowest first. */
static void NAME(draw_bits)(uint32_t density, stream *s, uint64_t *row, size_t words)
{
    uint64_t drawn[SET_PIECE] LDP_ALIGNED;
    memset(row, 0, 8 * words);
    if (density == 0)
        return;
    for (int digit = __builtin_ctz(density); digit < SET_DIGITS; digit++) {
        const uint64_t one = -(uint64_t)(density >> digit & 1);
        for (size_t start = 0; start < words; start += SET_PIECE) {
            const size_t now = words - start < SET_PIECE ? words - start : SET_PIECE;
            uint64_t *piece = row + start;
            stream_draw(s, drawn, blocks_for(now, 8));
            for (size_t i = 0; i < now; i++) /* vector loop */
                piece[i] = (piece[i] & drawn[i]) | ((piece[i] | drawn[i]) & one);
        }
    }
}

/* Adds or removes uniform members of the first `bits` indices until there are `size`. Other bits are cleared. */
static void NAME(adjust)(uint32_t size, index_reader *indices, uint64_t *row, size_t bits)
{
    size_t count = 0, words = (bits + 63) / 64;
    row[words - 1] &= word_mask(bits - 64 * (words - 1));
    for (size_t w = 0; w < words; w++)
        count += PER_ISA(ones)(row[w]);
    while (count < size) {
        const uint32_t i = next_index(indices);
        const uint64_t before = row[i / 64];
        row[i / 64] = before | (uint64_t)1 << i % 64;
        count += ~before >> i % 64 & 1;
    }
    while (count > size) {
        const uint32_t i = next_index(indices);
        const uint64_t before = row[i / 64];
        row[i / 64] = before & ~((uint64_t)1 << i % 64);
        count -= before >> i % 64 & 1;
    }
}
#endif
