/* One person per lane. One random number rounds all terms of a person: neither the privacy nor the mean of a report depends on
 * the joint distribution of the vertex (docs/proofs/series.md). Positions are 32-bit fractions of the interval, whose multiples
 * are exact. cos and sin of the first harmonic of every word of terms are computed from the position, and the others by
 * rotation. Bottleneck: six vector operations per term, and the sign at the end. */
#include "simd/circle_body.h"
#include "simd/doubles_body.h"

typedef uint32_t NAME(uint32s) __attribute__((vector_size(V_BYTES)));

typedef struct {
    PER_ISA(floats) cosine, sine;
} NAME(point);

/* The point at an angle, in turns of 2^32. */
LDP_INLINE NAME(point) NAME(point_at)(NAME(uint32s) turn)
{
    const NAME(uint32s) quarter = (turn + 0x20000000u) >> 30, sign = quarter << 30;
    const PER_ISA(floats) t = __builtin_convertvector((PER_ISA(int32s))(turn - sign), PER_ISA(floats)) * 0x1p-29f;
    PER_ISA(floats) cosine, sine;
    NAME(eighth)(t, &cosine, &sine);
    const NAME(uint32s) differ = ((NAME(uint32s))cosine ^ (NAME(uint32s))sine) & -(quarter & 1);
    const uint32_t minus = 0x80000000u;
    return (NAME(point)){(PER_ISA(floats))((NAME(uint32s))cosine ^ differ ^ (((quarter + 1) << 30) & minus)),
                         (PER_ISA(floats))((NAME(uint32s))sine ^ differ ^ (sign & minus))};
}

LDP_INLINE NAME(point) NAME(rotate)(NAME(point) a, NAME(point) b)
{
    return (NAME(point)){a.cosine * b.cosine - a.sine * b.sine, a.cosine * b.sine + a.sine * b.cosine};
}

LDP_INLINE NAME(uint32s) NAME(count_ones)(NAME(uint32s) v)
{
    v -= v >> 1 & 0x55555555u;
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0fu;
    v += v >> 8;
    return (v + (v >> 16)) & 63;
}

/* The first harmonics of a word of terms, and the rotation by CHAINS harmonics. */
typedef struct {
    NAME(point) at[CHAINS], step;
} NAME(harmonics);

LDP_INLINE NAME(harmonics) NAME(harmonics_from)(NAME(uint32s) turn, uint32_t first)
{
    NAME(harmonics) h = {.at = {NAME(point_at)(turn * first)}};
    const NAME(point) one = first == 1 ? h.at[0] : NAME(point_at)(turn), two = NAME(rotate)(one, one);
    h.at[1] = NAME(rotate)(h.at[0], one);
    h.at[2] = NAME(rotate)(h.at[0], two);
    h.at[3] = NAME(rotate)(h.at[1], two);
    h.step = NAME(rotate)(two, two);
    return h;
}

/* The vertex bits of at least n <= WORD_TERMS terms, from harmonic `first` on: whether `rounding`, uniform in [-1, 1], is
 * less. */
LDP_INLINE NAME(uint32s) NAME(vertex)(NAME(uint32s) turn, uint32_t first, PER_ISA(floats) rounding, size_t n)
{
    NAME(harmonics) h = NAME(harmonics_from)(turn, first);
    PER_ISA(int32s) plus = {0};
    NAME(uint32s) bit = {0};
    bit += 1u;
    for (size_t j = 0; j < n; j += 2 * CHAINS)
        for (size_t c = 0; c < CHAINS; c++, bit += bit) {
            plus = PER_ISA(mark_less)(plus, rounding, h.at[c].cosine, (PER_ISA(int32s))bit);
            bit += bit;
            plus = PER_ISA(mark_less)(plus, rounding, h.at[c].sine, (PER_ISA(int32s))bit);
            h.at[c] = NAME(rotate)(h.at[c], h.step);
        }
    return (NAME(uint32s))plus;
}

/* Positions of the people in turns of 2^32. */
LDP_INLINE NAME(uint32s) NAME(turns)(const series *p, const REAL *x, NAME(evidence) * e)
{
    PER_ISA(int64s) part[2];
    for (size_t half = 0; half < 2; half++) {
        const PER_ISA(doubles) up = NAME(distances)(e, NAME(load_doubles)(x + V_BYTES / 8 * half), p->lower, p->upper);
        part[half] = NAME(integers)(PER_ISA(between)(up * p->per_range, 0, 0xffffffffu));
    }
    return (NAME(uint32s))PER_ISA(low_halves)(part[0], part[1]);
}

static int NAME(privatize_series_terms)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                        void *reports)
{
    enum { LANES = V_BYTES / 4, PARTS = SERIES_PEOPLE / LANES };
    const series *p = params;
    const size_t bytes = (p->terms + 7) / 8;
    byte_reader s;
    bytes_open(&s, key, STREAM_SERIES, block, series_bytes(p, n));
    NAME(evidence) e = {0};
    for (size_t i = 0; i < n; i += SERIES_PEOPLE) {
        const size_t now = n - i < SERIES_PEOPLE ? n - i : SERIES_PEOPLE;
        const REAL *x = (const REAL *)records + i;
        uint8_t *out = (uint8_t *)reports + i * bytes;
        REAL padded[SERIES_PEOPLE];
        NAME(uint32s) turn[PARTS], agree[PARTS] = {0};
        PER_ISA(floats) rounding[PARTS];
        person_words person;
        uint32_t direction[SERIES_PEOPLE];
        if (now < SERIES_PEOPLE) {
            for (size_t l = 0; l < SERIES_PEOPLE; l++)
                padded[l] = x[l < now ? l : 0];
            x = padded;
        }
        memcpy(&person, bytes_take(&s, sizeof person), sizeof person);
        for (size_t part = 0; part < PARTS; part++) {
            PER_ISA(int32s) word;
            memcpy(&word, person.rounding + LANES * part, sizeof word);
            rounding[part] = __builtin_convertvector(word, PER_ISA(floats)) * 0x1p-31f;
            turn[part] = NAME(turns)(p, x + LANES * part, &e);
        }
        for (size_t j = 0; j < p->terms; j += WORD_TERMS) {
            const size_t terms = p->terms - j < WORD_TERMS ? p->terms - j : WORD_TERMS;
            const uint32_t inside = (uint32_t)word_mask(terms);
            memcpy(direction, bytes_take(&s, DIRECTION_BYTES), DIRECTION_BYTES);
            for (size_t part = 0; part < PARTS; part++) {
                NAME(uint32s) u;
                memcpy(&u, direction + LANES * part, sizeof u);
                const NAME(uint32s) v = NAME(vertex)(turn[part], (uint32_t)j / 2 + 1, rounding[part], terms);
                agree[part] += NAME(count_ones)(~(u ^ v) & inside);
            }
            for (size_t l = 0; l < now && j + WORD_TERMS < p->terms; l++) /* all words but the last, before the sign is known */
                memcpy(out + l * bytes + j / 8, direction + l, 4);
        }
        uint32_t agreed[SERIES_PEOPLE], flip[SERIES_PEOPLE];
        memcpy(agreed, agree, sizeof agreed);
        for (size_t l = 0; l < SERIES_PEOPLE; l++) /* vector loop */
            flip[l] = -(uint32_t)(2 * agreed[l] < p->terms) ^ -(uint32_t)(person.coin[l] >= p->heads);
        finish_rows(p, flip, direction, now, out);
    }
    return NAME(outside)(&e);
}
