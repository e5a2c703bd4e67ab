/* Numbers of sets, exactly, from which a client computes the loss of a table and what the kernels of sets draw. A number may have some
 * thousand bits. */
#ifndef LDP_SET_NUMBERS_H
#define LDP_SET_NUMBERS_H

#include "survey/log_up.h"

/* Digits of 32 bits: room for 65536^256 or 2^4096, times 2^65. Ratios are below 2^MAX_EXPONENT. */
enum { LARGE_DIGITS = 134, MAX_EXPONENT = 250 };

typedef struct {
    uint32_t digit[LARGE_DIGITS]; /* the lowest first */
    uint32_t digits; /* without zeros at the end */
} large;

static large large_of(uint32_t value)
{
    const large found = {{value}, value != 0};
    return found;
}

static void large_times(large *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < a->digits; i++) {
        carry += (uint64_t)a->digit[i] * factor;
        a->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        a->digit[a->digits++] = (uint32_t)carry;
    while (a->digits && a->digit[a->digits - 1] == 0)
        a->digits--;
}

/* Divides by a divisor of the number. */
static void large_divide(large *a, uint32_t divisor)
{
    uint64_t rest = 0;
    for (uint32_t i = a->digits; i-- > 0;) {
        rest = rest << 32 | a->digit[i];
        a->digit[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (a->digits && a->digit[a->digits - 1] == 0)
        a->digits--;
}

/* Adds a number times 2^(32 shift). */
static void large_add(large *a, const large *b, uint32_t shift)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < b->digits || carry; i++) {
        while (a->digits <= i + shift)
            a->digit[a->digits++] = 0;
        carry += (uint64_t)a->digit[i + shift] + (i < b->digits ? b->digit[i] : 0);
        a->digit[i + shift] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void large_times_word(large *a, uint64_t factor)
{
    large high = *a;
    large_times(a, (uint32_t)factor);
    large_times(&high, (uint32_t)(factor >> 32));
    large_add(a, &high, 1);
}

/* Number of bits. */
static uint32_t large_bits(const large *a)
{
    return a->digits ? 32 * a->digits - (uint32_t)__builtin_clz(a->digit[a->digits - 1]) : 0;
}

static int large_below(const large *a, const large *b)
{
    if (a->digits != b->digits)
        return a->digits < b->digits;
    for (uint32_t i = a->digits; i-- > 0;)
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i];
    return 0;
}

/* The number times a power of 2, so that it has so many bits, rounded up or down. Rounding up may give one bit more. */
static wide large_top(const large *a, uint32_t bits, uint32_t up)
{
    wide found = {{0}};
    uint32_t rest = 0;
    const int32_t shift = (int32_t)large_bits(a) - (int32_t)bits;
    for (int32_t i = (int32_t)large_bits(a) - 1; i >= 0; i--) {
        const uint32_t bit = a->digit[i / 32] >> i % 32 & 1;
        if (i >= shift)
            found.digit[(i - shift) / 32] |= bit << (i - shift) % 32;
        else
            rest |= bit;
    }
    wide_add(&found, rest & up);
    return found;
}

/* Writes an upper bound of |ln(a / b)|, at most 2^-117 too large. Returns nonzero if a or b is 0, or the logarithm is too large. */
static int large_log_up(const large *a, const large *b, wide *loss)
{
    enum { BITS = 125 };
    const int is_below = large_below(a, b);
    const large *larger = is_below ? b : a, *smaller = is_below ? a : b;
    const uint32_t more = large_bits(larger) - large_bits(smaller);
    if (smaller->digits == 0 || more > MAX_EXPONENT)
        return 1;
    /* One bit more makes the first number the larger one, whatever the others are. */
    *loss = log_up(large_top(larger, BITS + (more > 0), 1), large_top(smaller, BITS, 0), more - (more > 0));
    return 0;
}

/* Writes an upper bound of |ln(heads inside / ((2^64 - heads) outside))|: the loss of a coin that decides between uniform choices among
 * `outside` and among `inside` reports. */
static int choice_log_up(uint64_t heads, const large *inside, const large *outside, wide *loss)
{
    large one = *outside, two = *inside;
    large_times_word(&one, heads);
    large_times_word(&two, 0 - heads);
    return large_log_up(&one, &two, loss);
}

/* Whether a uniform report is rarely on one side: less than once in about 2^14 times. */
static int is_rare(const large *inside, const large *outside)
{
    enum { RARE_BITS = 14 };
    const uint32_t one = large_bits(inside), other = large_bits(outside);
    return one + RARE_BITS < other || other + RARE_BITS < one;
}

/* Sets of `size` of `positions` positions, `own` of which are a person's. */
typedef struct {
    uint32_t positions, own, size, threshold;
} set_counts;

/* Turns the number of sets with `count` positions of the person into that of sets with one more. */
static void count_next(const set_counts *s, uint32_t count, large *sets)
{
    large_times(sets, (s->own - count) * (count < s->size ? s->size - count : 0));
    large_divide(sets, (count + 1) * (s->positions - s->own - s->size + count + 1));
}

/* Writes how many sets have at least `threshold` positions of the person, and how many do not, times the same factor. */
static void count_sides(const set_counts *s, large *inside, large *outside)
{
    large sets = large_of(1);
    *inside = *outside = large_of(0);
    for (uint32_t i = 0; i < s->own; i++)
        large_times(&sets, s->positions - s->size - i);
    for (uint32_t count = 0; count <= s->own; count++) {
        large_add(count < s->threshold ? outside : inside, &sets, 0);
        if (count < s->own)
            count_next(s, count, &sets);
    }
}

/* Writes how many sets have at most 0, 1, ... positions of the person. Returns their number, or 0 if there are more than 2^63. */
static uint64_t count_sets(const set_counts *s, uint64_t *up_to)
{
    const uint32_t others = s->positions - s->own, rest = others - s->size, fewer = s->size < rest ? s->size : rest;
    large sets = large_of(1);
    uint64_t sum = 0;
    for (uint32_t i = 1; i <= fewer && sets.digits <= 2; i++) {
        large_times(&sets, others - fewer + i);
        large_divide(&sets, i);
    }
    for (uint32_t count = 0; count <= s->own; count++) {
        const uint64_t now = sets.digits == 0 ? 0 : sets.digit[0] | (uint64_t)(sets.digits > 1 ? sets.digit[1] : 0) << 32;
        if (sets.digits > 2 || now > ((uint64_t)1 << 63) - sum)
            return 0;
        up_to[count] = sum += now;
        if (count < s->own)
            count_next(s, count, &sets);
    }
    return sum;
}

/* Writes how many patterns of signs have at most sampled - threshold disagreements, and how many have more; also the numbers with at most
 * 0, 1, ... in 64 bits. */
static void count_patterns(uint32_t sampled, uint32_t threshold, large *inside, large *outside, uint64_t *up_to)
{
    large patterns = large_of(1);
    *inside = *outside = large_of(0);
    for (uint32_t i = 0; i <= sampled; i++) {
        large_add(i <= sampled - threshold ? inside : outside, &patterns, 0);
        if (up_to != NULL && i <= sampled - threshold)
            up_to[i] = inside->digit[0] | (uint64_t)(inside->digits > 1 ? inside->digit[1] : 0) << 32;
        large_times(&patterns, sampled - i);
        large_divide(&patterns, i + 1);
    }
}

#endif
