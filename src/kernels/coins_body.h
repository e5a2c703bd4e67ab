/* Two digits h l of the lanes' words against the digits M m of the coin: less, or equal so far. Plain bit operations
 * over 8 words; the chunk holds the high plane, then the low plane. */
LDP_INLINE size_t NAME(compare_digits)(const uint64_t *chunk, uint64_t high, uint64_t low, uint64_t *less, uint64_t *equal,
                                       const uint64_t *valid)
{
    size_t undecided = 0;
    for (int i = 0; i < 8; i++) { /* vector loop */
        uint64_t h = chunk[i] ^ ~high, l = chunk[8 + i] ^ ~low; /* ones where the digits agree */
        less[i] = ((high & ~h) | (low & h & ~l)) & valid[i];
        equal[i] = h & l & valid[i];
    }
    for (int i = 0; i < 8; i++)
        undecided += (size_t)__builtin_popcountll(equal[i]);
    return undecided;
}

static void NAME(fill)(reader *r, coin c, uint64_t *out, size_t lanes)
{
    size_t words = coin_words(lanes);
    if ((c.high | c.low) == 0) { /* no digit left: a word equal so far is not less */
        memset(out, 0, words * 8);
        return;
    }
    if (lanes <= 32) {
        coins_few(r, c, out, lanes);
        return;
    }
    uint64_t equal[words], valid[8];
    size_t undecided = 0;
    for (size_t w = 0; w < words; w += 8) {
        for (size_t i = 0; i < 8; i++) {
            size_t start = (w + i) * 64, left = start < lanes ? lanes - start : 0;
            valid[i] = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        }
        const uint64_t *chunk = reader_chunk(r, groups_for(words - w, 16));
        undecided += NAME(compare_digits)(chunk, -(c.high >> 63), -(c.high >> 62 & 1), out + w, equal + w, valid);
    }
    coin rest = {c.high << 2 | c.low >> 62, c.low << 2};
    uint64_t later[coin_words(undecided) + 2];
    NAME(fill)(r, rest, later, undecided);
    later[coin_words(undecided)] = later[coin_words(undecided) + 1] = 0;
    size_t at = 0;
    for (size_t w = 0; w < words; w++) {
        out[w] |= PER_ISA(deposit)(bits_at(later, at), equal[w]);
        at += (size_t)__builtin_popcountll(equal[w]);
    }
}
