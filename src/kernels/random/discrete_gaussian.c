#include "random/discrete_gaussian.h"

#include "random/uniform.h"

/* Heads with probability num / den <= 1, den < 2^126. p approximates it with a relative error below 2^-46. */
LDP_INLINE int toss(reader *r, double p, big num, big den)
{
    uint64_t word = reader_word(r);
    double u = (double)word, edge = p * 0x1p64;
    if (u + 1 < edge * (1 - 0x1p-44)) /* no further digit can change the result */
        return 1;
    if (u > edge * (1 + 0x1p-44))
        return 0;
    if (num >= den)
        return 1;
    for (;; word = reader_word(r)) /* digit by digit: reached with probability 2^-43 */
        for (int digit = 64; digit-- > 0;) {
            num <<= 1;
            int theirs = num >= den, ours = (int)(word >> digit & 1);
            num -= theirs ? den : 0;
            if (ours != theirs)
                return ours < theirs;
            if (r->source.key->exhausted)
                return 0;
        }
}

/* Heads with probability exp(-num / den), num <= den: iff coins k = 1, 2, ... with probabilities num / (k den) have an even
 * number of heads before the first tails. */
LDP_INLINE int toss_exp_below_one(reader *r, double p, big num, big den)
{
    big k = 1;
    while (toss(r, p / (double)(uint64_t)k, num, den * k))
        k++;
    return (int)(k & 1);
}

/* Heads with probability exp(-num / den) for any num: one coin of probability exp(-1) for each whole multiple of den. */
LDP_INLINE int toss_exp(reader *r, double p, big num, big den)
{
    if (p > 1 - 0x1p-40) {
        for (; num > den; num -= den)
            if (!toss_exp_below_one(r, 1, 1, 1))
                return 0;
        p = (double)num / (double)den;
    }
    return toss_exp_below_one(r, p, num, den);
}

void draw_gaussian(stream_key *key, uint64_t block, uint64_t variance, size_t n, int64_t *out)
{
    reader r;
    uint64_t t =
        (uint64_t)__builtin_sqrt((double)variance) + 1; /* every t gives the right distribution; this one rejects least */
    const big den = 2 * (big)variance * t * t;
    const double per_t = 1 / (double)t, per_den = 1 / (double)den;
    reader_open(&r, key, STREAM_DISCRETE_GAUSSIAN, block, 16 * n);
    for (size_t i = 0; i < n && !key->exhausted;) {
        uint64_t u = uniform_below(&r, t), wholes = 0;
        if (!toss_exp_below_one(&r, (double)u * per_t, u, t))
            continue;
        while (toss_exp_below_one(&r, 1, 1, 1) && !key->exhausted)
            wholes++;
        uint64_t size = u + t * wholes, minus = reader_word(&r) >> 63;
        if (minus && size == 0)
            continue;
        big product = (big)size * t, away = product > variance ? product - variance : variance - product;
        double distance = (double)(int64_t)(uint64_t)away;
        if (away >> 62) /* 2^14 standard deviations or more: probability below exp(-16000) */
            continue;
        if (toss_exp(&r, distance * distance * per_den, away * away, den))
            out[i++] = minus ? -(int64_t)size : (int64_t)size;
    }
}
