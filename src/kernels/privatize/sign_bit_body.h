#include "simd/doubles_body.h"

/* 32-bit words, as signed integers: both sides of the comparison are smaller by 2^31. The threshold is clamped as an integer.
 * Whole groups of 64 records are computed; `x` and `out` have room for them. */
LDP_INLINE void NAME(bits_narrow)(const sign_bit *p, stream *s, const REAL *x, size_t n, uint8_t *out, NAME(evidence) * e)
{
    enum { LANES = V_BYTES / 4 };
    const double lower = p->lower, upper = p->upper, slope = p->per_range * (double)p->span, base = (double)p->low - 0x1p31;
    const int32_t least = (int32_t)base;
    int32_t word[WIDE_PIECE] LDP_ALIGNED;
    stream_draw(s, word, blocks_for(n, 4));
    for (size_t i = 0; i < n; i += 64) {
        uint64_t bits = 0;
#pragma GCC unroll 16
        for (size_t j = 0; j < 64; j += LANES) {
            PER_ISA(doubles) threshold[2];
            for (size_t half = 0; half < 2; half++) {
                const PER_ISA(doubles) v = NAME(load_doubles)(x + i + j + LANES / 2 * half);
                threshold[half] = NAME(distances)(e, v, lower, upper) * slope + base;
            }
            const PER_ISA(int32s) t = PER_ISA(clamp_int32)(PER_ISA(truncate)(threshold[0], threshold[1]), least, -least);
            PER_ISA(int32s) w;
            memcpy(&w, word + i + j, sizeof w);
            bits |= PER_ISA(less)(w, t) << j;
        }
        PER_ISA(store_bits)(out + i, bits);
    }
}

/* floor(a b / 2^52) for b <= 2^52, from full products of 32-bit numbers, the widest ones of the vector instructions in use. */
LDP_INLINE uint64_t NAME(scaled)(uint64_t a, uint64_t b)
{
    const uint64_t word = 0xffffffffu, rest = (1u << 20) - 1;
    uint64_t high = (a >> 32) * (b >> 32), first = (a >> 32) * (b & word);
    uint64_t second = (a & word) * (b >> 32) + ((a & word) * (b & word) >> 32); /* below 2^53 */
    return (high << 12) + (first >> 20) + (second >> 20) + (((first & rest) + (second & rest)) >> 20);
}

/* 64-bit words. The position u in the interval is used in steps of 2^-52: the mantissa of 1 + u, or 2^52 at the upper end. */
LDP_INLINE void NAME(bits_wide)(const sign_bit *p, stream *s, const REAL *x, size_t n, uint8_t *out)
{
    const double lower = p->lower, per_range = p->per_range;
    const uint64_t low = p->low, span = p->span;
    uint64_t word[WIDE_PIECE] LDP_ALIGNED;
    stream_draw(s, word, blocks_for(n, 8));
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double u = clamp_unit(((double)x[i] - lower) * per_range, 0.5);
        out[i] = word[i] < low + NAME(scaled)(span, bits_f64(1 + u) - bits_f64(1));
    }
}

static int NAME(privatize_sign_bit)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                    void *reports)
{
    const sign_bit *p = params;
    stream s = stream_open(key, STREAM_SIGN_BIT, block);
    NAME(evidence) e = {0};
    int invalid = 0;
    for (size_t at = 0; at < n; at += WIDE_PIECE) {
        const REAL *x = (const REAL *)records + at;
        uint8_t *out = (uint8_t *)reports + at;
        const size_t now = n - at < WIDE_PIECE ? n - at : WIDE_PIECE;
        if (p->bits == 64) {
            NAME(bits_wide)(p, &s, x, now, out);
            invalid |= OF_REAL(any_outside)(x, now, p->lower, p->upper);
        } else if (now % 64 == 0) {
            NAME(bits_narrow)(p, &s, x, now, out, &e);
        } else {
            REAL padded[WIDE_PIECE];
            uint8_t bits[WIDE_PIECE];
            memcpy(padded, x, now * sizeof *x);
            for (size_t i = now; i % 64 > 0; i++)
                padded[i] = (REAL)p->upper;
            NAME(bits_narrow)(p, &s, padded, now, bits, &e);
            memcpy(out, bits, now);
        }
    }
    return invalid | NAME(outside)(&e);
}
