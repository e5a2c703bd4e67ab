#include "privatize/coded_levels.h"

#include "privatize/level_codes.h"

/* The code of a level whose codes have an order of their own. */
static uint32_t special_code(const coded_levels *p, const coded_level *level, uint32_t symbol, uint32_t tails, uint32_t draw)
{
    if (level->kind == POINT_CODES)
        return level->first + projective_report(level->space, level->table[symbol], tails, draw);
    return level->first + parity_code(symbol >> p->sign_bits, symbol & p->sign_bits, level->codes[0], tails, draw);
}

/* The code of a record below k. Windows and tables have no branch between them, because it would be mispredicted for half of the
 * records. */
LDP_INLINE uint32_t code_of(const coded_levels *p, uint32_t bits, uint32_t record, reader *words)
{
    const uint64_t coin = reader_word(words), drawn = reader_word(words);
    const uint64_t slot = bits ? drawn & (p->slots - 1) : word_below(words, p->slots), word = drawn >> bits << bits;
    const coded_level *level = &p->level[p->slot[slot]];
    const uint64_t tails = coin >= level->heads, symbol = record * level->reciprocal >> SPAN_SHIFT;
    const uint64_t n = level->codes[tails], size = level->codes[0];
    const uint64_t draw = is_inexact(word, bits, n) ? exact_below(word, bits, (uint32_t)n, words) : high_product_u64(word, n);
    if (level->kind > TABLED_CODES)
        return special_code(p, level, (uint32_t)symbol, (uint32_t)tails, (uint32_t)draw);
    const uint64_t tabled = -(uint64_t)level->kind; /* all ones for TABLED_CODES, which is 1 */
    const uint64_t window = window_code(symbol, size, tails, draw);
    const uint64_t entry = level->table[(symbol * level->row + draw + (size & -tails)) & tabled];
    return level->first + (uint32_t)((window & ~tabled) | (entry & tabled));
}

#define DEFINE_CODED_LEVELS(in, out)                                                                                    \
    int privatize_coded_levels_u##in##_u##out(const void *params, stream_key *key, uint64_t block, const void *records, \
                                              size_t n, void *reports)                                                  \
    {                                                                                                                   \
        const coded_levels *p = params;                                                                                 \
        const uint##in##_t *x = records;                                                                                \
        uint##out##_t *report = reports;                                                                                \
        uint32_t most = 0;                                                                                              \
        reader words;                                                                                                   \
        reader_open(&words, key, p->stream, block, (p->slot_bits ? 2 : 3) * n);                                         \
        for (size_t i = 0; i < n; i++) {                                                                                \
            const uint32_t record = x[i];                                                                               \
            report[i] = (uint##out##_t)code_of(p, p->slot_bits, record < p->k ? record : p->k - 1, &words);             \
            most = record > most ? record : most;                                                                       \
        }                                                                                                               \
        return most >= p->k;                                                                                            \
    }

DEFINE_CODED_LEVELS(8, 8)
DEFINE_CODED_LEVELS(8, 16)
DEFINE_CODED_LEVELS(8, 32)
DEFINE_CODED_LEVELS(16, 16)
DEFINE_CODED_LEVELS(16, 32)
DEFINE_CODED_LEVELS(32, 32)
