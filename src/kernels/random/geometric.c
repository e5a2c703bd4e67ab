#include "random/geometric.h"

#include "simd/branchless.h"

enum { LANES = 32 }; /* numbers are drawn in multiples of this */

static int toss(reader *r, coin c)
{
    const uint64_t high = reader_word(r), low = reader_word(r);
    return high < c.high || (high == c.high && low < c.low);
}

/* Draws the rest of coins that are equal to their threshold, in the order of the numbers, and replaces the alias. */
static void settle_ties(const digit_group *group, size_t groups, const uint16_t *word, size_t m, const uint16_t *tie,
                        reader *rest, uint16_t *value)
{
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; tie[i] && k < groups; k++) {
            const digit_group *g = group + k;
            const size_t index = word[i] >> GROUP_DIGITS * k & (GROUP_VALUES - 1);
            if (word[(1 + k) * m + i] == g->threshold[index] && toss(rest, g->rest[index]))
                value[i] = (uint16_t)(value[i] ^ (g->alias[index] ^ (index & g->mask)) << GROUP_DIGITS * k);
        }
}

#define KERNEL_BODY "random/geometric_body.h"
#include "simd/each_isa.h"

/* Adds 2^digits for each head of the carry coin, toward the sign of the number, and returns whether there was one. The first
 * eight bits of the first toss are in `byte`. In use, a carry has a probability below 4e-11. */
static int add_carries(noise_source *s, const uint8_t *byte, size_t n, double *out)
{
    const coin carry = s->noise->carry, rest = {carry.high << 8 | carry.low >> 56, carry.low << 8};
    const uint8_t top = (uint8_t)(carry.high >> 56);
    const double step = (double)((uint64_t)1 << s->noise->digits);
    uint64_t candidates[NOISE_PIECE / 64];
    int carries = 0;
    LDP_BEST(bytes_at_most)(byte, n, top, candidates);
    for (size_t w = 0; 64 * w < n; w++)
        for (uint64_t left = candidates[w]; left; left &= left - 1) {
            const size_t i = 64 * w + (size_t)__builtin_ctzll(left);
            if (i >= n || (byte[i] == top && !toss(&s->rest, rest)))
                continue;
            double times = carries = 1;
            while (toss(&s->rest, carry) && !s->rest.source.key->exhausted)
                times++;
            out[i] += out[i] < 0 ? -times * step : times * step;
        }
    return carries;
}

void noise_open(noise_source *s, const geometric_noise *noise, stream_key *key, uint64_t block)
{
    s->noise = noise;
    s->words = stream_open(key, noise->stream, block);
    reader_open(&s->rest, key, noise->stream + 1, block, 16);
}

int noise_draw(noise_source *s, size_t n, double *out)
{
    const geometric_noise *p = s->noise;
    const size_t m = (n + LANES - 1) / LANES * LANES;
    uint16_t word[(1 + SET_GROUPS) * NOISE_PIECE] LDP_ALIGNED, sign[NOISE_PIECE] LDP_ALIGNED;
    uint8_t byte[NOISE_PIECE] LDP_ALIGNED;
    /* From the top set of three groups down. Digits xor sign, with signs above the digits, is N in two's complement. */
    for (size_t set = (p->groups + SET_GROUPS - 1) / SET_GROUPS; set-- > 0;) {
        const size_t first = SET_GROUPS * set, groups = p->groups - first < SET_GROUPS ? p->groups - first : SET_GROUPS;
        const int top = first + groups == p->groups;
        stream_draw(&s->words, word, blocks_for((1 + groups) * m, 2));
        if (top)
            memcpy(sign, word, m * sizeof *sign);
        LDP_BEST(append_digits)(p->group + first, groups, word, sign, m, top, &s->rest, out);
    }
    memset(byte + m / 64 * 64, 255, m % 64 ? 64 : 0);
    stream_draw(&s->words, byte, blocks_for(m, 1));
    return add_carries(s, byte, n, out);
}
