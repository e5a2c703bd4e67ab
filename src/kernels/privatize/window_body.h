#include "simd/doubles_body.h"

typedef uint32_t NAME(words) __attribute__((vector_size(V_BYTES)));
typedef uint8_t NAME(bytes) __attribute__((vector_size(V_BYTES / 4)));

LDP_INLINE NAME(words) NAME(high_half)(NAME(words) a, uint32_t b)
{
    return (NAME(words))PER_ISA(high_product)((PER_ISA(int32s))a, b);
}

/* The codes of the window mechanism. The position is an integer of 32 bits: the input in the high bits, the fraction in the low
 * ones. There is one division, by `per` or by `each`. Both are even, so halves are divided. */
LDP_INLINE NAME(words) NAME(codes)(const window *p, NAME(words) position, NAME(words) rest)
{
    const NAME(words) input = position >> p->fraction_bits;
    const NAME(words) shift = NAME(high_half)(position << (32 - p->fraction_bits), p->per);
    const NAME(words) direct = (NAME(words))(rest < p->direct);
    if (p->divides) {
        const NAME(words) dividend = (((rest + shift) & direct) | ((rest - p->direct) & ~direct)) >> 1;
        const NAME(words) factor = (p->per_factor & direct) | (p->each_factor & ~direct);
        const NAME(words) quotient = (NAME(words))PER_ISA(high_products)((PER_ISA(int32s))dividend, (PER_ISA(int32s))factor);
        return (quotient >> ((p->per_shift & direct) | (p->each_shift & ~direct))) + (input & direct);
    }
    NAME(words) inside = input;
    for (uint32_t j = 1; j <= p->width; j++)
        inside -= (NAME(words))(rest >= j * p->per - shift); /* true is all ones */
    const NAME(words) any = NAME(high_half)((rest - p->direct) >> 1, p->each_factor) >> p->each_shift;
    return (inside & direct) | (any & ~direct);
}

/* Bottleneck: the products of 32-bit numbers, then the key stream. */
LDP_INLINE NAME(words) NAME(mixed)(const window *p, NAME(words) position, NAME(words) word)
{
    const NAME(words) code = NAME(codes)(p, position, word - p->bit_words);
    if (p->bit_words == 0)
        return code;
    const NAME(words) one = (NAME(words))(word < p->bit_low + NAME(high_half)(position, p->bit_slope));
    const NAME(words) bit = (NAME(words))(word < p->bit_words);
    return ((p->first_bit - one) & bit) | (code & ~bit);
}

/* The positions of numbers among unequally spaced inputs, from their signed distances from the center: each is compared with all. */
LDP_INLINE NAME(words) NAME(unequal_position)(const window *p, PER_ISA(int32s) t)
{
    const NAME(words) negative = (NAME(words))(t >> 31);
    const PER_ISA(int32s) distance = t ^ (PER_ISA(int32s))negative;
    NAME(words) start = {0}, position = start, slope = start + p->segment[0].slope;
    for (uint32_t j = 1; j < p->segments; j++) {
        const window_segment own = p->segment[j];
        const NAME(words) beyond = (NAME(words))(distance >= (int32_t)own.start);
        start = (start & ~beyond) | (own.start & beyond);
        position = (position & ~beyond) | (own.position & beyond);
        slope = (slope & ~beyond) | (own.slope & beyond);
    }
    const PER_ISA(int32s) rest = (PER_ISA(int32s))(((NAME(words))distance - start) << p->shift);
    position += (NAME(words))PER_ISA(high_products)(rest, (PER_ISA(int32s))slope);
    return p->center + (position ^ negative);
}

/* Whole groups of 64 records are computed; `x` and `out` have room for them. */
LDP_INLINE void NAME(window_codes)(const window *p, stream *s, const REAL *x, size_t n, uint8_t *out, NAME(evidence) * e)
{
    enum { LANES = V_BYTES / 4 };
    const double lower = p->lower, upper = p->upper, slope = p->slope;
    const int32_t last = (int32_t)(p->last ^ 0x80000000u);
    uint32_t word[CODE_PIECE] LDP_ALIGNED;
    stream_draw(s, word, blocks_for(n, 4));
    for (size_t i = 0; i < n; i += LANES) {
        PER_ISA(doubles) position[2];
        for (size_t half = 0; half < 2; half++) {
            const PER_ISA(doubles) v = NAME(load_doubles)(x + i + LANES / 2 * half);
            position[half] = NAME(distances)(e, v, lower, upper) * slope - 0x1p31;
        }
        const PER_ISA(int32s) t = PER_ISA(clamp_int32)(PER_ISA(truncate)(position[0], position[1]), -0x7fffffff - 1, last);
        const NAME(words) at = p->segments ? NAME(unequal_position)(p, t) : (NAME(words))t ^ 0x80000000u;
        NAME(words) w;
        memcpy(&w, word + i, sizeof w);
        w = NAME(mixed)(p, at, w);
        const NAME(bytes) code = __builtin_convertvector(w, NAME(bytes));
        memcpy(out + i, &code, sizeof code);
    }
}

static int NAME(privatize_window)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                  void *reports)
{
    const window local = *(const window *)params, *p = &local; /* stores of bytes could change what is elsewhere */
    stream s = stream_open(key, STREAM_WINDOW, block);
    NAME(evidence) e = {0};
    for (size_t at = 0; at < n; at += CODE_PIECE) {
        const REAL *x = (const REAL *)records + at;
        uint8_t *out = (uint8_t *)reports + at;
        const size_t now = n - at < CODE_PIECE ? n - at : CODE_PIECE;
        if (now % 64 == 0) {
            NAME(window_codes)(p, &s, x, now, out, &e);
        } else {
            REAL padded[CODE_PIECE];
            uint8_t codes[CODE_PIECE];
            memcpy(padded, x, now * sizeof *x);
            for (size_t i = now; i % 64 > 0; i++)
                padded[i] = (REAL)p->upper;
            NAME(window_codes)(p, &s, padded, (now + 63) / 64 * 64, codes, &e);
            memcpy(out, codes, now);
        }
    }
    return NAME(outside)(&e);
}
