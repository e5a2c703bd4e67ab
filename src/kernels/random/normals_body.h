/* Bottleneck: about 50 vector operations per pair, among them a square root; 0.25 ns per float.
 *
 * radius = sqrt(-2 log u), where u starts at a half step and has steps of 2^-24 (2^-52 for doubles). The angle is an octant,
 * given by a swap and two signs, and a position t in (0, 1) within it. The polynomials are fits with the least maximum of the
 * error.
 *
 * Floats: log u = e log 2 - log c + log(1 + z) with u = 2^e m, m in [1, 2), and c one of eight numbers whose rounded reciprocals
 * and logarithms are in tables, so that z = m / c - 1 is at most 1/17. Errors: 3.5e-8 (logarithm), 3e-9 (sine), 3e-8 (cosine).
 * Doubles: simd/logarithm.h. Errors below 3e-18. */
#include "simd/circle_body.h"

LDP_INLINE void NAME(pair_f32)(PER_ISA(int32s) radius24, PER_ISA(int32s) angle24, float *first, float *second)
{
    static const float reciprocal[16] LDP_ALIGNED = {RECIPROCALS, RECIPROCALS},
                                      logarithm[16] LDP_ALIGNED = {LOGARITHMS, LOGARITHMS};
    const PER_ISA(floats) v = __builtin_convertvector(2 * radius24 + 1, PER_ISA(floats)); /* 2^25 u */
    const PER_ISA(int32s) bits = (PER_ISA(int32s))v;
    const PER_ISA(floats) e = __builtin_convertvector((bits >> 23) - (127 + 25), PER_ISA(floats));
    const PER_ISA(floats) m = (PER_ISA(floats))((bits & 0x007fffff) | 0x3f800000);
    const PER_ISA(floats) z = m * PER_ISA(lookup)(reciprocal, bits >> 20) - 1.0f;
    PER_ISA(floats) square = z * (z * (z * (0.50173588f * z - 0.66805425f) + 0.99999800f) - 1.9999994f);
    square = PER_ISA(at_least)(square + (PER_ISA(lookup)(logarithm, bits >> 20) - 1.38629436f * e), MIN_SQUARE);
    const PER_ISA(floats) radius = PER_ISA(root)(square);

    const PER_ISA(floats) t = __builtin_convertvector(2 * (angle24 >> 3) + 1, PER_ISA(floats)) * 0x1p-22f;
    PER_ISA(floats) cosine, sine;
    NAME(eighth)(t, &cosine, &sine);
    /* One of the two, selected by bit 2; signs from bits 1 and 0. */
    const PER_ISA(int32s) swap = -(angle24 >> 2 & 1), differ = ((PER_ISA(int32s))sine ^ (PER_ISA(int32s))cosine) & swap;
    const PER_ISA(floats) a = radius * (PER_ISA(floats))((PER_ISA(int32s))cosine ^ differ ^ (angle24 << 30 & SIGN));
    const PER_ISA(floats) b = radius * (PER_ISA(floats))((PER_ISA(int32s))sine ^ differ ^ (angle24 << 31));
    memcpy(first, &a, sizeof a);
    memcpy(second, &b, sizeof b);
}

LDP_INLINE void NAME(pair_f64)(uint64_t radius_word, uint64_t angle_word, double *first, double *second)
{
    const uint64_t one = 0x3ff0000000000000u;
    double u = double_of(radius_word >> 12 | one) - 0x1.fffffffffffffp-1; /* (k + 1/2) 2^-52, exact */
    u = u < 0x1.fffffffffffffp-1 ? u : 0x1.fffffffffffffp-1;
    double radius = __builtin_sqrt(-2 * logarithm(u));

    double t = double_of(angle_word >> 12 | one) - 0x1.fffffffffffffp-1;
    const double z = t * t;
    double sine =
        t *
        (0.78539816339744830714 +
         z * (-0.080745512188280539466 +
              z * (0.0024903945701888438479 +
                   z * (-0.000036576204158913874935 +
                        z * (3.1336162254334162211e-7 + z * (-1.7571500746983934092e-9 + z * 6.8773605731663256272e-12))))));
    double cosine =
        1.0 +
        z * (-0.30842513753404245296 +
             z * (0.015854344243815419319 +
                  z * (-0.00032599188692673764224 +
                       z * (3.5908604460279520345e-6 + z * (-2.4611364033652596137e-8 +
                                                            z * (1.1500512028217341338e-10 - z * 3.858189007341667731e-13))))));
    double x = angle_word & 4 ? sine : cosine, y = angle_word & 4 ? cosine : sine;
    *first = double_of(bits_f64(radius * x) ^ (angle_word << 62 & 0x8000000000000000u));
    *second = double_of(bits_f64(radius * y) ^ angle_word << 63);
}

/* Three words give four numbers, from two radii and two angles of 24 bits. */
static void NAME(normals_f32)(const int32_t *word, float *out, size_t quarter)
{
    for (size_t i = 0; i < quarter; i += V_BYTES / 4) {
        PER_ISA(int32s) a, b, c;
        memcpy(&a, word + i, sizeof a);
        memcpy(&b, word + quarter + i, sizeof b);
        memcpy(&c, word + 2 * quarter + i, sizeof c);
        NAME(pair_f32)(a >> 8 & 0xffffff, (a & 255) << 16 | (c & 0xffff), out + i, out + quarter + i);
        NAME(pair_f32)(b >> 8 & 0xffffff, (b & 255) << 16 | (c >> 16 & 0xffff), out + 2 * quarter + i, out + 3 * quarter + i);
    }
}

static void NAME(normals_f64)(const uint64_t *word, double *out, size_t half)
{
    for (size_t i = 0; i < half; i++) /* vector loop */
        NAME(pair_f64)(word[i], word[half + i], out + i, out + half + i);
}
