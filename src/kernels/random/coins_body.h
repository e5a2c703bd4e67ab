typedef uint64_t NAME(digits) __attribute__((vector_size(V_BYTES)));

/* Compares two digits h l of each lane with the digits `high` and `low` of the coin (all ones or all zeros), for eight words of
 * lanes. `chunk` holds the bit plane of h, then that of l. Writes `less` and `equal`, and returns the number of equal lanes. */
LDP_INLINE size_t NAME(compare_digits)(const uint64_t *chunk, uint64_t high, uint64_t low, const uint64_t *valid,
                                       uint64_t *less, uint64_t *equal)
{
    size_t undecided = 0;
    for (size_t i = 0; i < 8; i += V_BYTES / 8) {
        NAME(digits) h, l, inside;
        memcpy(&h, chunk + i, V_BYTES);
        memcpy(&l, chunk + 8 + i, V_BYTES);
        memcpy(&inside, valid + i, V_BYTES);
        NAME(digits) same_h = h ^ ~high, same_l = l ^ ~low;
        NAME(digits) below = ((high & ~h) | (low & same_h & ~l)) & inside, same = same_h & same_l & inside;
        memcpy(less + i, &below, V_BYTES);
        memcpy(equal + i, &same, V_BYTES);
    }
    for (int i = 0; i < 8; i++)
        undecided += PER_ISA(ones)(equal[i]);
    return undecided;
}

/* At most 32 lanes: compares 32 digits at once, and the other 96 if those are equal (probability 2^-32). */
static void NAME(few)(reader *r, coin c, uint64_t *out, size_t lanes)
{
    uint32_t word[2 * CHUNK_WORDS];
    memcpy(word, reader_chunk(r), sizeof word);
    const uint32_t top = (uint32_t)(c.high >> 32);
    const uint64_t inside = ((uint64_t)1 << lanes) - 1;
    uint64_t less = PER_ISA(words_below)(word, top);
    for (uint64_t equal = PER_ISA(words_equal)(word, top) & inside; equal; equal &= equal - 1) {
        const coin rest = {c.high << 32 | c.low >> 32, c.low << 32};
        const uint64_t *more = reader_chunk(r);
        less |= (equal & -equal) & -(uint64_t)(more[0] < rest.high || (more[0] == rest.high && more[1] < rest.low));
    }
    memset(out, 0, coin_words(lanes) * 8);
    out[0] = less & inside;
}

static void NAME(fill)(reader *r, coin c, uint64_t *out, size_t lanes)
{
    size_t words = coin_words(lanes);
    if ((c.high | c.low) == 0 || lanes == 0) { /* no digit is left, so equal lanes are not less */
        memset(out, 0, words * 8);
        return;
    }
    if (lanes <= 32) {
        NAME(few)(r, c, out, lanes);
        return;
    }
    uint64_t equal[words], valid[8];
    size_t undecided = 0;
    memset(valid, 255, sizeof valid);
    for (size_t w = 0; w < words; w += 8) {
        for (size_t i = 0; w + 8 == words && i < 8; i++) { /* the last vector may have fewer lanes */
            size_t start = (w + i) * 64, left = start < lanes ? lanes - start : 0;
            valid[i] = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        }
        const uint64_t *chunk = reader_chunk(r);
        undecided += NAME(compare_digits)(chunk, -(c.high >> 63), -(c.high >> 62 & 1), valid, out + w, equal + w);
    }
    coin rest = {c.high << 2 | c.low >> 62, c.low << 2};
    uint64_t later[coin_words(undecided) + 2];
    NAME(fill)(r, rest, later, undecided);
    later[coin_words(undecided)] = later[coin_words(undecided) + 1] = 0;
    size_t at = 0;
    for (size_t w = 0; 64 * w < lanes; w++) {
        out[w] |= PER_ISA(deposit)(bits_at(later, at), equal[w]);
        at += PER_ISA(ones)(equal[w]);
    }
}
