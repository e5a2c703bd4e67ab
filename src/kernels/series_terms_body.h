/* Bottleneck: the polynomial, 20 operations per term and lane. There is no recurrence, so every term has the same accuracy. */
static void NAME(series_terms)(const series *p, const REAL *x, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        const double u = clamp_unit(((double)x[i] - p->lower) * p->per_range, 0.5);
        for (size_t j = 0; j < p->terms; j++) /* vector loop */
            out[i * p->terms + j] = (float)(M_SQRT2 * PER_ISA(cos_turns)(u * p->harmonic[j] - p->phase[j]));
    }
}
