/* Bottleneck: about 50 vector operations per pair, including a division and a square root; 0.25 ns per float.
 *
 * radius = sqrt(-2 log u), where u starts at a half step and has steps of 2^-24 (2^-52 for doubles).
 * log u = e log 2 + 2 atanh((m - 1)/(m + 1)) with u = 2^e m, m in [sqrt 1/2, sqrt 2). The angle is an octant, given by a swap
 * and two signs, and a position t in (0, 1) within it. The polynomials are Chebyshev fits of atanh(sqrt z)/sqrt z,
 * sin(pi/4 sqrt z)/sqrt z and cos(pi/4 sqrt z), with errors below 3e-9 (3e-18 for doubles). */
LDP_INLINE void NAME(pair_f32)(uint32_t radius24, uint32_t angle24, float *first, float *second)
{
    float u = (float)(int32_t)(2 * radius24 + 1) * 0x1p-25f;
    u = u < 0x1.fffffep-1f ? u : 0x1.fffffep-1f; /* below 1: no direction is zero */
    int32_t e = ((int32_t)bits_f32(u) - 0x3f3504f3) >> 23;
    float m = float_of(bits_f32(u) - ((uint32_t)e << 23)), s = (m - 1) / (m + 1), z = s * s;
    float atanh = s * (0.99999999931565908623f +
                       z * (0.33333407669075593774f + z * (0.19987425258759523914f + z * 0.14962195239572493396f)));
    float radius = __builtin_sqrtf((float)e * -1.38629436112f - 4 * atanh);

    float t = ((float)(int32_t)(angle24 >> 3) + 0.5f) * 0x1p-21f;
    z = t * t;
    float sine = t * (0.78539816097661834268f +
                      z * (-0.080745434708101474437f + z * (0.0024900068014923566679f - z * 0.000035954290725110749462f)));
    float cosine = 0.99999999995248941669f +
                   z * (-0.30842513515829055489f +
                        z * (0.015854325228444592195f + z * (-0.00032593858594162620359f + z * 3.5297971342978534828e-6f)));
    float sign_first = 1 - (float)(int32_t)(angle24 & 2), sign_second = 1 - 2 * (float)(int32_t)(angle24 & 1);
    float x = angle24 & 4 ? sine : cosine, y = angle24 & 4 ? cosine : sine;
    *first = radius * x * sign_first;
    *second = radius * y * sign_second;
}

LDP_INLINE void NAME(pair_f64)(uint64_t radius_word, uint64_t angle_word, double *first, double *second)
{
    const uint64_t one = 0x3ff0000000000000u;
    double u = double_of(radius_word >> 12 | one) - 0x1.fffffffffffffp-1; /* (k + 1/2) 2^-52, exact */
    u = u < 0x1.fffffffffffffp-1 ? u : 0x1.fffffffffffffp-1;
    /* The exponent as a small integer. It is converted to a double by its position after the exponent of 2^52. */
    uint64_t e = (bits_f64(u) - 0x3fe6a09e667f3bcdu + 0x4000000000000000u) >> 52;
    double exponent = double_of(e | 0x4330000000000000u) - (0x1p52 + 1024);
    double m = double_of(bits_f64(u) - (e << 52) + 0x4000000000000000u), s = (m - 1) / (m + 1), z = s * s;
    double atanh = s * (1.0 + z * (0.33333333333333329194 +
                                   z * (0.20000000000003746966 +
                                        z * (0.14285714284409563472 +
                                             z * (0.11111111338464770133 +
                                                  z * (0.090908868690081529074 +
                                                       z * (0.076935804630670399495 +
                                                            z * (0.066243815417300579441 + z * 0.066310518370109045488))))))));
    double radius = __builtin_sqrt(exponent * -1.3862943611198906 - 4 * atanh);

    double t = double_of(angle_word >> 12 | one) - 0x1.fffffffffffffp-1;
    z = t * t;
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
static void NAME(normals_f32)(const uint32_t *word, float *out)
{
    enum { QUARTER = NORMALS_F32 / 4 };
    for (size_t i = 0; i < QUARTER; i++) { /* vector loop */
        uint32_t a = word[i], b = word[QUARTER + i], c = word[2 * QUARTER + i];
        NAME(pair_f32)(a >> 8, (a & 255) << 16 | (c & 65535), out + i, out + QUARTER + i);
        NAME(pair_f32)(b >> 8, (b & 255) << 16 | c >> 16, out + 2 * QUARTER + i, out + 3 * QUARTER + i);
    }
}

static void NAME(normals_f64)(const uint64_t *word, double *out)
{
    enum { HALF = NORMALS_F64 / 2 };
    for (size_t i = 0; i < HALF; i++) /* vector loop */
        NAME(pair_f64)(word[i], word[HALF + i], out + i, out + HALF + i);
}
