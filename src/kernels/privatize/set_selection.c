#include "privatize/set_selection.h"

#include "privatize/packed_bits.h"
#include "random/uniform.h"

/* Whether the members of the set of other positions are drawn one by one. */
LDP_INLINE int is_listed(const set_selection *p) { return p->size <= MAX_LISTED; }

/* Whether the number of a set is one of the digits. */
LDP_INLINE int has_short_numbers(const set_selection *p) { return p->reports - 1 < UINT32_MAX; }

void set_selection_plan(set_selection *p)
{
    const uint32_t others = p->positions - p->own, leaving = p->size < p->own ? p->size : p->own;
    if (is_listed(p))
        for (uint32_t i = 0; i < p->size; i++)
            plan_digit(&p->members, others);
    else
        for (uint32_t i = 0; i < leaving; i++)
            plan_digit(&p->members, p->size - i);
    if (has_short_numbers(p)) {
        plan_digit(&p->choice, (uint32_t)(p->reports - p->up_to[p->threshold - 1]));
        plan_digit(&p->choice, (uint32_t)p->up_to[p->threshold - 1]);
    }
    for (uint32_t i = 0; i < p->own; i++)
        plan_digit(&p->choice, p->own - i);
}

/* Copies a record, so that its positions ascend and are below the limit whatever they are. Returns whether one had to move. */
LDP_INLINE int valid_positions(const set_selection *p, uint32_t n, const uint16_t *x, uint32_t *own)
{
    uint32_t least = 0, moved = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t given = x[i], most = p->positions - n + i, up = given < least ? least : given;
        own[i] = up > most ? most : up;
        moved |= own[i] ^ given;
        least = own[i] + 1;
    }
    return moved != 0;
}

/* Number of the person's positions in a uniform set, from a uniform number of the set below `end` and above the first `start`. */
LDP_INLINE uint32_t numbered(const set_selection *p, uint32_t own, uint64_t number)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < own; c++)
        count += (uint32_t)(number >= p->up_to[c]);
    return count;
}

/* The same for sets without a number of 63 bits: the set is drawn position by position until it is on the right side of the
 * threshold. The number of trials does not depend on the result. */
LDP_INLINE uint32_t counted(const set_selection *p, reader *coins, int inside)
{
    for (;;) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < p->own; i++)
            count += (uint32_t)(word_below(coins, p->positions - i) < p->size - count);
        if ((count >= p->threshold) == inside || coins->source.key->exhausted)
            return count;
    }
}

/* How many of the person's positions are in the report; `choice` becomes the digits that say which. Both sides of the coin are
 * drawn. */
LDP_INLINE uint32_t own_count(const set_selection *p, uint32_t own, reader *coins, uint32_t *choice)
{
    const uint32_t heads = -(uint32_t)(reader_word(coins) < p->heads);
    const uint64_t below = p->up_to[p->threshold - 1];
    uint32_t inside, outside;
    if (has_short_numbers(p)) {
        draw_digits(&p->choice, coins, choice);
        inside = numbered(p, own, below + choice[0]);
        outside = numbered(p, own, choice[1]);
    } else {
        if (p->reports) {
            inside = numbered(p, own, below + word_below(coins, p->reports - below));
            outside = numbered(p, own, word_below(coins, below));
        } else {
            inside = counted(p, coins, 1);
            outside = counted(p, coins, 0);
        }
        draw_digits(&p->choice, coins, choice);
    }
    return (inside & heads) | (outside & ~heads);
}

#define KERNEL_BODY "privatize/set_selection_body.h"
#include "simd/each_isa.h"

int privatize_set_selection_u16(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    return LDP_BEST(set_selection_u16)(params, key, block, x, n, out);
}

/* A code: one of the person's positions with the private coin, else one of the others. */
#define DEFINE_SET_CODES(type, code_type)                                                                                   \
    int privatize_set_codes_##type(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) \
    {                                                                                                                       \
        const set_selection *p = params;                                                                                    \
        const uint16_t *records = x;                                                                                        \
        code_type *code = out;                                                                                              \
        uint32_t own[MAX_OWN];                                                                                              \
        int invalid = 0;                                                                                                    \
        reader coins;                                                                                                       \
        reader_open(&coins, key, STREAM_SET_COINS, block, 3 * n);                                                           \
        for (size_t i = 0; i < n; i++) {                                                                                    \
            const uint32_t heads = -(uint32_t)(reader_word(&coins) < p->heads);                                             \
            const uint32_t which = (uint32_t)word_below(&coins, p->own);                                                    \
            uint32_t mine = 0, other = (uint32_t)word_below(&coins, p->positions - p->own);                                 \
            invalid |= valid_positions(p, p->own, records + i * p->own, own);                                               \
            for (uint32_t j = 0; j < p->own; j++) {                                                                         \
                mine |= own[j] & -(uint32_t)(j == which);                                                                   \
                other += other >= own[j];                                                                                   \
            }                                                                                                               \
            code[i] = (code_type)((mine & heads) | (other & ~heads));                                                       \
        }                                                                                                                   \
        return invalid;                                                                                                     \
    }

DEFINE_SET_CODES(u8, uint8_t)
DEFINE_SET_CODES(u16, uint16_t)
