/* cos 2 pi t for |t| < 2^50. Subtracts the nearest whole turn; the rest is a Chebyshev fit in s^2, s in [-1, 1], with error
 * 1e-14. */
LDP_INLINE double NAME(cos_turns)(double t)
{
    const double turns = (t + 0x1.8p52) - 0x1.8p52, s = 2 * (t - turns), z = s * s;
    return 0.99999999999999382238 +
           z * (-4.9348022005434436519 +
                z * (4.05871212637596909 +
                     z * (-1.3352627683318176038 +
                          z * (0.23533062695527856301 +
                               z * (-0.025806878651649163776 +
                                    z * (0.001929545249983053622 +
                                         z * (-0.00010459698853347577444 +
                                              z * (4.2677652030383635729e-6 - z * 1.2183098971776119219e-7))))))));
}

/* Horner's rule in exp(2 pi i u), from the highest harmonic down, for at most SERIES_PIECE positions at once. */
static void NAME(series_values)(const series_interval *p, const double *coefficient, const double *x, size_t n, double *out)
{
    double c[SERIES_PIECE], s[SERIES_PIECE], re[SERIES_PIECE] = {0}, im[SERIES_PIECE] = {0};
    for (size_t i = 0; i < n; i++) { /* vector loop */
        double u = (x[i] - p->lower) * p->per_range;
        c[i] = NAME(cos_turns)(u);
        s[i] = NAME(cos_turns)(u - 0.25);
    }
    for (size_t j = (p->terms + 1) / 2 * 2; j > 0; j -= 2) {
        const double a = M_SQRT2 * coefficient[j - 2], b = j - 1 < p->terms ? M_SQRT2 * coefficient[j - 1] : 0;
        for (size_t i = 0; i < n; i++) { /* vector loop */
            double sum_re = re[i] + a, sum_im = im[i] - b;
            re[i] = sum_re * c[i] - sum_im * s[i];
            im[i] = sum_re * s[i] + sum_im * c[i];
        }
    }
    for (size_t i = 0; i < n; i++) /* vector loop */
        out[i] = 1 + re[i];
}
