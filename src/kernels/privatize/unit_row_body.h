/* Converts n numbers to single precision, in units of the radius. Returns the sum of their squares. */
LDP_INLINE double NAME(load_row)(double per_radius, const REAL *x, size_t n, float *y)
{
    double square[8] = {0};
    size_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (size_t l = 0; l < 8; l++) {
            const double v = (double)x[j + l] * per_radius;
            y[j + l] = (float)v;
            square[l] += v * v;
        }
    for (; j < n; j++) {
        const double v = (double)x[j] * per_radius;
        y[j] = (float)v;
        square[0] += v * v;
    }
    return ((square[0] + square[4]) + (square[2] + square[6])) + ((square[1] + square[5]) + (square[3] + square[7]));
}
