static void NAME(clip_rows)(const void *params, const void *records, size_t n, void *clipped)
{
    const row_range *p = params;
    const REAL far = (REAL)(FAR_RADII * p->radius);
    for (size_t i = 0; i < n; i++) {
        const REAL *x = (const REAL *)records + i * p->dim;
        REAL *out = (REAL *)clipped + i * p->dim;
        REAL_BITS nan = 0;
        for (size_t j = 0; j < p->dim; j++) { /* vector loop */
            out[j] = OF_REAL(limit)(x[j], far);
            nan |= OF_REAL(nan_mask)(x[j]);
        }
        for (size_t j = 0; j < p->dim; j++) /* vector loop */
            out[j] = OF_REAL(masked)(out[j], ~nan);
    }
}
