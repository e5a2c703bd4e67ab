/* Bottleneck: short sets: their members; large sets: as subset selection. */
#include "random/uniform_sets_body.h"

/* Draws members that are in the list already once more, one after another. */
static __attribute__((noinline)) void NAME(replace_repeated)(const set_selection *p, reader *indices, uint32_t *member,
                                                             uint64_t *row, size_t words)
{
    memset(row, 0, 8 * words);
    for (uint32_t i = 0; i < p->size; i++) {
        while (row[member[i] / 64] >> member[i] % 64 & 1 && !indices->source.key->exhausted)
            member[i] = (uint32_t)word_below(indices, p->positions - p->own);
        row[member[i] / 64] |= (uint64_t)1 << member[i] % 64;
    }
}

/* Fills a row with a short uniform set, the first different ones of independent members, whose list is in random order. */
LDP_INLINE void NAME(list_members)(const set_selection *p, reader *indices, uint32_t *member, uint64_t *row, size_t words)
{
    size_t count = 0;
    if (words <= 2) { /* in registers */
        for (size_t w = 0; w < words; w++) {
            uint64_t bits = 0;
            for (uint32_t i = 0; i < p->size; i++)
                bits |= (uint64_t)(words == 1 || w == member[i] / 64) << member[i] % 64;
            row[w] = bits;
        }
    } else {
        memset(row, 0, 8 * words);
        for (uint32_t i = 0; i < p->size; i++)
            row[member[i] / 64] |= (uint64_t)1 << member[i] % 64;
    }
    for (size_t w = 0; w < words; w++)
        count += PER_ISA(ones)(row[w]);
    if (count < p->size)
        NAME(replace_repeated)(p, indices, member, row, words);
}

/* Lists uniform members of a set, in random order. */
LDP_INLINE void NAME(choose_members)(uint32_t leaving, const uint32_t *rank, uint32_t *member, const uint64_t *row,
                                     size_t words)
{
    uint64_t left[SET_WORDS];
    memcpy(left, row, 8 * words);
    for (uint32_t i = 0; i < leaving; i++) {
        uint64_t below = rank[i], count;
        uint32_t w = 0;
        while (below >= (count = PER_ISA(ones)(left[w]))) {
            below -= count;
            w++;
        }
        const uint64_t bit = PER_ISA(deposit)((uint64_t)1 << below, left[w]);
        member[i] = 64 * w + (uint32_t)__builtin_ctzll(bit);
        left[w] &= ~bit;
    }
}

/* Moves the bits from a position on by one, and sets the bit there to `member`. */
LDP_INLINE void NAME(insert)(uint64_t *row, size_t words, uint64_t at, uint64_t member)
{
    uint64_t carry = 0;
    const uint64_t bit = (uint64_t)1 << at % 64;
    for (size_t w = 0; w < words; w++) {
        const uint64_t earlier = -(uint64_t)(w < at / 64), here = -(uint64_t)(w == at / 64);
        const uint64_t low = earlier | (here & (bit - 1)), moved = row[w] << 1 | carry;
        carry = row[w] >> 63;
        row[w] = (row[w] & low) | (moved & ~low & ~(bit & here)) | (bit & here & -member);
    }
}

/* Rows of `words` words, of which `drawn` holds the first draw unless the members are listed. */
LDP_INLINE int NAME(report_sets)(const set_selection *p, const uint16_t *x, size_t n, size_t words, uint32_t own, reader *coins,
                                 index_reader *indices, uint64_t *drawn, uint8_t *out)
{
    const uint32_t size = p->size, others = p->positions - own, leaving = size < own ? size : own;
    const uint32_t first = has_short_numbers(p) ? 2 : 0; /* digits before those of the choice */
    const size_t bytes = (p->positions + 7) / 8;
    uint32_t member[MAX_DIGITS], rank[MAX_DIGITS], choice[MAX_DIGITS], position[MAX_OWN];
    int invalid = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *row = drawn + i * words;
        if (size <= MAX_LISTED) {
            draw_digits(&p->members, &indices->words, member);
            NAME(list_members)(p, &indices->words, member, row, words);
        } else {
            draw_digits(&p->members, &indices->words, rank);
            NAME(adjust)(size, indices, row, others);
            for (size_t w = (others + 63) / 64; w < words; w++)
                row[w] = 0;
            NAME(choose_members)(leaving, rank, member, row, words);
        }
        uint32_t count = own_count(p, own, coins, choice);
        invalid |= valid_positions(p, own, x + i * own, position);
        for (uint32_t j = 0; j < leaving; j++)
            row[member[j] / 64] &= ~((uint64_t)(j < count) << member[j] % 64);
        for (uint32_t j = 0; j < own; j++) {
            const uint32_t chosen = choice[first + j] < count;
            count -= chosen;
            NAME(insert)(row, words, position[j], chosen);
        }
        for (size_t w = 0; w < words; w++)
            store_bytes(out + i * bytes + 8 * w, row[w], word_bytes(p->positions - 64 * w));
    }
    return invalid;
}

static int NAME(set_selection_u16)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                   void *reports)
{
    const set_selection *p = params;
    const size_t words = set_row_words(p), listed = (size_t)is_listed(p);
    uint64_t set[SET_WORDS] LDP_ALIGNED;
    reader coins;
    index_reader indices;
    reader_open(&coins, key, STREAM_SET_COINS, block, n * (3 + p->choice.batches));
    indices_open(&indices, key, STREAM_SET_INDICES, block, listed ? n * p->members.batches : READER_WORDS,
                 p->positions - p->own);
    if (!listed) {
        stream bits = stream_open(key, STREAM_SET_BITS, block);
        NAME(draw_bits)(p->density, &bits, set, n * words);
    }
#if !defined(LDP_FREESTANDING)
    if (words == 1) /* loops of known lengths are unrolled */
        switch (p->own) {
        case 2:
            return NAME(report_sets)(p, records, n, 1, 2, &coins, &indices, set, reports);
        case 3:
            return NAME(report_sets)(p, records, n, 1, 3, &coins, &indices, set, reports);
        case 4:
            return NAME(report_sets)(p, records, n, 1, 4, &coins, &indices, set, reports);
        default:
            return NAME(report_sets)(p, records, n, 1, p->own, &coins, &indices, set, reports);
        }
    if (words == 2)
        return NAME(report_sets)(p, records, n, 2, p->own, &coins, &indices, set, reports);
#endif
    return NAME(report_sets)(p, records, n, words, p->own, &coins, &indices, set, reports);
}
