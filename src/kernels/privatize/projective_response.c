#include "privatize/projective_response.h"

#include "random/uniform.h"

int projective_open(projective_response *p, uint32_t k, uint32_t order, uint32_t length, int has_tables)
{
    uint64_t power = 1, points = 0;
    if (order < 2 || order > (has_tables ? MAX_TABLE_ORDER : MAX_PRIME_ORDER) || length < 2 || length > MAX_LENGTH)
        return 0;
    p->k = k;
    p->order = order;
    p->length = length;
    p->prime = has_tables ? 0 : order;
    for (uint32_t i = 0; i <= length; i++) {
        if (points >> 32 || (i < length && power >> 32))
            return 0;
        p->power[i] = (uint32_t)power;
        p->first[i] = (uint32_t)points;
        if (i < length) {
            points += power;
            power *= order;
        }
    }
    return k <= p->first[length];
}

LDP_INLINE uint32_t sum_of(const projective_response *p, uint32_t a, uint32_t b)
{
    return p->prime ? (a + b) % p->prime : p->sum[a][b];
}

LDP_INLINE uint32_t product_of(const projective_response *p, uint32_t a, uint32_t b)
{
    return p->prime ? a * b % p->prime : p->product[a][b];
}

LDP_INLINE uint32_t negative_of(const projective_response *p, uint32_t a)
{
    return p->prime ? (p->prime - a) % p->prime : p->negative[a];
}

/* The inverse of a, which is not 0. Modulo a prime it is the power prime - 2. */
static uint32_t inverse_of(const projective_response *p, uint32_t a)
{
    if (!p->prime)
        return p->inverse[a];
    uint32_t power = a, inverse = 1;
    for (uint32_t left = p->prime - 2; left; left >>= 1) {
        if (left & 1)
            inverse = product_of(p, inverse, power);
        power = product_of(p, power, power);
    }
    return inverse;
}

/* The first n digits of an integer, to the base of the order. */
LDP_INLINE void digits_of(const projective_response *p, uint32_t value, uint32_t n, uint16_t *a)
{
    for (uint32_t i = 0; i < n; i++, value /= p->order)
        a[i] = (uint16_t)(value % p->order);
}

/* The n elements of a point of a space of that length. Returns the position of its 1. */
static uint32_t elements_of(const projective_response *p, uint32_t point, uint32_t n, uint16_t *a)
{
    uint32_t r = 0;
    while (r + 1 < n && point >= p->first[r + 1])
        r++;
    digits_of(p, point - p->first[r], r, a);
    memset(a + r, 0, (n - r) * sizeof *a);
    a[r] = 1;
    return r;
}

static uint32_t point_of(const projective_response *p, const uint16_t *a)
{
    uint32_t r = p->length - 1, point;
    while (a[r] == 0)
        r--;
    const uint32_t factor = inverse_of(p, a[r]);
    point = p->first[r];
    for (uint32_t i = 0; i < r; i++)
        point += product_of(p, factor, a[i]) * p->power[i];
    return point;
}

uint32_t projective_report(const projective_response *p, uint32_t truth, uint32_t product, uint32_t draw)
{
    uint16_t x[MAX_LENGTH], z[MAX_LENGTH], drawn[MAX_LENGTH];
    const uint32_t last = p->length - 1, r = elements_of(p, truth, p->length, x);
    if (product)
        digits_of(p, draw, last, drawn);
    else
        elements_of(p, draw, last, drawn);
    for (uint32_t i = 0; i < p->length; i++)
        z[i] = i == r ? 0 : drawn[i - (i > r)];
    uint32_t others = 0;
    for (uint32_t i = 0; i < r; i++)
        others = sum_of(p, others, product_of(p, x[i], z[i]));
    z[r] = (uint16_t)sum_of(p, product, negative_of(p, others));
    return point_of(p, z);
}

/* The report of category `truth`. */
static uint32_t respond(const projective_response *p, uint32_t truth, uint64_t coin, reader *words)
{
    const uint32_t product = coin >= p->heads, last = p->length - 1;
    return projective_report(p, truth, product, (uint32_t)word_below(words, product ? p->power[last] : p->first[last]));
}

#define DEFINE_PROJECTIVE_RESPONSE(in, out)                                                                                    \
    int privatize_projective_response_u##in##_u##out(const void *params, stream_key *key, uint64_t block, const void *records, \
                                                     size_t n, void *reports)                                                  \
    {                                                                                                                          \
        const projective_response *p = params;                                                                                 \
        const uint##in##_t *x = records;                                                                                       \
        uint##out##_t *report = reports;                                                                                       \
        uint32_t most = 0;                                                                                                     \
        reader words;                                                                                                          \
        reader_open(&words, key, STREAM_PROJECTIVE_RESPONSE, block, 2 * n);                                                    \
        for (size_t i = 0; i < n; i++) {                                                                                       \
            const uint32_t record = x[i], truth = record < p->k ? record : p->k - 1;                                           \
            report[i] = (uint##out##_t)respond(p, truth, reader_word(&words), &words);                                         \
            most = record > most ? record : most;                                                                              \
        }                                                                                                                      \
        return most >= p->k;                                                                                                   \
    }

DEFINE_PROJECTIVE_RESPONSE(8, 8)
DEFINE_PROJECTIVE_RESPONSE(8, 16)
DEFINE_PROJECTIVE_RESPONSE(16, 16)
DEFINE_PROJECTIVE_RESPONSE(16, 32)
DEFINE_PROJECTIVE_RESPONSE(32, 32)
