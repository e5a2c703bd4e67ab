/* Takes the lowest one `own` times, from the first word that has one. Bottleneck: for short rows the bytes, for long ones the
 * words. */

LDP_INLINE void NAME(rows_of_words)(const uint8_t *rows, size_t n, uint32_t k, uint32_t own, int packed, size_t words,
                                    uint16_t *out)
{
    const size_t row_bytes = packed ? (k + 7) / 8 : k;
    uint64_t word[MAX_WORDS];
    for (size_t i = 0; i < n; i++) {
        const uint8_t *row = rows + i * row_bytes;
        uint16_t *position = out + i * own;
        uint64_t bad = 0;
        uint32_t size = 0;
        for (size_t w = 0; w < words; w++) {
            const size_t bits = k - 64 * w < 64 ? k - 64 * w : 64;
            if (packed) {
                const uint64_t all = load_bytes(row + 8 * w, word_bytes(bits));
                bad |= all & ~word_mask(bits);
                word[w] = all & word_mask(bits);
            } else {
                word[w] = packed_word(row + 64 * w, bits, &bad);
            }
            size += (uint32_t)PER_ISA(ones)(word[w]);
        }
        for (uint32_t s = 0; s < own; s++) {
            uint64_t found = 0, option = 0;
            for (size_t w = 0; w < words; w++) {
                const uint64_t here = -(uint64_t)(word[w] != 0) & ~found;
                option |= (64 * w + (uint64_t)__builtin_ctzll(word[w] | (uint64_t)1 << 63)) & here;
                word[w] &= (word[w] - 1) | ~here;
                found |= here;
            }
            position[s] = (uint16_t)((option & found) | ((k + s - size) & ~found));
        }
        const uint32_t invalid = -(uint32_t)(bad != 0) | -(uint32_t)(size > own);
        position[own - 1] = (uint16_t)((position[own - 1] & ~invalid) | (INVALID_POSITION & invalid));
    }
}

static void NAME(set_positions)(const uint8_t *rows, size_t n, uint32_t k, uint32_t own, int packed, uint16_t *out)
{
    const size_t words = (k + 63) / 64;
#if !defined(LDP_FREESTANDING)
    if (words == 1) { /* the loops over words are unrolled */
        NAME(rows_of_words)(rows, n, k, own, packed, 1, out);
        return;
    }
#endif
    NAME(rows_of_words)(rows, n, k, own, packed, words, out);
}
