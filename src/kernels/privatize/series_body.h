/* Positions are 32-bit fractions of the interval, whose multiples are exact: the harmonics are whole numbers, and whole turns drop
 * out. sqrt 2 cos(pi s), s in [-1, 1], is a polynomial in s^2 with an error of 6.3e-7, almost all of it from rounding to float.
 * There is no recurrence, so all terms have the same accuracy. Bottleneck: the polynomial, 20 operations per term and lane. */
static void NAME(series_terms)(const series *p, const REAL *x, size_t n, float *out)
{
    uint32_t position[SERIES_PIECE];
    const double lower = p->lower, per_range = p->per_range;
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const double u = clamp_unit(((double)x[i] - lower) * per_range, 0.5) * (1 - 0x1p-32);
        position[i] = (uint32_t)(int32_t)(u * 0x1p32 - 0x1p31) ^ 0x80000000u;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t turn = position[i];
        float *restrict row = out + i * p->terms;
        for (size_t j = 0; j < p->terms; j++) { /* vector loop */
            const float s = (float)(int32_t)(turn * p->harmonic[j] - p->phase[j]) * 0x1p-31f, z = s * s;
            row[j] = 1.4142135381698608f +
                     z * (-6.978862762451172f +
                          z * (5.739861488342285f +
                               z * (-1.8881996870040894f +
                                    z * (0.3323834538459778f + z * (-0.035864003002643585f + z * 0.0022544588427990675f)))));
        }
    }
}
